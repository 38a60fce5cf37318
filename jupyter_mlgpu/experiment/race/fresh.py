"""Run each device's lane in a fresh process, without the notebook's state and with the other devices hidden.

This is for devices that cannot share a process (one holds all memory, or a variable that is read once selects
one), and for races in which no device may profit from another one's warm-up.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import IO

import jupyter_mlgpu
from jupyter_mlgpu.experiment.race.job import Job, JobError, News, NewsReader
from jupyter_mlgpu.experiment.race.result import Lane, Timing
from jupyter_mlgpu.experiment.race.runner import RaceProgress
from jupyter_mlgpu.measure.frameworks.base import Device
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.errors import RaceError
from jupyter_mlgpu.record.sentence import Sentence, say

#: Seconds without a report after which a process counts as hung: no run may take longer.
SILENCE_S = 1800.0

_POLL_S = 0.05
_GRACE_S = 2.0


@dataclass(eq=False, repr=False)
class FreshProcess:
    """Runs jobs, each in a process of its own.

    `on_output` gets what the process prints, as it comes, and `on_error` gets tracebacks of the user's code.
    `interpreter` is the command that runs a job; the folder of the job is appended to it.
    """

    _: KW_ONLY
    on_output: Callable[[str], None]
    on_error: Callable[[str], None]
    on_run: Callable[[RaceProgress], None] = lambda progress: None
    silence_s: float = SILENCE_S
    interpreter: Sequence[str] = (sys.executable, "-m", "jupyter_mlgpu.experiment.race.child")

    def __post_init__(self) -> None:
        #: Versions of the framework as the last process reported them.
        self.versions: Mapping[str, str] = {}

    def devices(self, framework: str) -> tuple[Device, ...]:
        """Return the devices that a framework finds in a process of its own. Raises RaceError."""
        found: list[Device] = []

        def take(news: News) -> None:
            found.extend(news.devices or ())

        ended, error = self._run_job(Job(framework, None), {}, take)
        if error is not None or not found:
            raise error or RaceError(f"A fresh process that looked for devices of {framework} {ended}.")
        return tuple(found)

    def lane(self, job: Job, device: Device, hidden: Mapping[str, str]) -> tuple[Lane, BaseException | None]:
        """Return the lane of one device, and the error that ended it, if any.

        `hidden` are environment variables that hide the other devices. A process that dies or hangs costs
        only its own lane. An error of the user's code, or an interrupt, is returned with the lane: it ends
        the race.
        """
        timings: list[Timing] = []
        lanes: list[Lane] = []
        progress: list[RaceProgress] = []

        def take(news: News) -> None:
            if news.run is not None:
                progress[:] = [replace(news.run, device=device.name)]
                self.on_run(progress[0])
            if news.timing is not None:
                timings.append(news.timing)
            if news.lane is not None:
                lanes.append(news.lane)
                self.versions = news.versions or {}

        ended, error = self._run_job(job, hidden, take)
        if lanes:
            notes = tuple(_with_device_name(note, lanes[0].device, device.name) for note in lanes[0].notes)
            return replace(lanes[0], device=device.name, notes=notes), error
        if isinstance(error, KeyboardInterrupt):
            problem = say("interrupted")
        elif error is not None:
            problem = say("ended by an error before the first run")
        elif progress and progress[0].size is not None:
            place = {"variable": job.variable or "", "size": f"{progress[0].size:,.10g}"}
            problem = say("its process {ended} at {variable} = {size}", ended=ended, **place)
        else:
            problem = say("its process {ended}", ended=ended)
        lane = Lane(device.name, device.kind, None, tuple(timings), None, problem, use_known=False)
        return lane, error

    def _run_job(
        self, job: Job, hidden: Mapping[str, str], take: Callable[[News], None]
    ) -> tuple[Sentence, BaseException | None]:
        """Run a job. Return a sentence on how its process ended, and the error that it reported."""
        errors: list[BaseException] = []

        def take_news(news: News) -> None:
            take(news)
            if news.error is not None:
                errors.append(self._error(news.error, job))

        with tempfile.TemporaryDirectory(prefix="jupyter_mlgpu_race_") as name:
            folder = Path(name)
            job.write(folder)
            reports = NewsReader(folder)
            process = subprocess.Popen(
                [*self.interpreter, name],
                env=_environment(hidden),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,  # native lines go to this process's own standard error
                start_new_session=True,  # an interrupt reaches only the notebook, which ends the process
            )
            assert process.stdout is not None
            reader = _Reader(process.stdout)
            hung = False
            try:
                hung = self._follow(process, reader, reports, take_news)
            except KeyboardInterrupt as interrupt:
                errors.append(interrupt)
            finally:
                _end(process)
                reader.finish()
                self._pass_on(reader)
            for news in reports.news():
                take_news(news)
        error = errors[0] if errors else None
        if hung:
            silence = f"{self.silence_s:,.0f}"
            return say("was ended because it reported nothing for {time} s", time=silence), error
        return _exit_sentence(process.returncode), error

    def _follow(
        self,
        process: subprocess.Popen[bytes],
        reader: _Reader,
        reports: NewsReader,
        take_news: Callable[[News], None],
    ) -> bool:
        """Pass on what the process reports until it ends. Return True if it hangs."""
        last = real_time.monotonic()
        while process.poll() is None:
            for news in reports.news():
                take_news(news)
                last = real_time.monotonic()
            if self._pass_on(reader):
                last = real_time.monotonic()
            if real_time.monotonic() - last > self.silence_s:
                return True
            real_time.sleep(_POLL_S)
        return False

    def _pass_on(self, reader: _Reader) -> bool:
        text = reader.take()
        if text:
            self.on_output(text)
        return bool(text)

    def _error(self, error: JobError, job: Job) -> RaceError:
        if error.traceback is None:
            return RaceError(error.text)
        self.on_error(error.traceback)
        hint = ""
        if error.type == "NameError":
            hint = " A fresh process has only what the cell itself and its --setup cell create."
        return RaceError(
            f"In the fresh process for {job.device} the code ended with {error.type}: {error.text}.{hint}"
        )


def hide_others(device: Device, devices: Sequence[Device]) -> tuple[str, dict[str, str]]:
    """Return the device's word in a process that sees no other GPU, and the variables for that.

    CUDA numbers the devices that CUDA_VISIBLE_DEVICES lists from 0 on, and shows none for -1; ROCm does the
    same with HIP_VISIBLE_DEVICES. Other devices are not hidden.
    """
    kinds = {"cuda": "CUDA_VISIBLE_DEVICES", "rocm": "HIP_VISIBLE_DEVICES"}
    variable = next((kinds[one.kind] for one in devices if one.kind in kinds), None)
    if variable is None:
        return device.name, {}
    if device.kind not in kinds:
        return device.name, {variable: "-1"}
    number = device.number
    visible = [one.strip() for one in os.environ.get(variable, "").split(",") if one.strip()]
    return "gpu:0", {variable: visible[number] if number < len(visible) else str(number)}


class _Reader:
    """Reads a process's output in a thread, so that the process never waits for us."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self._text = ""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        for line in self._stream:
            with self._lock:
                self._text += line.decode(errors="replace")

    def take(self) -> str:
        with self._lock:
            text, self._text = self._text, ""
        return text

    def finish(self) -> None:
        self._thread.join(_GRACE_S)
        if not self._thread.is_alive():  # else something that the process started still writes
            self._stream.close()


def _environment(more: Mapping[str, str]) -> dict[str, str]:
    """Return this process's variables, with a path on which the same package is found."""
    root = str(Path(jupyter_mlgpu.__file__).parent.parent)
    path = [one for one in (os.environ.get("PYTHONPATH"), root) if one]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path), "PYTHONUNBUFFERED": "1", **more}


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process that has not ended by itself, and all that it started."""
    if process.stdin is not None:
        process.stdin.close()
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _exit_sentence(code: int) -> Sentence:
    if code < 0:
        return say("was killed by {signal}", signal=signal.Signals(-code).name)
    return say("exited with code {code}", code=str(code))


def _with_device_name(note: Sentence, word: str, name: str) -> Sentence:
    """Return a note on a device with its name here instead of its word in the other process."""
    if note.fields.get("device") != word:
        return note
    return Sentence(note.template, {**note.fields, "device": name}, note.plural)
