"""A burn: what its sentence says of throughput that lasts or falls, and what is kept of one that is ended."""

import copy
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace

import pytest

from jupyter_mlgpu.experiment.bench import bench_sentences, options, sensors, session, suite
from jupyter_mlgpu.experiment.bench.budget import of_a_burn
from jupyter_mlgpu.experiment.bench.case import CaseRequest
from jupyter_mlgpu.experiment.bench.machine import LocalMonitor
from jupyter_mlgpu.experiment.bench.quantity import Quantity
from jupyter_mlgpu.experiment.bench.run import load
from jupyter_mlgpu.experiment.bench.session import Order
from jupyter_mlgpu.jupyter import cli
from jupyter_mlgpu.jupyter.cli.folded_output import folded_output
from jupyter_mlgpu.measure.frameworks.base import Device
from jupyter_mlgpu.measure.probes.gpus import find
from jupyter_mlgpu.measure.probes.nvml import Nvml
from jupyter_mlgpu.record.errors import BenchError, UsageError
from jupyter_mlgpu.show.bench import page
from jupyter_mlgpu.show.bench.headline import headline
from jupyter_mlgpu.testing import FakeBackend, FakeClock, FakeGpu, FakeNvml
from jupyter_mlgpu.testing.bench import FakeMonitor, FakeRunner, fake_case
from tests.experiment.test_bench_files import ODD, places
from tests.support.probes import Unavailable
from tests.support.waiting import until

GPU = Device("torch", "gpu:0", "cuda", "cuda:0")
#: Seconds a step: those before the first sample, with which the length of a sample is found, and the rest.
COOL = [1.0, 1.0]


class Monitor(FakeMonitor):
    """A device that is hot and has lowered its clock `after` so many seconds."""

    def __init__(self, clock, after, **figures):
        super().__init__(clock, **figures)
        self.after = after

    def sensors(self, device):
        read = super().sensors(device)
        begun = self._clock.monotonic_ns()

        def now():
            is_hot = (self._clock.monotonic_ns() - begun) / 1e9 >= self.after
            if is_hot and self.celsius is not None:
                self.celsius, self.megahertz = 83.0, 1620.0
            return read()

        return now


@pytest.fixture
def burn(monkeypatch):
    """A session of one burn of a minute, whose steps take as long as you say."""

    def run(seconds, *, device="gpu:0", out=None, on_progress=lambda now: None, **figures):
        clock = FakeClock()
        backend = FakeBackend("torch", devices=(device,))
        monkeypatch.setattr(session, "import_backend", lambda name: backend)
        monkeypatch.setattr(session, "frameworks", lambda asked, loaded=(): ("torch",))
        case = fake_case(FakeRunner(clock, seconds), name="burn")
        case = replace(case, work=replace(case.work, moved=None), burn_s=60.0, chart=None)
        monkeypatch.setattr(suite, "cases", lambda name, asked: [case])
        return session.run(
            Order(("burn",)),
            monitor=Monitor(clock, 30.0, **figures),
            clock=clock,
            on_progress=on_progress,
            out=out,
        )

    return run


#: Half a minute at full speed, and then 18 % slower.
FALLING = [*COOL, 1.0, *[1.0] * 30, *[1 / 0.82] * 100]


def test_throughput_that_lasts_is_called_sustained(burn):
    run = burn([1.0], watts=300.0, celsius=61.0, megahertz=1980.0).run
    assert (
        headline(run) == "Throughput was sustained for 1 min 00 s at 2.15 GFLOP/s, while gpu:0 reached 83 °C."
    )


def test_a_fall_is_told_with_its_size_its_time_and_what_the_sensors_showed(burn):
    run = burn(FALLING, watts=300.0, celsius=61.0, megahertz=1980.0).run
    assert headline(run) == (
        "Throughput fell by 18 % after 30 s (2.15 GFLOP/s to 1.76 GFLOP/s), while gpu:0 reached 83 °C and "
        "its clock went from 1,980 to 1,620 MHz."
    )


def test_a_fall_without_sensors_is_told_without_them_and_with_the_reason(burn):
    run = burn(FALLING).run
    assert headline(run) == "Throughput fell by 18 % after 30 s (2.15 GFLOP/s to 1.76 GFLOP/s)."
    (result,) = run.results
    assert set(result.burn.celsius) == set(result.burn.watts) == {None}
    assert "power, temperature, clock: The fake has no such sensor." in page.notes(run)


@pytest.mark.parametrize(
    "seconds", [[*COOL, 1.0, *[1.0] * 4, *[1.3] * 100], [*COOL, 1.0, *[1.0] * 40, *[1.3] * 100]]
)
def test_a_fall_is_found_early_and_late(burn, seconds):
    assert headline(burn(seconds).run).startswith("Throughput fell by 23 %")


def test_a_drift_by_less_than_matters_is_no_fall(burn):
    assert "sustained" in headline(burn([*COOL, *[1.0] * 30, *[1.01] * 100]).run)


def test_figures_that_only_vary_are_no_fall(burn):
    assert "did not fall for good within 1 min 00 s, but varied from" in headline(
        burn([1.0, 1.5, 1.2] * 100).run
    )


def test_too_few_samples_are_not_judged(burn):
    said = headline(burn([9.0]).run)
    assert said == "The burn is too short to say if throughput lasts: 7 samples in 1 min 03 s at 239 MFLOP/s."


def test_a_burn_begins_without_warming_up_and_ends_after_its_time(burn):
    (result,) = burn([1.0]).run.results
    assert (result.status, result.warmups, result.flags) == ("ok", 0, ())
    assert result.burn.ended == pytest.approx(range(1, 61))


def test_the_sensors_of_a_gpu_are_read_while_it_works_and_those_of_a_processor_in_between(burn):
    # The fake's time passes in `wait`: after 30 samples of a second, a GPU reads at 30 s, in the 31st.
    figures = {"celsius": 61.0, "megahertz": 1980.0}
    assert burn([1.0], **figures).run.results[0].burn.celsius.index(83.0) == 30
    assert burn([1.0], device="cpu:0", **figures).run.results[0].burn.celsius.index(83.0) == 29


def test_the_progress_says_how_far_it_is_and_what_it_reads(burn):
    told = []
    burn([1.0], watts=300.0, celsius=61.0, on_progress=told.append)
    assert (
        bench_sentences.doing(told[-1]) == "burn, 59 s of 1 min 00 s, 2.15 GFLOP/s, 300 W, 83 °C, 1,620 MHz"
    )


def test_the_page_has_a_chart_of_each_figure_and_a_table_of_stretches(burn):
    run = burn(FALLING, watts=300.0, celsius=61.0, megahertz=1980.0).run
    made = page.page(run)
    titles = [chart.title[0] for chart in made.charts if chart.series]
    names = ("throughput", "power", "temperature", "clock")
    assert titles == [f"Burn: {name} over time" for name in names]
    assert len(made.charts[0].series[0].points) == len(run.results[0].samples)
    table = made.parts[2]
    assert table.columns == ("until", *names)
    assert table.rows[0] == ("5 s", "0.00215 TFLOP/s", "300 W", "61 °C", "1,980 MHz")
    assert table.rows[-1][-1] == "1,620 MHz"
    assert run.svg().startswith("<svg")
    assert run._repr_html_().count("data:image/svg+xml") == 4


def test_an_interrupt_keeps_the_samples_before_it(burn, tmp_path):
    finished = burn([*COOL, *[1.0] * 40, KeyboardInterrupt()], celsius=61.0)
    assert isinstance(finished.error, KeyboardInterrupt)
    (result,) = finished.run.results
    assert result.status == "interrupted"
    assert len(result.samples) == len(result.burn.ended) == 39
    assert headline(finished.run).endswith("interrupted, so incomplete.")
    again = load(finished.run.save(tmp_path / "burn.json"))
    assert again.results == finished.run.results


class Killed(BaseException):
    """Stands for a signal that no process can handle: nothing of ours runs after it."""


def test_a_burn_that_is_killed_leaves_what_it_had_measured(burn, tmp_path):
    out = tmp_path / "burn.json"
    with pytest.raises(Killed):
        burn([*COOL, *[1.0] * 40, Killed()], celsius=61.0, out=out)
    run = load(out)
    assert run.outcome == "interrupted"
    (result,) = run.results
    assert len(result.samples) == len(result.burn.celsius) >= 39 - session.SAVE_EVERY_S


def test_a_benchmark_that_is_killed_leaves_the_cases_before(monkeypatch, tmp_path):
    clock, out = FakeClock(), tmp_path / "bench.json"
    backend = FakeBackend("torch", devices=("cpu:0",))
    monkeypatch.setattr(session, "import_backend", lambda name: backend)
    monkeypatch.setattr(session, "frameworks", lambda asked, loaded=(): ("torch",))
    cases = [fake_case(FakeRunner(clock, [ends]), n=size) for ends, size in ((1.0, 256), (Killed(), 512))]
    monkeypatch.setattr(suite, "cases", lambda name, asked: cases)
    with pytest.raises(Killed):
        session.run(Order(("gemm",)), monitor=FakeMonitor(clock), clock=clock, out=out)
    run = load(out)
    assert [one.label for one in run.results] == ["gemm n=256 float32"]
    assert run.outcome == "interrupted"
    assert "Interrupted: 1 of 2 cases were not started." in run.notes


def test_the_time_that_is_left_includes_a_later_burn(monkeypatch):
    clock, told = FakeClock(), []
    backend = FakeBackend("torch", devices=("gpu:0",))
    monkeypatch.setattr(session, "import_backend", lambda name: backend)
    monkeypatch.setattr(session, "frameworks", lambda asked, loaded=(): ("torch",))
    cases = [fake_case(FakeRunner(clock, [1.0]), n=size) for size in (256, 512, 1024)]
    cases[2] = replace(cases[2], burn_s=600.0)
    monkeypatch.setattr(suite, "cases", lambda name, asked: cases)
    session.run(Order(("gemm",)), monitor=FakeMonitor(clock), clock=clock, on_progress=told.append)
    left = {now.number: now.left_s for now in told}
    assert 600 < left[2] < 700
    assert left[3] is None


def test_a_file_that_cannot_be_written_ends_no_benchmark(burn, tmp_path):
    (tmp_path / "file").write_text("")
    assert burn([1.0], out=tmp_path / "file" / "burn.json").error is None


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["burn", "--minutes", "long"], "--minutes takes a number from 0.2 to 1440, not 'long'."),
        (["burn", "--minutes", "0"], "--minutes takes a number from 0.2 to 1440, not '0'."),
        (["burn", "--minutes", "nan"], "--minutes takes a number from 0.2 to 1440, not 'nan'."),
        (["burn", "--minutes", "inf"], "--minutes takes a number from 0.2 to 1440, not 'inf'."),
        (["gemm", "--minutes", "3"], "--minutes is for the case burn: `burn --minutes 3`."),
        (["burn", "--minutes"], "--minutes needs a value."),
    ],
)
def test_what_is_typed_wrongly_is_one_sentence(capsys, words, sentence):
    assert cli.main(["bench", *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert sentence in line


def test_a_burn_is_as_long_as_asked():
    def case(line, device=GPU):
        order = options.parse(line).order
        (found,) = suite.cases(
            "burn", CaseRequest("torch", device, order.quick, Quantity(1e12, "bytes"), order.minutes)
        )
        return found

    assert case("burn").burn_s == 180
    assert case("burn --quick").burn_s == 30
    assert case("burn --minutes 0.2").label == "burn n=8192 minutes=0.2 float32"
    assert case("burn", Device("torch", "cpu:0", "cpu", "cpu")).label == "burn n=2048 minutes=3 float32"
    assert [of_a_burn(60 * minutes).sample_s for minutes in (0.2, 3, 6, 1440)] == [0.5, 1, 2, 10]


def test_the_sensors_of_a_gpu_are_nvmls():
    found = find(Nvml(FakeNvml(FakeGpu(fails=("ClockInfo",)))))
    monitor = LocalMonitor(lambda: found, Unavailable("energy", "None."), Unavailable("x", "None."))
    now = monitor.sensors(GPU)()
    assert (now.power, now.temperature) == (Quantity(150.0, "W"), Quantity(40.0, "°C"))
    assert now.clock.why_missing == "NVML does not report the clock rate of GPU 0 (Not Supported)."


def test_without_nvml_the_reason_is_told():
    none = find(Nvml(FakeNvml(driver=False)))
    monitor = LocalMonitor(lambda: none, Unavailable("energy", "None."), Unavailable("x", "None."))
    assert {monitor.sensors(GPU)().power.why_missing} == {none.why_none}


def test_a_processors_power_is_the_growth_of_its_counter_and_its_clock_the_mean_of_its_cores(
    monkeypatch, tmp_path
):
    package = tmp_path / "sys/class/powercap/intel-rapl:0"
    package.mkdir(parents=True)
    for name, text in (
        ("name", "package-0"),
        ("max_energy_range_uj", "1000000000"),
        ("energy_uj", "990000000"),
    ):
        (package / name).write_text(text)
    for number, rate in enumerate((3_000_000, 2_000_000)):
        policy = tmp_path / f"sys/devices/system/cpu/cpufreq/policy{number}"
        policy.mkdir(parents=True)
        (policy / "scaling_cur_freq").write_text(f"{rate}\n")
    seconds = iter([0.0, 2.0])
    monkeypatch.setattr(sensors.real_time, "perf_counter", lambda: next(seconds))
    read = sensors.of_processor(tmp_path)
    (package / "energy_uj").write_text("90000000")  # it began again from 0
    now = read()
    assert now.power == Quantity(50.0, "W")
    assert now.clock == Quantity(2500.0, "MHz")


def test_a_processor_without_sensors_has_reasons(tmp_path):
    now = sensors.of_processor(tmp_path)()
    assert now.power.why_missing == sensors.NO_COUNTER
    assert now.clock.why_missing == sensors.NO_CLOCK


def test_whatever_a_strangers_burn_holds_it_is_refused_or_shown(burn, tmp_path):
    real = burn([*COOL, *[1.0] * 30], celsius=61.0).run.to_json()
    real = json.loads(json.dumps(real))
    for values in [real["results"][0]["samples"], *real["results"][0]["burn"].values()]:
        if isinstance(values, list):
            del values[14:]
    file = tmp_path / "theirs.json"
    file.write_text(json.dumps(real))
    load(file)
    for way in [
        ("results", 0, "flops"),
        *(("results", 0, "burn", *one) for one in places(real["results"][0]["burn"])),
    ]:
        data = copy.deepcopy(real)
        place = data
        for step in way[:-1]:
            place = place[step]
        for odd in ODD:
            place[way[-1]] = odd
            file.write_text(json.dumps(data))
            try:
                theirs = load(file)
            except BenchError:
                continue
            (repr(theirs) + theirs._repr_html_()).encode()


def test_what_frameworks_print_is_counted_and_kept(capfd):
    with folded_output() as folded:
        os.write(
            2,
            b"2026-11-29 10:32:20.381824: I tensorflow/core/util/port.cc:153] oneDNN operations are on.\n",
        )
        os.write(1, b"hello\n")
        print("progress", file=folded.terminal)
    said = folded.summary()
    assert said.startswith("Meanwhile 2 messages were printed, ")
    assert str(folded.path) in said
    assert "oneDNN" in folded.path.read_text()
    folded.path.unlink()
    shown = capfd.readouterr()
    assert (shown.out, shown.err) == ("", "progress\n")


def test_where_nothing_is_printed_no_file_is_left():
    with folded_output() as folded:
        pass
    assert folded.summary() is None
    assert not folded.path.exists()


def test_after_an_error_what_was_printed_is_shown(capfd):
    def fails():
        with folded_output():
            os.write(2, b"why\n")
            raise BenchError("It failed.")

    with pytest.raises(BenchError):
        fails()
    assert capfd.readouterr().err == "why\n"


def test_kill_ends_the_command_as_ctrl_c_does(monkeypatch, capsys):
    def killed(order, **rest):
        os.kill(os.getpid(), signal.SIGTERM)
        signal.pause()

    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(session, "frameworks", lambda asked, loaded=(): ("torch",))
    monkeypatch.setattr(session, "run", killed)
    assert cli.main(["bench", "burn"]) == 130
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.kernel
@pytest.mark.needs("tensorflow")
def test_a_real_burn_that_is_killed_is_shown_and_kept(tmp_path):
    path = tmp_path / "burn.json"
    code = "import sys; from jupyter_mlgpu.jupyter.cli import main; sys.exit(main())"
    words = ["bench", "burn", "--framework", "tensorflow", "--device", "cpu", "--out", str(path)]
    with subprocess.Popen(
        [sys.executable, "-c", code, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        until(lambda: path.exists() or process.poll() is not None)
        process.send_signal(signal.SIGTERM)
        shown, complaint = process.communicate()
    assert process.returncode == 130, complaint
    assert complaint.endswith("jupyter mlgpu: interrupted.\n")
    assert "tensorflow/core" not in complaint
    assert "It was interrupted and is not complete." in shown
    assert "Meanwhile" in shown
    (result,) = load(path).results
    assert result.samples
    assert result.burn.ended
    assert "Burn: throughput over time" in path.with_suffix(".html").read_text()


def test_minutes_are_for_a_burn_in_the_magic_too():
    assert options.parse("burn --minutes 0.5").order == Order(("burn",), minutes=0.5)
    with pytest.raises(UsageError, match="--minutes is for the case burn"):
        options.parse("--minutes 0.5")
