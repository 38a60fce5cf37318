"""What is typed after `jupyter mlgpu bench`, a whole session of fakes, and the machine around it."""

import sys
from dataclasses import replace

import pytest

import jupyter_mlgpu
from jupyter_mlgpu.experiment.bench import bench_sentences, options, session, suite
from jupyter_mlgpu.experiment.bench.case import CaseRequest
from jupyter_mlgpu.experiment.bench.machine import LocalMonitor, others_of_processor
from jupyter_mlgpu.experiment.bench.quantity import Quantity
from jupyter_mlgpu.experiment.bench.session import Order
from jupyter_mlgpu.jupyter import cli
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.base import Device, UsableMemory
from jupyter_mlgpu.measure.frameworks.precision import emulated_by_gpu, emulated_by_processor
from jupyter_mlgpu.measure.probes import memory
from jupyter_mlgpu.measure.probes.gpus import find
from jupyter_mlgpu.measure.probes.nvml import Nvml
from jupyter_mlgpu.record.device_request import DeviceWord
from jupyter_mlgpu.record.errors import BenchError, UsageError
from jupyter_mlgpu.show.bench import page
from jupyter_mlgpu.testing import FakeBackend, FakeClock, FakeGpu, FakeNvml
from jupyter_mlgpu.testing.bench import FakeMonitor, FakeRunner, fake_case
from tests.support.probes import Unavailable

GPU = Device("torch", "gpu:0", "cuda", "cuda:0")
CPU = Device("torch", "cpu:0", "cpu", "cpu")


def said(capsys) -> str:
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1, lines
    return lines[0]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["gem"], "Unknown case 'gem'. Did you mean gemm? Choose gemm, bandwidth"),
        (["GEMM2"], "Did you mean gemm?"),
        (["--framework", "theano"], "Unknown framework 'theano'. Choose tensorflow, torch, jax, mlx."),
        (["--device", "tpu"], "Unknown device 'tpu'. Choose auto, cpu, gpu"),
        (["--against", "m2-max"], "No file or published results are named 'm2-max'. Did you mean m1-max?"),
        (
            ["--against", "none.json"],
            "none.json cannot be read as a file of `bench --out` (No such file or directory)",
        ),
        (["--against", "a", "b", "c"], "--against takes one name or file, or two files; found 3"),
        (
            ["--out", "bench.txt"],
            "--out takes the name of a JSON file, as in bench.json, not 'bench.txt'.",
        ),
        (
            ["--pyperf", "bench.txt"],
            "--pyperf takes the name of a JSON file, as in bench.json, not 'bench.txt'.",
        ),
    ],
)
def test_what_is_typed_wrongly_is_one_sentence_and_imports_no_framework(capsys, words, sentence):
    assert cli.main(["bench", *words]) == 2
    assert sentence in said(capsys)


def test_the_words_of_the_magic_are_those_of_the_command():
    found = options.parse("gemm conv --framework torch,jax --device gpu --quick --out o.json --against h200")
    assert found.order == Order(("gemm", "conv"), ("torch", "jax"), DeviceWord("gpu"), True)
    assert (str(found.out), found.against) == ("o.json", ("h200",))
    with pytest.raises(UsageError, match=r"Unknown word '--fast' after %mlc_bench\. .*mlc_bench\?` explains"):
        options.parse("--fast")


def test_without_a_framework_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(session, "installed", lambda module: False)
    with pytest.raises(BenchError, match=r"No framework is installed here .*pip install"):
        session.frameworks(())
    with pytest.raises(BenchError, match="JAX is not installed here, so it cannot be measured"):
        session.frameworks(("jax",))


def test_the_frameworks_are_those_named_else_those_in_use_else_one_that_is_there(monkeypatch):
    monkeypatch.setattr(session, "installed", lambda module: module != "torch")
    assert session.frameworks(("mlx", "jax", "mlx")) == ("mlx", "jax")
    assert session.frameworks((), ["jax"]) == ("jax",)
    assert session.frameworks(()) == ("tensorflow",)


@pytest.fixture
def bench(monkeypatch):
    """A session with a fake framework of one CPU, whose families have three cases of a second each.

    `each` changes the three cases of a family. If `same`, all families have the same cases.
    """

    def run(
        order=None,
        seconds=(1.0,),
        devices=("cpu:0",),
        started_ns=None,
        on_progress=lambda now: None,
        each=({}, {}, {}),
        families=("gemm",),
        same=False,
    ):
        clock = FakeClock()
        backend = FakeBackend("torch", devices=devices)
        monkeypatch.setattr(session, "import_backend", lambda name: backend)
        monkeypatch.setattr(session, "frameworks", lambda asked, loaded=(): ("torch",))

        def cases(family):
            made = (fake_case(FakeRunner(clock, seconds), n=2**power) for power in range(8, 11))
            name = "gemm" if same else family
            return [replace(one, name=name, **more) for one, more in zip(made, each, strict=True)]

        known = {family: cases(family) for family in families}
        monkeypatch.setattr(suite, "cases", lambda name, asked: known.get(name, []))
        order = order or Order(("gemm",))
        return session.run(
            order,
            monitor=FakeMonitor(clock),
            clock=clock,
            on_progress=on_progress,
            started_ns=started_ns,
        )

    return run


def test_a_session_measures_every_case_and_names_the_machine(bench):
    finished = bench()
    assert finished.error is None
    run = finished.run
    assert [one.status for one in run.results] == ["ok"] * 3
    assert run.results[2].gemm_share.value == pytest.approx(1)
    assert run.machine["devices"] == {
        "torch cpu:0": {"kind": "cpu", "hardware": "fake cpu", "memory": None, "driver": None}
    }
    assert run.versions["torch"] == "1.0"
    # That there is no GPU is said, with the framework's own reason.
    assert run.notes == ("The fake has the devices it was given.",)


def test_an_interrupt_keeps_the_cases_before_it(bench):
    finished = bench(seconds=(*[1.0] * 9, KeyboardInterrupt()))
    assert isinstance(finished.error, KeyboardInterrupt)
    assert finished.run.outcome == "interrupted"
    assert [one.status for one in finished.run.results] == ["interrupted"]
    assert finished.run.results[0].samples != ()
    assert "Interrupted: 2 of 3 cases were not started." in finished.run.notes
    assert "It was interrupted and is not complete." in page.head(finished.run)


def test_quick_begins_no_case_after_its_time_is_over(bench):
    finished = bench(Order(("gemm",), quick=True), seconds=(40.0, 1.0))
    assert [one.status for one in finished.run.results] == ["ok", "skipped", "skipped"]
    assert finished.run.results[2].why == session.OVER


def test_what_compiles_for_a_minute_begins_early_or_not_at_all_in_a_quick_run(bench):
    slow = {"slow_to_start": True}
    finished = bench(Order(("gemm",), quick=True), seconds=(34.0, 1.0), each=({}, slow, {}))
    assert [one.status for one in finished.run.results] == ["ok", "skipped", "ok"]
    whole = bench(seconds=(34.0, 1.0), each=({}, slow, {}))
    assert [one.status for one in whole.run.results] == ["ok"] * 3


def test_a_quick_run_has_a_minute_for_each_model(bench):
    order = Order(("resnet50", "mobilenetv2"), quick=True)
    finished = bench(order, seconds=(40.0, 1.0), families=("resnet50", "mobilenetv2"))
    # The first model ends after 49 s, so the second has until 105 s.
    assert [one.status for one in finished.run.results] == ["ok", "skipped", "skipped", "ok", "ok", "skipped"]


def test_a_case_of_two_families_is_measured_once(bench):
    finished = bench(Order(("gemm", "resnet50")), families=("gemm", "resnet50"), same=True)
    assert [one.case for one in finished.run.results] == ["gemm"] * 3


def test_time_spent_before_counts_for_quick(bench):
    begun = -int(session.QUICK_S * 1e9)
    assert bench(Order(("gemm",), quick=True), started_ns=begun).run.results[0].status == "skipped"


def test_how_long_it_will_still_take_is_told_from_the_second_case_on(bench):
    told = []
    bench(on_progress=told.append)
    assert {now.left_s for now in told if now.number == 1} == {None}
    first = next(now for now in told if now.number == 2)
    assert first.left_s == pytest.approx(2 * next(n.left_s for n in told if n.number == 3), rel=0.01)
    assert bench_sentences.progress(told[2]) == "Benchmark 1 of 3: gemm n=256 float32, measuring 1 of 10"
    assert "left: gemm n=512 float32" in bench_sentences.progress(first)


def test_a_gpu_that_is_not_there_is_one_sentence_with_the_reason(bench):
    with pytest.raises(BenchError, match=r"no device gpu:0 .* found cpu:0\. .* The fake has the devices"):
        bench(Order(("gemm",), device=DeviceWord("gpu")))


def test_the_command_shows_what_was_measured_and_keeps_it(bench, capsys, tmp_path, monkeypatch):
    finished = bench()
    monkeypatch.setattr(session, "run", lambda order, **rest: finished)
    path = tmp_path / "mine.json"
    assert cli.main(["bench", "gemm", "--out", str(path), "--against", "h200"]) == 0
    shown = capsys.readouterr().out
    assert "gemm n=1024 float32" in shown
    assert "compared with published figures for NVIDIA H200" in shown
    assert cli.main(["bench", "--against", str(path), str(path)]) == 0
    assert "times as fast" in capsys.readouterr().out


def test_the_command_keeps_the_repeats_for_pyperf_and_says_what_is_left_out(
    bench, capsys, tmp_path, monkeypatch
):
    finished = bench(seconds=(*[1.0] * 9, KeyboardInterrupt()))
    monkeypatch.setattr(session, "run", lambda order, **rest: finished)
    path = tmp_path / "part.json"
    assert cli.main(["bench", "gemm", "--pyperf", str(path)]) == 130
    assert "part.json has seconds per step of 1 case for pyperf. Left out" in capsys.readouterr().out
    assert path.exists()


def test_without_any_repeat_nothing_is_written_for_pyperf(bench, capsys, tmp_path, monkeypatch):
    finished = bench(seconds=(1.0, RuntimeError("boom")))
    monkeypatch.setattr(session, "run", lambda order, **rest: finished)
    path = tmp_path / "none.json"
    assert cli.main(["bench", "gemm", "--pyperf", str(path)]) == 1
    assert "No case has samples, so nothing was written for pyperf." in capsys.readouterr().out
    assert not path.exists()


def test_after_ctrl_c_the_command_keeps_what_there_is(bench, capsys, tmp_path, monkeypatch):
    finished = bench(seconds=(*[1.0] * 9, KeyboardInterrupt()))
    monkeypatch.setattr(session, "run", lambda order, **rest: finished)
    path = tmp_path / "part.json"
    assert cli.main(["bench", "gemm", "--out", str(path)]) == 130
    assert "interrupted" in capsys.readouterr().out
    assert '"outcome": "interrupted"' in path.read_text()


def test_a_case_that_failed_is_told_by_the_exit_status(bench, capsys, monkeypatch):
    finished = bench(seconds=(1.0, RuntimeError("boom")))
    monkeypatch.setattr(session, "run", lambda order, **rest: finished)
    assert cli.main(["bench", "gemm"]) == 1
    assert "Failed. RuntimeError: boom" in capsys.readouterr().out


def test_the_package_can_be_called_and_stays_a_package(bench, monkeypatch):
    finished = bench()
    monkeypatch.setattr(session, "run", lambda order, **rest: finished)
    assert jupyter_mlgpu.bench("gemm", framework="torch") is finished.run
    assert sys.modules["jupyter_mlgpu.bench"] is jupyter_mlgpu.bench


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("device", [CPU, GPU])
@pytest.mark.parametrize("name", suite.SMALL)
def test_every_family_has_cases_with_their_work_and_need(name, device, quick):
    cases = suite.cases(name, CaseRequest("torch", device, quick, Quantity(1e9, "bytes")))
    assert cases
    assert len({one.label for one in cases}) == len(cases)
    for one in cases:
        assert one.needs.bytes > 0
        assert one.work.items > 0
        assert (one.work.flops is None) != (one.work.why_no_flops is None)
        assert one.work.formula


def test_the_formulas_count_what_they_say():
    asked = CaseRequest("torch", GPU, True, Quantity(1e12, "bytes"))
    product = next(one for one in suite.cases("gemm", asked) if one.parameters["n"] == 8192)
    assert product.work.flops == 2 * 8192**3
    adding = {one.parameters["operation"]: one.work for one in suite.cases("bandwidth", asked)}
    size = 256 * 1024**2
    assert {name: work.items / size for name, work in adding.items()} == {"add": 3, "mult": 3, "mult-add": 4}
    normal, separable = (one.work.flops for one in suite.cases("conv", asked))
    points = 64 * 56 * 56
    assert normal == 2 * points * 256 * 256 * 9
    assert separable == 2 * points * (256 * 9 + 256 * 256)


def test_a_type_without_instructions_is_called_emulated():
    assert emulated_by_processor("float32", {"avx2"}) is None
    assert "emulated" in emulated_by_processor("bfloat16", {"avx2", "avx512f"})
    assert emulated_by_processor("bfloat16", {"avx512_bf16"}) is None
    assert emulated_by_processor("float16", None) is None
    assert emulated_by_gpu("bfloat16", (9, 0)) is None
    assert "7.5" in emulated_by_gpu("bfloat16", (7, 5))


def test_what_others_take_of_the_processor_is_what_is_neither_idle_nor_ours():
    before = {"user": 0.0, "system": 0.0, "idle": 0.0, "steal": 0.0}
    after = {"user": 1.5, "system": 0.0, "idle": 0.3, "steal": 0.2}
    assert others_of_processor(before, after, 1.0) == (
        "other programs with 25% of the cores' time",
        "other virtual machines with 10% of the cores' time",
    )
    assert others_of_processor(before, {**after, "steal": 0.0}, 1.5) == ()
    assert others_of_processor(before, before, 0.0) == ()


def machine(*gpus: FakeGpu) -> LocalMonitor:
    found = find(Nvml(FakeNvml(*gpus)))
    return LocalMonitor(lambda: found, Unavailable("energy", "No counter here."), Unavailable("x", "None."))


def test_free_memory_of_a_gpu_is_what_other_programs_leave(monkeypatch):
    monkeypatch.setattr(memory, "sees_the_machines_processes", lambda: True)
    monitor = machine(FakeGpu(total=100, compute={4_000_000: 30}))
    assert monitor.free_memory(GPU) == Quantity(70, "bytes")
    (named,) = monitor.others(GPU)()
    assert named == "not seen from here (process 4000000, 30 B)"


def test_a_macs_gpu_may_use_what_macos_recommends_if_that_is_free(monkeypatch):
    metal = Device("torch", "gpu:0", "metal", "mps")
    monkeypatch.setattr(memory, "unified", lambda: True)
    monkeypatch.setattr(memory, "machine", lambda: memory.Memory(100, 20, 80))
    monkeypatch.setattr(memory, "container", lambda total, root: None)
    monkeypatch.setattr(registry, "usable_memory", lambda: UsableMemory(66, "fake"))
    assert machine().free_memory(metal) == Quantity(66, "bytes")
    assert machine().free_memory(CPU) == Quantity(80, "bytes")
    monkeypatch.setattr(memory, "machine", lambda: memory.Memory(100, 90, 10))
    assert machine().free_memory(metal) == Quantity(10, "bytes")


def test_without_a_driver_the_reason_is_told():
    monitor = machine()
    assert monitor.free_memory(GPU).why_missing
    assert monitor.others(GPU)() == ()
    assert monitor.energy(GPU)().why_missing == "No counter here."
