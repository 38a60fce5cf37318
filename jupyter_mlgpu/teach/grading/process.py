"""One process with a student's code, seen from outside: started in a sandbox, asked, watched, and ended.

What it answers is data from a stranger. An answer that does not come in time, or is none, ends the process.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

from jupyter_mlgpu.record.errors import CrossingError, GradingError, SandboxError
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.grading import cgroup, codec, memory
from jupyter_mlgpu.teach.grading.channel import Channel
from jupyter_mlgpu.teach.grading.limits import Limits
from jupyter_mlgpu.teach.grading.sandbox import Sandbox

#: Seconds for a process to begin, and between two looks at what it takes.
_TO_BEGIN = 120.0
_BETWEEN_LOOKS = 0.2
#: Seconds for a process and all that it started to be gone once they are killed, and between two looks at it.
_TO_END = 10.0
_BETWEEN_LOOKS_AT_THE_END = 0.01
#: Seconds for all processes of a sandbox to stand still, and that those may compute which do.
_TO_STOP, _STILL = 5.0, 0.03
#: A function of the grader's may be called so often in one question: each call costs the grader, too.
_MOST_CALLS_BACK = 1_000_000


class StudentProcess:
    """Raises GradingError, saying why, as soon as the process can no longer be asked; then it has ended."""

    def __init__(self, sandbox: Sandbox, limits: Limits) -> None:
        self._sandbox, self._limits = sandbox, limits
        self._why: str | None = None
        self._killed = False
        self._limited_by_kernel = False
        self._kills_before = cgroup.kills()
        self._one_at_a_time = threading.Lock()
        self._family: list[psutil.Process] = []
        self._at_begin: list[psutil.Process] = []
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  (open until the process ends)
        self._folder = tempfile.TemporaryDirectory(prefix="mlgpu-student-")
        words = [sys.executable, "-m", "jupyter_mlgpu.teach.grading.sandbox_worker", limits.as_json()]
        self._channel = Channel(self._lost)
        apart = sandbox.command(words, Path(self._folder.name), limits.files)
        try:
            self._process = subprocess.Popen(
                cgroup.in_group(apart, limits),
                cwd=self._folder.name,
                stdin=self._channel.theirs.fileno(),
                stdout=self._channel.theirs.fileno(),
                stderr=self._said,
                start_new_session=True,
            )
        except OSError as error:
            self._channel.close()
            raise SandboxError(f"{sandbox.name} cannot be started ({error.strerror or error}).") from error
        self._channel.theirs.close()
        self._begun = False
        self._ended = threading.Event()
        self._watch = threading.Thread(target=self._sample, name="mlgpu-grading", daemon=True)
        self._watch.start()

    def ask(
        self,
        question: dict[str, Any],
        seconds: float = _TO_BEGIN,
        call_back: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
    ) -> dict[str, Any]:
        """The answer to a question, within that many seconds; `call_back` answers what is asked meanwhile.

        Raises CrossingError for a question that is too large, which ends nothing.
        """
        line = codec.pack(question)
        deadline = time.monotonic() + seconds
        try:
            for _ in range(_MOST_CALLS_BACK):
                answer = self._channel.ask(line, deadline)
                if "call_back" not in answer or call_back is None:
                    if self._begun:
                        self._channel.await_worker(deadline)
                    return answer
                line = codec.pack(call_back(answer))
            raise GradingError("It called a function of the test endlessly.")
        except CrossingError as error:
            self.end(f"What it answered is no answer. {error}")
            raise GradingError(str(self._why)) from None
        except GradingError as error:
            self.end(str(error))
            raise GradingError(str(self._why)) from None
        except BaseException:  # the test's own time was over, or somebody pressed Ctrl-C
            self.end("A test was given up while the student's code ran.")
            raise

    def begin(self, files: dict[str, str]) -> None:
        """Give it the files beside the notebook; no code of the student's has run before."""
        self.ask({"do": "files", "files": files})
        self._channel.find_worker(lambda: [one.pid for one in self._members()])
        self._at_begin = self._members()
        self._limited_by_kernel = cgroup.holds(self._process.pid, self._limits)
        self._begun = True

    def _lost(self) -> str | None:
        return None if self._process.poll() is None else self._reason()

    def _reason(self) -> str:
        """Why the process is no more, in a sentence."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        if self._why is not None:
            return self._why
        if self._limited_by_kernel and cgroup.ended_for_memory(self._process.returncode, self._kills_before):
            return self._too_much_memory()
        self._said.seek(0)
        last = self._said.read(2000).decode(errors="replace").strip().splitlines()
        return f"Its process ended{f': {last[-1]}' if last else ' by itself.'}"

    def peak(self, work: Callable[[], Any]) -> float:
        """The most memory in use, in bytes, that looks every few milliseconds saw while `work` went on."""
        most = self._memory()
        over = threading.Event()

        def sample() -> None:
            nonlocal most
            while not over.wait(0.003):
                most = max(most, self._memory(known=True))

        samples = threading.Thread(target=sample, daemon=True)
        samples.start()
        try:
            work()
        finally:
            over.set()
            samples.join()
        return float(most)

    def _memory(self, known: bool = False) -> int:
        """Bytes that it holds; `known`: in those processes alone that were seen before."""
        if not known:
            self._family = self._members()
        return memory.resident(self._family) + self._in_folders()

    def _in_folders(self) -> int:
        return memory.in_folders(self._channel.worker, self._sandbox.in_memory)

    def _members(self) -> list[psutil.Process]:
        try:
            first = psutil.Process(self._process.pid)
            return [first, *first.children(recursive=True)]
        except psutil.Error:
            return []

    def _sample(self) -> None:
        while not self._ended.wait(_BETWEEN_LOOKS):
            self.hold_to_limits()

    def hold_to_limits(self, cell_is_over: bool = False) -> None:
        """End the process where it has taken more than its limits, or left too much behind after a cell."""
        members = self._members()
        if cell_is_over and _tasks(members) > self._limits.left_running:
            self.end(
                say(
                    "A cell left more than {most} processes and threads running, so all of them were ended.",
                    most=self._limits.left_running,
                )
            )
        elif len(members) > self._limits.processes:
            self.end(f"It started more than {self._limits.processes} processes, and was ended.")
        elif self._takes_too_much(members):
            self.end(self._too_much_memory())

    def _too_much_memory(self) -> str:
        size = f"{self._limits.memory / 1e9:.1f}"
        return say("It took more than {size} GB of memory, and was ended.", size=size)

    def _takes_too_much(self, members: list[psutil.Process]) -> bool:
        left = self._limits.memory - memory.shared(members) - self._in_folders()
        return memory.resident(members) > left and memory.proportional(members) > left

    @contextmanager
    def paused(self) -> Iterator[None]:
        """A block in which nothing in the sandbox runs; what was stopped before stays stopped afterwards.

        Raises GradingError, and ends everything, where something cannot be stopped.
        """
        stopped: list[psutil.Process] = []
        try:
            late = time.monotonic() + _TO_STOP
            while running := [one for one in self._members() if _runs(one)]:
                if time.monotonic() > late:
                    self.end(say("It left processes running that could not be paused, so they were ended."))
                    raise GradingError(str(self._why))
                for one in running:
                    with suppress(psutil.Error):
                        one.suspend()
                stopped += [one for one in running if one not in stopped]
                time.sleep(_BETWEEN_LOOKS_AT_THE_END)
            before = _processor_times(self._members())
            yield
            if _went_on(before, _processor_times(self._members())):
                self.end(say("It kept processes running while they were to stand still, so they were ended."))
                raise GradingError(str(self._why))
        finally:
            for one in stopped:
                with suppress(psutil.Error):
                    one.resume()

    @property
    def why_ended(self) -> str | None:
        """What ended it from outside, if something did."""
        return self._why

    def end(self, why: str | None = None) -> None:
        """End the process and all that it started; `why` is what who asks later is told."""
        self._why = self._why or why
        self._ended.set()
        with self._one_at_a_time:  # a second thread waits, too, before it starts the next process
            if not self._killed:  # once: its number may be another's afterwards
                self._killed = True
                self._kill()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_TO_END)
        if threading.current_thread() is not self._watch:
            self._channel.close()
            self._said.close()
            with suppress(OSError):
                self._folder.cleanup()

    def _kill(self) -> None:
        """Kill them all, and wait until they are gone: what still ends takes room from the next process.

        Where the outermost process has ended already, its children are not found any more. A sandbox's own
        first process, which was there at the beginning, ends after all others in it.
        """
        members = {*self._at_begin, *self._members()}
        with suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
        for one in members:  # those that left the group, where no sandbox ends them with its first process
            with suppress(psutil.Error):
                one.kill()
        rest = [one for one in members if one.pid != self._process.pid]
        late = time.monotonic() + _TO_END
        while not all(map(_gone, rest)) and time.monotonic() < late:
            time.sleep(_BETWEEN_LOOKS_AT_THE_END)

    @property
    def ended(self) -> bool:
        """Whether it can no longer be asked."""
        return self._ended.is_set() or self._process.poll() is not None


def _tasks(processes: list[psutil.Process]) -> int:
    """Processes and threads together, as the kernel counts them."""
    total = 0
    for one in processes:
        with suppress(psutil.Error):
            total += int(one.num_threads())
    return total


def _processor_times(processes: list[psutil.Process]) -> dict[psutil.Process, float]:
    """Seconds that each has computed so far."""
    found = {}
    for one in processes:
        with suppress(psutil.Error):
            times = one.cpu_times()
            found[one] = times.user + times.system
    return found


def _went_on(before: dict[psutil.Process, float], after: dict[psutil.Process, float]) -> bool:
    """Return whether stopped processes have computed or ended; a kernel timer, for one, can wake them."""
    return before.keys() != after.keys() or sum(after.values()) - sum(before.values()) > _STILL


def _runs(process: psutil.Process) -> bool:
    """Return whether a process has neither been stopped nor ended."""
    try:
        return process.status() != psutil.STATUS_STOPPED and not _gone(process)
    except psutil.Error:
        return False


def _gone(process: psutil.Process) -> bool:
    """Whether a process runs no more; one that nobody has asked for its status yet does not run either.

    One whose first thread alone has ended has the same status.
    """
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE and process.num_threads() <= 1)
    except psutil.Error:
        return True
