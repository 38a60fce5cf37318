"""A framework is asked in a process of its own: whatever happens there, there is an answer here."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import pytest

from jupyter_mlgpu.explain.doctor.ask import MARK
from jupyter_mlgpu.explain.doctor.gather import frameworks, network
from jupyter_mlgpu.explain.doctor.maybe import Unknown


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


def asked(code: str, seconds: float = 60.0):
    return frameworks.ask("torch", time.monotonic() + seconds, python(code))


def told(**answer: object) -> str:
    return f"print({MARK + json.dumps(answer)!r})"


def test_an_answer_is_read_from_among_what_a_framework_prints():
    answer = asked(
        "import sys; print('hello'); print('careful', file=sys.stderr); "
        + told(
            imported=True,
            error=None,
            version="2.13.0",
            devices=["cpu", "gpu"],
            computed=True,
            compute_error=None,
        )
    )
    assert (answer.imported, answer.version, answer.devices) == (True, "2.13.0", ("cpu", "gpu"))
    assert (answer.computed, answer.compute_error, answer.error, answer.signal) == (True, None, None, None)
    assert answer.said == ("hello", "careful")
    assert answer.seconds > 0


def test_a_wrong_product_is_told_with_what_it_is():
    about = {"version": None, "devices": ["cpu"], "computed": False, "compute_error": None, "product": "63.5"}
    answer = asked(told(imported=True, error=None, **about))
    assert (answer.computed, answer.compute_error, answer.product) == (False, None, "63.5")


def test_a_failed_import_is_told_with_its_error():
    answer = asked(told(imported=False, error="ImportError: libcudnn.so.9: cannot open shared object file"))
    assert (answer.imported, answer.error) == (
        False,
        "ImportError: libcudnn.so.9: cannot open shared object file",
    )
    assert answer.devices == answer.computed == Unknown("It was not imported.")


def test_a_process_that_a_signal_ends_is_told_with_its_name():
    answer = asked("import os, signal; print('before', flush=True); os.kill(os.getpid(), signal.SIGILL)")
    assert (answer.imported, answer.signal) == (False, "SIGILL")
    assert answer.said == ("before",)
    assert "SIGILL" in answer.error
    assert isinstance(answer.devices, Unknown)


def test_a_process_that_ends_without_an_answer_is_told_with_its_status():
    answer = asked("import sys; sys.exit('no such thing')")
    assert (answer.imported, answer.signal) == (False, None)
    assert "status 1" in answer.error
    assert "no such thing" in answer.error


def test_a_process_that_does_not_answer_is_ended_with_what_it_started(tmp_path: Path):
    file = tmp_path / "pid"
    code = (
        "import subprocess, sys, time; child = subprocess.Popen([sys.executable, '-c', 'import time; "
        f"time.sleep(600)']); open({str(file)!r}, 'w').write(str(child.pid)); time.sleep(600)"
    )
    answer = asked(code, seconds=3.0)
    assert isinstance(answer.imported, Unknown)
    assert "torch did not respond" in answer.imported.reason
    child = int(file.read_text()) if file.exists() else None
    for _ in range(600):  # it is the system that takes it away, in its own time
        if child is None or not _alive(child):
            break
        time.sleep(0.05)
    else:
        pytest.fail("the process that was started is still there")


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not (status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z")


def test_where_no_time_is_left_nothing_is_started():
    answer = frameworks.ask("torch", time.monotonic() - 1, ("/no/such/program",))
    assert isinstance(answer.imported, Unknown)


def test_only_what_is_installed_is_asked(monkeypatch):
    monkeypatch.setattr(frameworks, "ask", lambda name, deadline, running: name)
    said: list[str] = []
    found = frameworks.read(lambda name: name in ("jax", "torch"), said.append)
    assert found == {"torch": "torch", "jax": "jax"}
    assert "Testing torch, jax" in said[0]
    assert frameworks.read(lambda name: False, said.append) == {}


def test_an_interrupt_ends_the_processes(monkeypatch):
    started = []

    def ask(name, deadline, running):
        process = frameworks.subprocess.Popen(python("import time; time.sleep(600)"), start_new_session=True)
        running.append(process)
        started.append(process)
        if name == "jax":
            raise KeyboardInterrupt
        process.wait()
        return name

    monkeypatch.setattr(frameworks, "ask", ask)
    with pytest.raises(KeyboardInterrupt):
        frameworks.read(lambda name: name == "jax", lambda text: None)
    for process in started:
        assert process.wait(60) != 0


@pytest.mark.parametrize("framework", ["tensorflow", "torch", "jax", "mlx"])
def test_a_framework_that_is_not_installed_answers_with_its_error(framework, tmp_path, monkeypatch):
    # A package of the framework's name that fails, in the folder from which the question is asked.
    name = "mlx/core" if framework == "mlx" else framework
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / f"{name}.py").write_text("raise ImportError('Symbol not found: _TF_x')")
    monkeypatch.chdir(tmp_path)
    answer = frameworks.ask(framework, time.monotonic() + 120)
    assert answer.imported is False
    assert "Symbol not found: _TF_x" in answer.error
    assert answer.said == ()


@pytest.mark.needs("torch")
def test_a_real_framework_answers():
    answer = frameworks.ask("torch", time.monotonic() + 120)
    assert answer.imported is True, answer
    assert answer.devices[0] == "cpu"
    assert answer.computed is True


def test_a_site_that_does_not_exist_does_not_answer():
    assert network.answers("site.invalid") is False
