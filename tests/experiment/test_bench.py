"""`jupyter mlgpu bench --quick` and `%mlc_bench` with a real framework on a CPU, and its array programs."""

import json
import os
import signal
import subprocess
import sys
from importlib.resources import files
from subprocess import PIPE

import pytest

from jupyter_mlgpu.experiment.bench import suite
from jupyter_mlgpu.experiment.bench.run import load
from jupyter_mlgpu.experiment.bench.session import import_backend
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.benchmarks import ConvolutionCase
from jupyter_mlgpu.record.errors import BenchError
from jupyter_mlgpu.show.page.view import MIME_TYPE
from tests.support.later import Later

pytestmark = pytest.mark.kernel

jsonschema = Later("jsonschema")

SCHEMA = json.loads(files("jupyter_mlgpu").joinpath("experiment/bench/bench.schema.json").read_text())
COMMAND = [sys.executable, "-c", "import sys; from jupyter_mlgpu.jupyter.cli import main; sys.exit(main())"]
FRAMEWORKS = [pytest.param(name, marks=pytest.mark.needs(name)) for name in registry.FRAMEWORKS]


def beyond(parameter):
    """The same, beyond the tests of every change."""
    return pytest.param(*parameter.values, marks=[*parameter.marks, pytest.mark.slow])


TYPES = ("float32", "float16", "bfloat16", "float64")


#: A budget that is over at once: the cases, charts and tables of --quick, with figures that say nothing.
BRIEFLY = (
    "from jupyter_mlgpu.experiment.bench import session\n"
    "session.QUICK = session.Budget(3, sample_s=0.001, warm_up_s=0.01, seconds=0.01, longest_step_s=1.5)"
)


def works(runner, type_="float32"):
    """Does steps of both kinds, alone and several at once, and tells in which type."""
    for steps in (1, 17):
        runner.run(steps)
        runner.wait()
    assert runner.type_ran == type_
    runner.close()


@pytest.mark.usefixtures("two_devices")  # TensorFlow starts here, and other tests need them
@pytest.mark.filterwarnings("ignore")  # TensorFlow's own, while it is imported
@pytest.mark.parametrize("name", [*FRAMEWORKS[:2], *map(beyond, FRAMEWORKS[2:])])
def test_every_framework_has_the_array_programs(name):
    device = import_backend(name).find_devices()[0]
    mine = registry.array_programs(name)
    for type_ in TYPES:
        works(mine.gemm(device, 64, type_), type_)
    works(mine.gemm(device, 1025, "float32"))
    for operation in ("add", "mult", "mult-add"):
        works(mine.stream(device, operation, 1000))
    for separable in (False, True):
        works(mine.conv(device, ConvolutionCase(1, 8, 4, separable, "float32")))
    for synchronised in (False, True):
        works(mine.dispatch(device, synchronised))


@pytest.mark.usefixtures("two_devices")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FRAMEWORKS)
def test_what_a_processor_has_not_is_refused_with_the_reason(name):
    device = import_backend(name).find_devices()[0]
    with pytest.raises(BenchError, match="cpu:0 is not an NVIDIA GPU"):
        registry.array_programs(name).gemm(device, 64, "tf32")
    for direction in ("to-device", "from-device", "ping-pong"):
        with pytest.raises(BenchError, match="nothing to transfer"):
            registry.array_programs(name).transfer(device, direction, 64)


def command(*words, **environment):
    return subprocess.run(
        [*COMMAND, "bench", *words],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )


@pytest.mark.slow
def test_quick_measures_the_small_cases_on_a_processor(tmp_path):
    path = tmp_path / "bench.json"
    done = command("--quick", "--device", "cpu", "--out", str(path))
    assert done.returncode == 0, done.stderr
    jsonschema.validate(json.loads(path.read_text()), SCHEMA)
    run = load(path)
    products = [one for one in run.results if one.case == "gemm" and one.samples]
    assert products
    for one in products:
        assert one.tflops.value > 0
        # Either it repeats, or the result says why not.
        assert one.spread.value <= 0.10 or any("spread" in flag for flag in one.flags), one
    assert "gemm n=256 float32" in done.stdout
    assert "[1/" in done.stderr


@pytest.mark.needs("torch")
def test_the_magic_shows_charts_and_a_table_and_returns_the_run(start_kernel):
    notebook = start_kernel()
    assert notebook.run(BRIEFLY).status == "ok"
    done = notebook.run("%mlc_bench gemm bandwidth --quick --framework torch --device cpu")
    assert done.status == "ok", done
    (table,) = [data for kind, data in done.outputs if kind == "execute_result"]
    titles = [chart["title"][0] for chart in table[MIME_TYPE]["charts"]]
    assert titles == ["Products of n x n matrices", "Roofline"]
    assert table["text/html"].count("data:image/svg+xml") == 2
    assert "gemm n=512 float64" in table["text/plain"]
    assert "<table>" in table["text/html"]
    # A second line uses the framework that is loaded now.
    again = notebook.run("_run = _\n%mlc_bench dispatch --quick --against h200")
    assert "Not published there: dispatch." in str(again.outputs)
    figure = notebook.run("print(type(_run.figure()).__name__, len(_run.results))")
    assert figure.text.startswith("Figure ")


@pytest.mark.slow
@pytest.mark.needs("torch")
def test_an_interrupt_of_the_magic_keeps_what_was_measured(start_kernel, tmp_path):
    notebook = start_kernel()
    # The signal of the stop button, when the second case begins.
    interrupting = (
        "import os, signal\n"
        "from jupyter_mlgpu.experiment.bench import bench_sentences\n"
        "def doing(now):\n"
        "    if now.number == 2:\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "    return ''\n"
        "bench_sentences.doing = doing"
    )
    assert notebook.run(interrupting).status == "ok"
    path = tmp_path / "part.json"
    done = notebook.run(f"%mlc_bench dispatch --quick --framework torch --out {path}")
    assert done.error.startswith("KeyboardInterrupt"), done
    run = load(path)
    assert run.outcome == "interrupted"
    assert [one.status for one in run.results][:1] == ["ok"]
    assert "Saved the benchmark to" in done.text
    assert any("It was interrupted" in str(data) for kind, data in done.outputs if kind == "display_data")


def test_what_is_typed_wrongly_in_a_notebook_is_one_sentence(plain):
    told = plain.run("%mlc_bench gem")
    assert told.status == "error"
    assert told.text == (
        f"UsageError: Unknown case 'gem'. Did you mean gemm? Choose {', '.join(suite.FAMILIES)}.\n"
    )
    assert "none.json cannot be read" in plain.run("%mlc_bench --against none.json").text


def test_unloading_takes_the_magic_away(start_kernel):
    notebook = start_kernel()
    assert notebook.run("%unload_ext jupyter_mlgpu").status == "ok"
    assert "`%mlc_bench` not found" in notebook.run("%mlc_bench gemm").text


@pytest.mark.needs("torch")
def test_ctrl_c_on_the_command_line_keeps_what_was_measured(tmp_path):
    path = tmp_path / "part.json"
    words = ["bench", "dispatch", "gemm", "--framework", "torch", "--device", "cpu", "--quick"]
    words += ["--out", str(path)]
    with subprocess.Popen([*COMMAND, *words], stdout=PIPE, stderr=PIPE, text=True) as process:
        assert process.stderr
        # The third case has begun: two are measured.
        next(line for line in process.stderr if line.startswith("[3/"))
        process.send_signal(signal.SIGINT)
        shown, complaint = process.communicate()
    assert process.returncode == 130, complaint
    assert complaint.endswith("jupyter mlgpu: interrupted.\n")
    assert "It was interrupted and is not complete." in shown
    run = load(path)
    assert [one.status for one in run.results] == ["ok", "ok", "interrupted"]
