"""`jupyter mlgpu run` on real notebooks: what it writes, what it says, how it ends."""

from __future__ import annotations

import json
import os
import pty
import re
import resource
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from jupyter_mlgpu.record.files import load_records
from jupyter_mlgpu.record.record import STILL_READING, Record
from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE
from tests.support.later import Later
from tests.support.reading import receipt_as_read

pytestmark = pytest.mark.kernel

nbformat = Later("nbformat")

COMMAND = [sys.executable, "-c", "import sys; from jupyter_mlgpu.jupyter.cli import main; sys.exit(main())"]
# ipykernel leaves native output alone when it sees that pytest runs; a user's kernel does not.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
# Cells of tests are short.
ENVIRONMENT["JUPYTER_MLGPU_RECEIPTS"] = "all"

LOAD_DATA = """\
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras
from sklearn.datasets import load_digits
x, y = load_digits(return_X_y=True)
x = x.reshape(-1, 8, 8, 1) / 16
keras.utils.set_random_seed(1)"""
TRAIN = """\
import time
start = time.perf_counter()
model = keras.Sequential([
    keras.layers.Conv2D(16, 3, activation="relu"),
    keras.layers.Flatten(),
    keras.layers.Dense(10, activation="softmax"),
])
model.compile(loss="sparse_categorical_crossentropy", metrics=["accuracy"])
history = model.fit(x, y, epochs=3, verbose=0).history
print(time.perf_counter() - start)"""
EVALUATE = """\
start = time.perf_counter()
loss, accuracy = model.evaluate(x, y, verbose=0)
print(accuracy, time.perf_counter() - start)"""


@dataclass
class Ran:
    """What a run left behind."""

    source: Path
    out: Path
    status: int
    said: str
    errors: list[str]

    @property
    def cells(self) -> list[Any]:
        """The code cells of the executed notebook."""
        notebook = nbformat.read(self.out / self.source.name, as_version=4)
        return [cell for cell in notebook.cells if cell.cell_type == "code"]

    @property
    def records(self) -> list[Record]:
        records, problems = load_records(self.out / "records.jsonl")
        assert problems == []
        return records

    @property
    def report(self) -> str:
        return (self.out / "report.html").read_text()

    @property
    def complaint(self) -> str:
        """The one sentence about what went wrong; the other lines tell how far the run is."""
        (sentence,) = [line for line in self.errors if line.startswith("jupyter mlgpu: ")]
        return sentence


def write(folder: Path, *cells: Any, name: str = "lesson.ipynb") -> Path:
    made = [nbformat.v4.new_code_cell(cell) if isinstance(cell, str) else cell for cell in cells]
    path = folder / name
    nbformat.write(nbformat.v4.new_notebook(cells=made), path)
    return path


def run(source: Path, *options: str, out: Path | None = None, **settings: Any) -> Ran:
    out = out or source.parent / "out"
    words = [*COMMAND, "run", str(source), "--out", str(out), *options]
    environment = {**ENVIRONMENT, **settings.pop("environment", {})}
    done = subprocess.run(words, capture_output=True, text=True, timeout=240, env=environment, **settings)
    assert "Traceback" not in done.stdout + done.stderr
    return Ran(source, out, done.returncode, done.stdout, done.stderr.splitlines())


def printed(cell: Any) -> str:
    return "".join(output.text for output in cell.outputs if output.output_type == "stream")


def receipts(cell: Any) -> list[dict[str, Any]]:
    return [
        receipt_as_read(output.data[MIME_TYPE])
        for output in cell.outputs
        if MIME_TYPE in output.get("data", {})
    ]


def test_a_notebook_is_answered_in_the_language_of_its_metadata(tmp_path):
    source = write(
        tmp_path,
        "%%mlc_trace --ops\nx = 1",
        "from jupyter_mlgpu.lessons import predict\npredict('How many?', ...)",
    )
    written = nbformat.read(source, as_version=4)
    written.metadata["jupyter_mlgpu"] = {"language": "zh"}
    nbformat.write(written, source)
    ran = run(source)
    assert ran.status == 0, ran.errors
    assert "分析" in ran.cells[0].outputs[0].data["text/plain"]
    assert "还没有预测" in printed(ran.cells[1])
    assert "所有单元格" in ran.report


# -- a notebook that trains on real data ----------------------------------------------------------


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """A Keras CNN on scikit-learn's digits, in a notebook that also loads the extension itself."""
    folder = tmp_path_factory.mktemp("digits")
    words = nbformat.v4.new_markdown_cell("# Digits")
    source = write(folder, words, "%load_ext jupyter_mlgpu", LOAD_DATA, TRAIN, EVALUATE, name="digits.ipynb")
    return run(source, "--device", "cpu")


def test_every_cell_that_does_work_has_a_receipt_and_a_record(digits):
    assert digits.status == 0, digits.errors
    assert [len(receipts(cell)) for cell in digits.cells] == [0, 1, 1, 1]
    assert [record.cell.execution_count for record in digits.records] == [2, 3, 4]
    assert {record.run.notebook for record in digits.records} == {"digits.ipynb"}
    assert {record.outcome for record in digits.records} == {"ok"}


def test_wall_time_agrees_with_a_clock_inside_the_cell(digits):
    gaps = []
    for cell, record in zip(digits.cells[2:], digits.records[1:], strict=True):
        inside = float(printed(cell).split()[-1])
        gaps.append((record.reading("wall_time").value - inside, max(0.02 * inside, 0.005)))
    # Between the clocks a busy machine may stop the kernel for a moment, but hardly in both cells.
    assert all(0 <= gap < 0.5 for gap, _ in gaps), gaps
    assert any(gap <= allowed for gap, allowed in gaps), gaps


def test_the_model_trained_on_the_device_asked_for(digits):
    assert float(printed(digits.cells[-1]).split()[0]) > 0.8
    for record in digits.records[1:]:
        assert record.device.requested == {"*": "cpu:0"}
        assert [place.device for place in record.device.ran_on] == ["cpu:0"]


def test_settings_that_the_notebook_makes_before_its_import_come_in_time(digits):
    # The framework's own import is in the cell's time too, so it was not imported before.
    assert "I tensorflow/core/platform/cpu_feature_guard" not in printed(digits.cells[1])
    assert digits.records[0].reading("wall_time").value > 0.5


def test_the_code_and_the_order_of_the_cells_are_as_they_were(digits):
    before = nbformat.read(digits.source, as_version=4)
    after = nbformat.read(digits.out / "digits.ipynb", as_version=4)
    assert [(one.cell_type, one.id, one.source) for one in after.cells] == [
        (one.cell_type, one.id, one.source) for one in before.cells
    ]
    assert not any(cell.outputs for cell in before.cells[1:])
    assert [cell.execution_count for cell in after.cells[1:]] == [1, 2, 3, 4]


def test_loading_the_extension_in_the_notebook_says_nothing_about_it_being_there(digits):
    assert digits.cells[0].outputs == []


def test_the_report_shows_every_cell_and_the_device(digits):
    assert "3 cells measured" in digits.report
    assert "ran on cpu:0 (TensorFlow)" in digits.report
    for count in (2, 3, 4):
        assert f"[{count}] " in digits.report
    assert "<b>loaded" not in digits.report


def test_the_summary_says_how_much_ran_where_and_which_files_there_are(digits):
    first, *files = digits.said.splitlines()
    assert first.startswith("4 of 4 cells, ")
    assert first.endswith(", ran on cpu:0")
    assert {Path(line.strip()).name for line in files} == {"records.jsonl", "digits.ipynb", "report.html"}
    assert sorted(path.name for path in digits.out.iterdir()) == [
        "digits.ipynb",
        "records.jsonl",
        "report.html",
    ]


def test_plain_lines_tell_how_far_the_run_is_where_there_is_no_terminal(digits):
    assert [line.partition(":")[0].split()[0] for line in digits.errors[1:]] == [
        "[1/4]",
        "[2/4]",
        "[3/4]",
        "[4/4]",
    ]


def test_stripping_the_executed_notebook_leaves_the_students_own_output(digits, tmp_path):
    copy = tmp_path / "digits.ipynb"
    copy.write_bytes((digits.out / "digits.ipynb").read_bytes())
    done = subprocess.run([*COMMAND, "strip", str(copy)], capture_output=True, text=True, check=True)
    assert done.stdout == f"{copy}: removed 3 receipts.\n"
    stripped = nbformat.read(copy, as_version=4)
    nbformat.validate(stripped)
    assert not any(receipts(cell) for cell in stripped.cells[1:])
    assert printed(stripped.cells[3]) == printed(digits.cells[2])


# -- devices --------------------------------------------------------------------------------------

TWO_CPUS = """\
tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2)"""


@pytest.mark.slow
def test_a_device_that_the_notebook_itself_defines_is_used_from_then_on(tmp_path):
    source = write(tmp_path, "import tensorflow as tf", TWO_CPUS, "print((tf.ones(3) + 1).device[-5:])")
    ran = run(source, "--device", "cpu:1", environment={"TF_CPP_MIN_LOG_LEVEL": "3"})
    assert ran.status == 0, ran.errors
    assert printed(ran.cells[-1]).endswith("CPU:1\n")
    assert "jupyter_mlgpu" not in "".join(map(printed, ran.cells))
    assert [record.device.requested for record in ran.records] == [{"*": "cpu:1"}] * 3
    assert [place.device for place in ran.records[-1].device.ran_on] == ["cpu:1"]


@pytest.mark.slow
def test_a_device_that_turns_out_missing_ends_the_run_and_its_receipt_says_where_it_ran(tmp_path):
    source = write(tmp_path, "import tensorflow as tf\ntf.ones(3) + 1", "print('not here')")
    ran = run(source, "--device", "cpu:1")
    assert ran.status == 2
    assert "was the last cell to run: There is no device cpu:1 here: found cpu:0." in ran.complaint
    assert ran.cells[1].outputs == []
    (record,) = ran.records
    assert record.device.requested == {"*": "cpu:1"}
    assert [place.device for place in record.device.ran_on] == ["cpu:0"]
    assert "There is no device cpu:1 here" in ran.report


# As much of TensorFlow as tells its devices: a GPU can be there or not on any machine.
FAKE_TENSORFLOW = {
    "__init__.py": """\
import os
__version__ = "0"
class config:
    get_visible_devices = staticmethod(lambda kind: [kind] if kind in os.environ["FAKE_DEVICES"] else [])
    get_logical_device_configuration = staticmethod(lambda device: None)
    list_physical_devices = get_visible_devices
    class experimental:
        get_device_details = staticmethod(lambda device: {})
class test:
    is_built_with_cuda = is_built_with_rocm = staticmethod(lambda: False)
""",
    "python/eager/context.py": """\
class Context:
    _context_handle = device_name = device_spec = None
def context():
    return Context
""",
}


def with_devices(folder: Path, devices: str) -> dict[str, str]:
    """The environment of a kernel whose TensorFlow has these devices."""
    for name, text in FAKE_TENSORFLOW.items():
        path = folder / "fake" / "tensorflow" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    paths = [str(folder / "fake"), os.environ.get("PYTHONPATH")]
    return {"FAKE_DEVICES": devices, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


@pytest.mark.parametrize("what", ["lesson.ipynb", pytest.param("out/records.jsonl", marks=pytest.mark.slow)])
def test_a_pipe_in_place_of_a_file_is_refused_before_a_kernel_starts(tmp_path, what):
    source = write(tmp_path, "print(1)")
    pipe = tmp_path / what
    pipe.unlink(missing_ok=True)
    pipe.parent.mkdir(exist_ok=True)
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)  # what is written to it, is taken
    try:
        words = [*COMMAND, "run", str(source), "--out", str(tmp_path / "out")]
        ended = subprocess.run(words, capture_output=True, text=True, timeout=60, env=ENVIRONMENT)
    finally:
        os.close(reader)
    assert ended.returncode == 2
    assert ("is not a regular file" in ended.stderr) or ("for it is a pipe (FIFO)" in ended.stderr)
    assert ended.stderr.count("\n") == 1
    assert os.listdir(tmp_path / "out" if what.startswith("out") else tmp_path) == [pipe.name]


def test_a_missing_gpu_is_refused_before_anything_runs(tmp_path):
    source = write(tmp_path, "open('ran', 'w').close()")
    ran = run(source, "--device", "gpu", environment=with_devices(tmp_path, "CPU"))
    assert ran.status == 2
    assert "There is no device gpu:0 here: found cpu:0." in ran.complaint
    assert not ran.out.exists()
    assert not (tmp_path / "ran").exists()


@pytest.mark.slow
def test_looking_for_a_gpu_leaves_the_notebooks_kernel_fresh(tmp_path):
    source = write(tmp_path, "import sys\n'tensorflow' in sys.modules")
    ran = run(source, "--device", "gpu", environment=with_devices(tmp_path, "CPU GPU"))
    assert ran.status == 0, ran.errors
    assert ran.cells[0].outputs[0].data["text/plain"] == "False"
    assert ran.records[0].device.requested == {"*": "gpu"}


# -- notebooks that fail --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """A notebook that fails in the middle; its last cell was saved with an output of last week."""
    stale = nbformat.v4.new_code_cell("c = 3", execution_count=9)
    stale.outputs = [nbformat.v4.new_output("stream", text="from last week\n")]
    fails = "print('before')\nraise ValueError('-'.join(['a', 'secret']) + '\\nand more')"
    return run(write(tmp_path_factory.mktemp("failing"), "a = 1", fails, stale))


def test_a_failing_cell_ends_the_run_with_what_was_measured_so_far(failing):
    assert failing.status == 1
    assert failing.complaint == "jupyter mlgpu: Cell [2] `print('before')` raised ValueError: a-secret"
    assert [record.outcome for record in failing.records] == ["ok", "error"]
    assert [output.output_type for output in failing.cells[1].outputs] == ["stream", "error", "display_data"]
    assert "Cell [2] raised an exception. 1 of 3 cells ran to their end." in failing.report


def test_the_report_holds_no_word_of_an_error_for_nobody_has_redacted_it(failing):
    assert "a-secret" not in failing.report


def test_saved_outputs_of_cells_that_were_not_reached_do_not_pass_for_new_ones(failing):
    assert failing.cells[2].outputs == []
    assert failing.cells[2].execution_count is None


def test_a_cell_that_is_meant_to_fail_may(tmp_path):
    meant = nbformat.v4.new_code_cell("1 / 0", metadata={"tags": ["raises-exception"]})
    ran = run(write(tmp_path, meant, "print('goes on')"))
    assert ran.status == 0
    assert [record.outcome for record in ran.records] == ["error", "ok"]


@pytest.mark.slow
def test_a_reader_that_stops_early_costs_no_file_of_the_run(tmp_path):
    source = write(tmp_path, "x = 1")
    reads, writes = os.pipe()
    os.close(reads)
    try:
        done = subprocess.run(
            [*COMMAND, "run", str(source), "--out", str(tmp_path / "out")],
            stdout=writes,
            stderr=subprocess.PIPE,
            text=True,
            timeout=240,
            env=ENVIRONMENT,
        )
    finally:
        os.close(writes)
    assert (done.returncode, "BrokenPipe" in done.stderr) == (0, False)
    assert Ran(source, tmp_path / "out", 0, "", []).records


def test_a_kernel_that_dies_leaves_the_records_of_the_cells_before(tmp_path):
    source = write(tmp_path, "%%mlc_trace\na = 1", "import os\nos._exit(7)", "print('never')")
    ran = run(source)
    assert ran.status == 2
    said = re.sub(r"after [\d.]+ \w+", "after SOME TIME", ran.complaint)
    assert said == (
        "jupyter mlgpu: Cell [2] `import os` lost its kernel. The kernel died in [2] after "
        "SOME TIME: its code exited with status 7. Look for `exit`, `quit` or `os._exit` in "
        "that cell and in the code it calls."
    )
    assert [record.cell.name for record in ran.records] == ["a = 1"]
    assert len(receipts(ran.cells[0])) == 1
    assert "Cell [2] lost its kernel and left no record. The kernel died in [2] after " in ran.report
    assert "exited with status 7. 1 of 3 cells ran to their end." in ran.report


@pytest.mark.slow
def test_what_native_code_said_before_it_gave_up_is_told(tmp_path):
    line = "2026-11-24 08:00:00.123456: F tensorflow/core/a.cc:12] Check failed: n > 0 (-3 vs. 0)"
    source = write(tmp_path, f"import ctypes, os\nos.write(2, b'{line}\\n')\nctypes.CDLL(None).abort()")
    ran = run(source)
    assert ran.status == 2
    assert "native code aborted (SIGABRT)." in ran.complaint
    assert ran.complaint.endswith(" Its last native lines:")
    assert ran.errors[-1] == f"  {line}"


@pytest.mark.slow
def test_a_cell_that_takes_too_long_is_interrupted_and_says_so(tmp_path):
    ran = run(write(tmp_path, "import time\ntime.sleep(60)", "print('never')"), "--timeout", "5")
    assert ran.status == 1
    assert "Cell [1] `import time` took longer than 5 s and was interrupted" in ran.complaint
    assert [record.outcome for record in ran.records] == ["interrupted"]
    assert "took longer than 5 s" in ran.report


# -- interrupts -----------------------------------------------------------------------------------


def interrupted(source: Path, *, times: int) -> Ran:
    """Ctrl-C while a cell runs, which has made the file `running` to say so."""
    process = subprocess.Popen(
        [*COMMAND, "run", str(source), "--out", str(source.parent / "out")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    )
    deadline = time.monotonic() + 60
    while not (source.parent / "running").exists():
        assert time.monotonic() < deadline
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)
    for _ in range(times):
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
    said, errors = process.communicate(timeout=55)
    return Ran(source, source.parent / "out", process.returncode, said, errors.splitlines())


def test_an_interrupt_stops_the_cell_and_writes_what_there_is(tmp_path):
    source = write(
        tmp_path,
        "import os, time\nprint('pid', os.getpid())",
        "open('running', 'w').close()\ntime.sleep(60)",
        "print('never')",
    )
    ran = interrupted(source, times=1)
    assert ran.status == 130
    assert ran.complaint == "jupyter mlgpu: Interrupted: 1 of 3 cells ran to their end."
    assert [record.outcome for record in ran.records] == ["ok", "interrupted"]
    assert len(receipts(ran.cells[1])) == 1
    assert "Interrupted: 1 of 3 cells ran to their end." in ran.report
    with pytest.raises(ProcessLookupError):  # the kernel is gone
        os.kill(int(printed(ran.cells[0]).split()[1]), 0)


@pytest.mark.slow
def test_a_second_interrupt_ends_a_cell_that_ignores_the_first(tmp_path):
    stubborn = """\
import time
while True:
    try:
        open("running", "w").close()
        time.sleep(60)
    except KeyboardInterrupt:
        pass"""
    started = time.monotonic()
    ran = interrupted(write(tmp_path, "a = 1", stubborn), times=2)
    assert ran.status == 130
    assert time.monotonic() - started < 60
    assert [record.cell.name for record in ran.records] == ["a = 1"]


# -- what cannot be done --------------------------------------------------------------------------


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run the command in this process, for what never comes to starting a kernel."""
    from jupyter_mlgpu.jupyter.cli import main

    assert main(["run", *words]) == 2
    (sentence,) = capsys.readouterr().err.splitlines()
    return sentence


def test_a_notebook_that_is_not_there_is_one_sentence(tmp_path, capsys):
    sentence = refused(capsys, str(tmp_path / "no.ipynb"), "--out", str(tmp_path / "out"))
    assert "no.ipynb cannot be read as a notebook (No such file or directory); check the path" in sentence


@pytest.mark.parametrize("content", [b"print(1)", b"\xff\xfe", b"[]", b'{"nbformat": 4, "cells": 3}'])
def test_a_file_that_is_no_notebook_is_one_sentence(tmp_path, capsys, content):
    (tmp_path / "other.ipynb").write_bytes(content)
    sentence = refused(capsys, str(tmp_path / "other.ipynb"), "--out", str(tmp_path / "out"))
    assert "other.ipynb is not a notebook that Jupyter can read" in sentence


def test_an_unknown_device_is_one_sentence_with_the_valid_ones(tmp_path, capsys):
    sentence = refused(capsys, str(write(tmp_path, "1")), "--out", str(tmp_path / "out"), "--device", "tpu")
    assert "Unknown device 'tpu'. Choose auto, cpu, gpu, or a numbered device" in sentence


def test_a_kernel_that_is_not_installed_is_one_sentence_with_those_that_are(tmp_path, capsys):
    path = tmp_path / "lesson.ipynb"
    kernel = {"kernelspec": {"name": "no-such", "display_name": "No"}}
    nbformat.write(nbformat.v4.new_notebook(metadata=kernel, cells=[]), path)
    sentence = refused(capsys, str(path), "--out", str(tmp_path / "out"))
    assert "Kernel 'no-such' was not found. Available: " in sentence
    assert "python3" in sentence
    assert "Choose with --kernel." in sentence


def test_the_notebooks_own_folder_is_refused_because_the_copy_would_replace_it(tmp_path, capsys):
    source = write(tmp_path, "1")
    before = source.read_bytes()
    assert "is the notebook's own folder" in refused(capsys, str(source), "--out", str(tmp_path))
    assert source.read_bytes() == before


@pytest.mark.parametrize("seconds", ["0", "-1", "nan"])
def test_a_time_limit_that_is_none_is_one_sentence(tmp_path, capsys, seconds):
    sentence = refused(
        capsys, str(write(tmp_path, "1")), "--out", str(tmp_path / "out"), f"--timeout={seconds}"
    )
    assert "--timeout must be more than 0 seconds" in sentence


def test_a_kernel_without_our_package_is_one_sentence(tmp_path):
    kernel = tmp_path / "kernels" / "other"
    kernel.mkdir(parents=True)
    # An import system that does not find jupyter_mlgpu stands in for another environment.
    hide = "import sys; sys.modules['jupyter_mlgpu'] = None; from ipykernel import kernelapp as app"
    argv = [sys.executable, "-c", f"{hide}; app.launch_new_instance()", "-f", "{connection_file}"]
    (kernel / "kernel.json").write_text(
        json.dumps({"argv": argv, "display_name": "other", "language": "python"})
    )
    ran = run(write(tmp_path, "1"), "--kernel", "other", environment={"JUPYTER_PATH": str(tmp_path)})
    assert ran.status == 2
    assert "The kernel 'other' cannot trace (ModuleNotFoundError: " in ran.complaint
    assert "install jupyter_mlgpu in that kernel's Python" in ran.complaint


@pytest.mark.slow
def test_a_folder_that_cannot_be_made_is_said_before_any_cell_runs(tmp_path):
    source = write(tmp_path, "open('ran', 'w').close()")
    ran = run(source, out=source / "out")
    assert ran.status == 2
    assert "cannot be written (Not a directory)" in ran.complaint
    assert not (tmp_path / "ran").exists()


@pytest.mark.slow
def test_a_disk_that_is_full_costs_only_what_no_longer_fits(tmp_path):
    limit = 9_500  # bytes a file: enough for the records and the notebook, not for the report

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    ran = run(write(tmp_path, "a = 1", "b = 2"), preexec_fn=small_files)
    assert ran.status == 2
    assert "report.html cannot be written (File too large)" in ran.complaint
    assert len(ran.records) == 2
    assert len(receipts(ran.cells[1])) == 1
    assert sorted(path.name for path in ran.out.iterdir()) == ["lesson.ipynb", "records.jsonl"]


# -- again, and elsewhere -------------------------------------------------------------------------


@pytest.mark.slow
def test_the_results_of_a_former_run_are_replaced(tmp_path):
    first = run(write(tmp_path, "a = 1", "b = 2"))
    run_id = first.records[0].run.id
    second = run(write(tmp_path, "import os\nos._exit(1)"))
    assert second.records == []
    assert run_id not in second.report
    assert "No cell left a record." in second.report


@pytest.mark.slow
def test_the_kernel_works_in_the_notebooks_folder_as_in_jupyterlab(tmp_path):
    (tmp_path / "data.txt").write_text("seven")
    ran = run(write(tmp_path, "print(open('data.txt').read())"), cwd="/")
    assert printed(ran.cells[0]) == "seven\n"


@pytest.mark.slow
def test_in_a_terminal_a_bar_shows_the_cell_that_runs(tmp_path):
    source = write(tmp_path, "a = [1]", "import time\ntime.sleep(0.5)")
    screen, terminal = pty.openpty()
    words = [*COMMAND, "run", str(source), "--out", str(tmp_path / "out")]
    environment = {**ENVIRONMENT, "TERM": "xterm"}
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=terminal, env=environment)
    os.close(terminal)
    shown = b""
    try:
        while chunk := os.read(screen, 4096):
            shown += chunk
    except OSError:  # how Linux says that the other end of a terminal is closed
        pass
    assert process.wait(timeout=30) == 0
    os.close(screen)
    assert "1/2" in shown.decode()
    assert "import time" in shown.decode()


# -- the kernel's end ------------------------------------------------------------------------------

SAYS_SOMETHING_AS_IT_ENDS = """\
import logging, time
kernel = get_ipython().kernel
shut_down = kernel.do_shutdown
def do_shutdown(restart):
    logging.getLogger("IPKernelApp").error("KeyboardInterrupt caught in kernel.")
    time.sleep(0.5)
    return shut_down(restart)
kernel.do_shutdown = do_shutdown"""


@pytest.mark.slow
def test_what_a_kernel_says_as_it_ends_is_no_cells_and_each_record_is_there_once(tmp_path):
    done = run(write(tmp_path, "1 + 1", SAYS_SOMETHING_AS_IT_ENDS))
    assert done.status == 0, done.errors
    assert [record.logs for record in done.records] == [(), ()]
    lines = (done.out / "records.jsonl").read_text().splitlines()
    assert len(lines) == len(done.records) == 2


@pytest.mark.slow
def test_native_output_is_saved_where_it_was_written(tmp_path):
    done = run(
        write(
            tmp_path,
            "import os\nfor n in range(5):\n    os.system(f'echo x{n}')\n    display(n)",
            "".join(f"os.write(2, b'{'line ' * 40}{n}\\n')\n" for n in range(200)),
        )
    )
    first, second = done.cells
    shown = [
        output.text.strip() if output.output_type == "stream" else output.data["text/plain"]
        for output in first.outputs[:-1]  # the receipt is the last one
    ]
    assert shown == ["x0", "0", "x1", "1", "x2", "2", "x3", "3", "x4", "4"]
    # Of a run's saved notebook nobody completes a receipt later: it waits for all lines.
    assert STILL_READING not in str(second.outputs[-1])
    assert sum(line.count for line in done.records[1].logs) == 200


def test_names_of_files_are_told_so_that_they_do_nothing_to_a_terminal(tmp_path):
    ran = run(write(tmp_path, name="\x1b]0;evil\x07\x1b[31m\nlesson.ipynb"), out=tmp_path / "\x1b[31mout")
    assert ran.status == 0, ran.errors
    assert ran.said.splitlines()[1:] == [
        rf"  {tmp_path}/\u001b[31mout/{name}"
        for name in ("records.jsonl", r"\u001b]0;evil\u0007\u001b[31m\u000alesson.ipynb", "report.html")
    ]
