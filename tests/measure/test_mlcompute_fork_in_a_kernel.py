"""The file for Apple's fork, run as its user runs it, with a stand-in for the fork.

With Python 3.8 where there is one (on PATH or with pyenv), else with this Python; each test's output says
which.
"""

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jupyter_mlgpu.explain.logs.catalogue import Catalogue
from jupyter_mlgpu.explain.logs.reexplain import explain_again
from jupyter_mlgpu.measure.frameworks.tensorflow import mlcompute_fork
from jupyter_mlgpu.record.files import load_records

pytestmark = pytest.mark.kernel

FILE = Path(mlcompute_fork.__file__)
FAKE = Path(__file__).parents[1] / "support" / "fake_fork"


def python_3_8() -> str:
    candidates = [*Path.home().glob(".pyenv/versions/3.8*/bin/python3.8"), shutil.which("python3.8")]
    for candidate in candidates:
        if candidate and subprocess.run([candidate, "-c", ""], capture_output=True).returncode == 0:
            return str(candidate)
    return sys.executable


PYTHON = python_3_8()


@pytest.fixture
def folder(tmp_path):
    """Where the user works, with a copy of the file."""
    print(f"run with {PYTHON}")
    shutil.copy(FILE, tmp_path)
    return tmp_path


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TF_", "PYTHON"))}
    return {**kept, "PYTHONPATH": str(FAKE), **more}


def run(folder, *words, code="", **more):
    (folder / "script.py").write_text(code)
    return subprocess.run(
        [PYTHON, "mlcompute_fork.py", *words, "script.py", "its argument"],
        cwd=folder,
        env=environment(**more),
        capture_output=True,
        text=True,
        timeout=60,
    )


def the_record(folder):
    records, problems = load_records(folder / "mlcompute_records.jsonl")
    assert problems == []
    (record,) = records
    return record


def test_a_script_on_the_gpu_is_measured_and_its_lines_are_kept(folder):
    done = run(
        folder,
        "--device",
        "gpu",
        "--mlc-logging",
        "--one-thread",
        code="import sys, tensorflow as tf\nprint(tf.matmul(6, 7), sys.argv)\n",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "42 ['script.py', 'its argument']\n"
    record = the_record(folder)
    assert record.cell.name == "script.py"
    assert record.outcome == "ok"
    assert record.device.requested == {"*": "gpu"}
    assert record.device.ran_on is None
    assert "does not tell where each operation ran" in record.device.why_missing
    assert record.reading("wall_time").value > 0
    assert any("eager mode: there Apple's fork uses the CPU" in note for note in record.notes)
    assert any("imported before the clock" in note for note in record.notes)
    assert record.facts["is_apple_mlc_enabled"].value is True
    assert record.facts["TF_MLC_LOGGING"].value == "1"
    assert record.versions["tensorflow"] == "2.4.0-rc0"
    texts = [line.text for line in record.logs if line.stream == "stderr"]
    assert len(texts) == 6
    assert texts[0].endswith("MLCGraphConversionPass: Initialized")
    assert "WARNING:tensorflow:Eager mode uses the CPU. Switching to the CPU." in texts
    assert "fake fork: 1 inter-op threads" in texts
    assert texts[-1].endswith("Falling back to TensorFlow...")
    assert {(line.id, line.verdict, line.meaning) for line in record.logs} == {(None, "unknown", None)}
    assert done.stderr.splitlines() == texts


def test_its_lines_are_explained_when_the_record_is_loaded(folder):
    run(folder, "--device", "gpu", code="import tensorflow as tf\ntf.matmul(6, 7)\nprint('mine')\n")
    record = explain_again(the_record(folder), Catalogue.load())
    assert {line.text.rpartition("] ")[2][:20]: line.verdict for line in record.logs} == {
        "WARNING:tensorflow:E": "info",
        "Compute: Failed in p": "performance",
        "Falling back to Tens": "performance",
        "mine": "unknown",
    }
    assert record.facts["mlc_subgraphs"].value["fell_back"] == ["MLCSubgraphOp_0_1"]


def test_the_file_serves_where_it_was_installed_beside_modules_named_like_frameworks(folder):
    (folder / "script.py").write_text("import tensorflow as tf, mlcompute_fork\nprint(tf.__version__)\n")
    done = subprocess.run(
        [PYTHON, str(FILE), "--device", "cpu", "script.py"],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "2.4.0-rc0\n", done.stderr
    assert the_record(folder).device.requested == {"*": "cpu"}


def test_graph_mode_has_no_note_about_eager_mode(folder):
    run(folder, code="import tensorflow as tf\ntf.compat.v1.disable_eager_execution()\ntf.matmul(1, 2)\n")
    assert the_record(folder).notes == ()


def test_ml_compute_switched_off_is_said(folder):
    done = run(folder, "--disable-mlc", code="import tensorflow as tf\ntf.matmul(1, 2)\n")
    assert done.stderr == ""
    record = the_record(folder)
    assert record.notes == ("ML Compute was switched off.",)
    assert record.facts["is_apple_mlc_enabled"].value is False


def test_every_variable_of_the_readme_reaches_the_fork(folder):
    run(
        folder,
        *("--mlc-logging", "--disable-mlc", "--vlog-level", "2"),
        *("--disable-mlc-eager", ";MatMul;Relu", "--allocator-init-value", "7"),
        code="import os, json\nprint(json.dumps(dict(os.environ)))\n",
    )
    (line,) = the_record(folder).logs
    seen = json.loads(line.text)
    assert {name: seen[name] for name in mlcompute_fork.KNOBS} == {
        "TF_MLC_LOGGING": "1",
        "TF_CPP_MIN_VLOG_LEVEL": "2",
        "TF_DISABLE_MLC": "1",
        "TF_DISABLE_MLC_EAGER": ";MatMul;Relu",
        "TF_MLC_ALLOCATOR_INIT_VALUE": "7",
    }


def test_a_device_chosen_too_late_is_one_sentence(folder):
    code = "import mlcompute_fork, tensorflow as tf\ntf.constant(1)\nmlcompute_fork.set_device('gpu')\n"
    done = run(folder, code=code)
    assert done.returncode == 1
    assert "ForkError: ML Compute's device cannot be changed any more" in done.stderr.splitlines()[-1]
    assert "start Python again and call set_device('gpu') before anything else" in done.stderr


def test_an_error_of_the_script_is_shown_as_python_shows_it(folder):
    done = run(folder, code="def f():\n    1 / 0\n\nf()\n")
    alone = subprocess.run([PYTHON, "script.py"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == alone.returncode == 1
    assert done.stderr == alone.stderr.replace(str(folder) + "/", "")
    assert the_record(folder).outcome == "error"


def test_a_crash_in_native_code_becomes_a_record_with_its_last_words(folder):
    done = run(folder, "--device", "gpu", code="import tensorflow as tf\ntf.crash()\n")
    assert done.returncode == 128 + signal.SIGABRT
    assert done.stderr.endswith("terminating with uncaught exception of type NSException\n")
    record = the_record(folder)
    assert record.outcome == "error"
    assert record.device.requested == {"*": "gpu"}
    assert record.notes == ("The script was ended by SIGABRT; its last lines may say why.",)
    assert record.logs[-1].text == "terminating with uncaught exception of type NSException"
    assert record.reading("wall_time").value is None


def test_ctrl_c_ends_the_script_and_not_the_record(folder):
    (folder / "script.py").write_text("import time\nprint('begun', flush=True)\ntime.sleep(60)\n")
    running = subprocess.Popen(
        [PYTHON, "mlcompute_fork.py", "script.py"],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert running.stdout.readline() == "begun\n"
    os.killpg(running.pid, signal.SIGINT)
    _, shown = running.communicate(timeout=30)
    assert running.returncode == 130
    assert shown.endswith("KeyboardInterrupt\n")
    assert the_record(folder).outcome == "interrupted"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--disable-mlc-eager", "MatMul", "script.py"], "keep operations off ML Compute in eager mode"),
        (["nothing.py"], "No such file or directory: 'nothing.py'"),
        (["--device", "tpu", "script.py"], "invalid choice: 'tpu'"),
    ],
)
def test_words_that_will_not_do_are_refused_before_anything_runs(folder, words, said):
    (folder / "script.py").write_text("print('ran')\n")
    done = subprocess.run(
        [PYTHON, "mlcompute_fork.py", *words],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stdout == ""
    assert not (folder / "mlcompute_records.jsonl").exists()


def test_another_tensorflow_is_told_apart(folder):
    other = folder / "elsewhere" / "tensorflow"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text("__version__ = '2.4.1'\ndef executing_eagerly(): return True\n")
    done = run(folder, "--device", "gpu", PYTHONPATH=str(other.parent))
    assert done.returncode == 2
    assert "This Python has no TensorFlow with ML Compute" in done.stderr
    run(folder, code="import tensorflow\n", PYTHONPATH=str(other.parent))
    assert the_record(folder).notes == (
        "This TensorFlow does not say that it has ML Compute: it may not be Apple's fork.",
    )


def test_a_block_of_the_users_own_program_is_measured(folder):
    code = """\
import os, subprocess, sys, mlcompute_fork
mlcompute_fork.set_knobs(TF_MLC_LOGGING=1)
import tensorflow as tf
mlcompute_fork.set_device("gpu")
with mlcompute_fork.trace("outer"):
    print("python", flush=True)
    os.write(1, b"native\\n")
    subprocess.run([sys.executable, "-c", "print('child')"])
    with mlcompute_fork.trace("inner"):
        tf.matmul(1, 2)
print("after")
"""
    (folder / "own.py").write_text(code)
    done = subprocess.run(
        [PYTHON, "own.py"], cwd=folder, env=environment(), capture_output=True, text=True, timeout=60
    )
    assert done.stdout.splitlines() == ["python", "native", "child", "after"], done.stderr
    (inner, outer), problems = load_records(folder / "mlcompute_records.jsonl")
    assert problems == []
    assert [line.text.rpartition(" ")[2] for line in inner.logs] == ["TF_MLC_LOGGING=1).", "TensorFlow..."]
    assert [line.text for line in outer.logs if line.stream == "stdout"] == ["python", "native", "child"]
    assert inner.device.requested == outer.device.requested == {"*": "gpu"}


def test_twenty_megabytes_from_native_code_that_holds_the_interpreter_arrive_whole(folder):
    # ctypes.PyDLL does not let other Python threads run during the call, as some native code does not.
    code = """\
import ctypes, mlcompute_fork
libc = ctypes.PyDLL(None)
line = b"x" * 144 + b"\\n"
with mlcompute_fork.trace("loud"):
    for _ in range(14):
        libc.write(2, line * 10000, len(line) * 10000)
"""
    (folder / "own.py").write_text(code)
    done = subprocess.run([PYTHON, "own.py"], cwd=folder, env=environment(), capture_output=True, timeout=120)
    assert done.returncode == 0
    assert done.stderr == (b"x" * 144 + b"\n") * 140_000
    (line,) = the_record(folder).logs
    assert line.count == 140_000


def test_in_a_terminal_the_output_comes_while_the_script_runs_and_looks_like_one(folder):
    (folder / "script.py").write_text("import sys\nprint(sys.stdout.isatty())\ninput()\nprint('end')\n")
    ours, theirs = pty.openpty()
    running = subprocess.Popen(
        [PYTHON, "mlcompute_fork.py", "script.py"],
        cwd=folder,
        env=environment(),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    shown = b""
    deadline = time.monotonic() + 30
    while b"True" not in shown and time.monotonic() < deadline:
        shown += os.read(ours, 1000)
    assert running.poll() is None
    os.write(ours, b"\n")
    assert running.wait(30) == 0
    os.close(ours)
    assert [line.text for line in the_record(folder).logs] == ["True", "end"]
