"""A process with a student's code, controlled from outside: started in a sandbox, asked, watched and ended.

Its answers are untrusted data. A late or invalid answer ends the process.
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

#: Seconds within which a process has to start, and seconds between two checks of its limits.
_TO_BEGIN = 120.0
_BETWEEN_LOOKS = 0.2
#: Seconds within which all killed processes have to be gone, and seconds between two checks.
_TO_END = 10.0
_BETWEEN_LOOKS_AT_THE_END = 0.01
#: Seconds within which all processes of a sandbox have to be paused, and CPU seconds that they may use while
#: paused.
_TO_STOP, _STILL = 5.0, 0.03
#: Most calls of the grader's functions in one question, because each call costs the grader time, too.
_MOST_CALLS_BACK = 1_000_000


class StudentProcess:
    """A sandbox worker process. `now` is the clock by which its answers are due.

    Raises GradingError with the reason as soon as the process cannot answer; the process has ended then.
    """

    def __init__(self, sandbox: Sandbox, limits: Limits, now: Callable[[], float] = time.monotonic) -> None:
        self._sandbox, self._limits, self._now = sandbox, limits, now
        self._owner = threading.current_thread()
        self._why: str | None = None
        self._killed = False
        self._limited_by_kernel = False
        self._kills_before = cgroup.count_kills()
        self._one_at_a_time = threading.Lock()
        self._family: list[psutil.Process] = []
        self._at_begin: list[psutil.Process] = []
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115  (open until the process ends)
        self._folder = tempfile.TemporaryDirectory(prefix="mlgpu-student-")
        words = [sys.executable, "-m", "jupyter_mlgpu.teach.grading.sandbox_worker", limits.as_json()]
        self._channel = Channel(self._lost, now)
        apart = sandbox.command(words, Path(self._folder.name), limits.files)
        try:
            self._process = subprocess.Popen(
                cgroup.in_group(apart, limits),
                cwd=self._folder.name,
                stdin=self._channel.theirs.fileno(),
                stdout=self._channel.theirs.fileno(),
                stderr=self._stderr,
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
        """Return the answer to a question within `seconds`; `call_back` answers the worker's own calls.

        Raises CrossingError if the question is too large; the process continues then.
        """
        line = codec.pack(question)
        deadline = self._now() + seconds
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
        except BaseException:  # the test's time was over, or somebody pressed Ctrl-C
            self.end("A test was given up while the student's code ran.")
            raise

    def begin(self, files: dict[str, str]) -> None:
        """Send the files beside the notebook; no student's code has run before this."""
        self.ask({"do": "files", "files": files})
        self._channel.find_worker(lambda: [one.pid for one in self._members()])
        self._at_begin = self._members()
        self._limited_by_kernel = cgroup.limits_memory(self._process.pid, self._limits)
        self._begun = True

    def _lost(self) -> str | None:
        return None if self._process.poll() is None else self._reason()

    def _reason(self) -> str:
        """Return a sentence on why the process has ended."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        if self._why is not None:
            return self._why
        if self._limited_by_kernel and cgroup.ended_for_memory(self._process.returncode, self._kills_before):
            return self._too_much_memory()
        self._stderr.seek(0)
        last = self._stderr.read(2000).decode(errors="replace").strip().splitlines()
        return f"Its process ended{f': {last[-1]}' if last else ' by itself.'}"

    def peak(self, work: Callable[[], Any]) -> float:
        """Return the peak memory in bytes, sampled every few milliseconds while `work` runs."""
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
        """Return the bytes in use; with `known`, only those of the processes found last time."""
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
        """End the process if it exceeds its limits, or left too many processes after a cell."""
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
        """Pause all processes in the sandbox; those that were stopped before stay stopped afterwards.

        Raises GradingError and ends everything if a process cannot be paused.
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
        """The reason given when it was ended from outside, if it was."""
        return self._why

    def end(self, why: str | None = None) -> None:
        """End the process and all that it started; `why` becomes the reason of later errors."""
        self._why = self._why or why
        self._ended.set()
        with self._one_at_a_time:  # a second thread waits, too, before it starts the next process
            if not self._killed:  # only once: its process id may be reused afterwards
                self._killed = True
                self._kill()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_TO_END)
        if threading.current_thread() is self._owner:  # others may be in the middle of a question
            self._channel.close()
            self._stderr.close()
            with suppress(OSError):
                self._folder.cleanup()

    def _kill(self) -> None:
        """Kill all processes and wait until they are gone, because they use memory of the next one.

        If the outermost process has ended already, its children cannot be found. A sandbox's own first
        process, which exists from the beginning, ends after all others in it.
        """
        members = {*self._at_begin, *self._members()}
        with suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
        for one in members:
            # Some left the process group, and not every sandbox ends them with its first process.
            with suppress(psutil.Error):
                one.kill()
        rest = [one for one in members if one.pid != self._process.pid]
        late = time.monotonic() + _TO_END
        while not all(map(_gone, rest)) and time.monotonic() < late:
            time.sleep(_BETWEEN_LOOKS_AT_THE_END)

    @property
    def ended(self) -> bool:
        """True if the process can no longer be asked."""
        return self._ended.is_set() or self._process.poll() is not None


def _tasks(processes: list[psutil.Process]) -> int:
    """Return the number of processes and threads, as the kernel counts them."""
    total = 0
    for one in processes:
        with suppress(psutil.Error):
            total += int(one.num_threads())
    return total


def _processor_times(processes: list[psutil.Process]) -> dict[psutil.Process, float]:
    """Return the CPU seconds of each process so far."""
    found = {}
    for one in processes:
        with suppress(psutil.Error):
            times = one.cpu_times()
            found[one] = times.user + times.system
    return found


def _went_on(before: dict[psutil.Process, float], after: dict[psutil.Process, float]) -> bool:
    """Return True if paused processes have computed or ended; a kernel timer, for example, can wake them."""
    return before.keys() != after.keys() or sum(after.values()) - sum(before.values()) > _STILL


def _runs(process: psutil.Process) -> bool:
    """Return True if a process has neither been stopped nor ended."""
    try:
        return process.status() != psutil.STATUS_STOPPED and not _gone(process)
    except psutil.Error:
        return False


def _gone(process: psutil.Process) -> bool:
    """Return True if a process has ended, even if its exit status has not been collected.

    A process whose main thread alone has ended has the same status, but other threads.
    """
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE and process.num_threads() <= 1)
    except psutil.Error:
        return True
