"""The doctor in the sidebar: asked by a browser, answered by a process of its own.

    {"type": "doctor"} -> {"doctor": {"asking": true, "found": null, "problem": null}}

begins a consultation, on the control channel, so also while a cell runs; one at a time. When it is over, all
browsers are told by an event `{"type": "doctor", "doctor": {...}}`, in which `found` is what
`explain/doctor/light.py` prints, or `problem` the sentence that says why there is none. A snapshot holds the
same.

A process, not this one: a consultation takes a second or more of Python, which would slow the running cell.
It judges this kernel's own Python, in this kernel's environment. Nobody is asked before somebody asks.
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

#: Seconds after which it is given up; a consultation takes one to four.
PATIENCE_S = 60.0

Start = Callable[[Sequence[str]], "subprocess.Popen[str]"]


def captures(kernel: Any) -> str:
    """Whether ipykernel captures native output in this kernel, as `explain/doctor/light.py` takes it."""
    told = getattr(getattr(kernel, "parent", None), "capture_fd_output", None)
    return str(told).lower() if isinstance(told, bool) else "unknown"


def start(command: Sequence[str]) -> subprocess.Popen[str]:
    """A process whose two outputs are read, and which hears nothing of the kernel's interrupts."""
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
    """What the doctor has said in this kernel; `captures` as `explain/doctor/light.py` takes it."""

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
        """Whether it is being asked, and what it said last."""
        problem: Any = None if self._problem is None else self._problem.to_json()
        return {"asking": self._asking, "found": self._diagnosis, "problem": problem}

    def ask(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Begin, unless it has begun; what comes of it is told by an event."""
        with self._lock:
            begin, self._asking = not self._asking, True
        if begin:
            self._tell()
            # A daemon: a process that never ends must not keep the kernel from ending.
            threading.Thread(target=self._consult, name="jupyter_mlgpu doctor", daemon=True).start()
        return {"doctor": self.state()}

    def stop(self) -> None:
        """End what is under way; nobody is told any more."""
        with self._lock:
            self._stopped = True
            if self._process is not None:
                self._process.kill()

    def _consult(self) -> None:
        found, problem = None, None
        try:
            found = self._answer()
        except Exception as error:
            said = of_error(error)
            why = said if isinstance(said, Sentence) else beginning(said or type(error).__name__, 300)
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
