"""Runs the doctor for the sidebar: a browser requests it, and a separate process answers.

    {"type": "doctor"} -> {"doctor": {"asking": true, "found": null, "problem": null}}

This starts a consultation on the control channel, so also while a cell runs; one at a time. At its end, all
browsers get an event `{"type": "doctor", "doctor": {...}}`, in which `found` is the output of
`explain/doctor/light.py`, or `problem` a sentence that says why there is none. A snapshot contains the same.

A consultation takes a second or more of Python, which would slow the running cell, so it has its own process.
It examines this kernel's Python in this kernel's environment. It never starts without a request.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jupyter_mlgpu.record.redact import beginning
from jupyter_mlgpu.record.sentence import Sentence, of_error, say

if TYPE_CHECKING:
    from jupyter_mlgpu.explain.doctor.light import LightDiagnosis
    from jupyter_mlgpu.jupyter.notebook.browser.messages import DoctorData

#: Seconds after which a consultation is ended; it usually takes one to four.
PATIENCE_S = 60.0

Start = Callable[[Sequence[str]], "subprocess.Popen[str]"]


def captures(kernel: Any) -> str:
    """Return "true" or "false" if ipykernel captures native output here or not, or "unknown".

    The result is an argument of `explain/doctor/light.py`.
    """
    capture_setting = getattr(getattr(kernel, "parent", None), "capture_fd_output", None)
    return str(capture_setting).lower() if isinstance(capture_setting, bool) else "unknown"


def start(command: Sequence[str]) -> subprocess.Popen[str]:
    """Start a process whose two outputs are read and which does not get the kernel's interrupts."""
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=pipe,
        stderr=pipe,
        text=True,
        encoding="utf-8",
        start_new_session=True,
    )


class DoctorLight:
    """The doctor of this kernel's sidebar; `captures` returns an argument of `explain/doctor/light.py`."""

    def __init__(
        self, captures: Callable[[], str], push: Callable[[dict[str, Any]], None], start: Start = start
    ) -> None:
        self._captures = captures
        self._push = push
        self._start = start
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._stopped = False
        self._asking = False
        self._diagnosis: LightDiagnosis | None = None
        self._problem: Sentence | None = None

    def state(self) -> DoctorData:
        """Return if a consultation is running, and the result of the last one."""
        problem: Any = None if self._problem is None else self._problem.to_json()
        return {"asking": self._asking, "found": self._diagnosis, "problem": problem}

    def ask(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Start a consultation unless one is running; its result is pushed as an event."""
        with self._lock:
            begin, self._asking = not self._asking, True
        if begin:
            self._tell()
            # A daemon thread, so a process that hangs does not keep the kernel from ending.
            threading.Thread(target=self._consult, name="jupyter_mlgpu doctor", daemon=True).start()
        return {"doctor": self.state()}

    def stop(self) -> None:
        """End a running consultation and push no more events."""
        with self._lock:
            self._stopped = True
            if self._process is not None:
                self._process.kill()

    def _consult(self) -> None:
        found, problem = None, None
        try:
            found = self._answer()
        except Exception as error:
            message = of_error(error)
            why = (
                message if isinstance(message, Sentence) else beginning(message or type(error).__name__, 300)
            )
            problem = say("The doctor gave no answer ({why}). Run `%mlc_doctor` in a cell.", why=why)
        self._diagnosis, self._problem, self._asking = found, problem, False
        self._tell()

    def _answer(self) -> LightDiagnosis:
        command = [sys.executable, "-P", "-m", "jupyter_mlgpu.explain.doctor.light", self._captures()]
        with self._lock:
            if self._stopped:
                raise RuntimeError(say("the extension was unloaded"))
            self._process = self._start(command)
        with self._process as process:
            try:
                answer, complaint = process.communicate(timeout=PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                raise RuntimeError(say("timed out after {seconds} s", seconds=f"{PATIENCE_S:.0f}")) from None
        if process.returncode != 0:
            status = say("exit status {status}", status=str(process.returncode))
            raise RuntimeError(complaint.strip().rpartition("\n")[2] or status)
        found: LightDiagnosis = json.loads(answer)
        return found

    def _tell(self) -> None:
        if not self._stopped:
            self._push({"type": "doctor", "doctor": self.state()})
