"""A fresh process for each device: nothing of the notebook is in it, and the other devices are hidden.

For devices that cannot share a process (one holds all memory, or a variable that is read once decides
between them), and for who wants no device to profit from what another one warmed up.
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
from jupyter_mlgpu.experiment.race.job import Job, JobError, Listener, News
from jupyter_mlgpu.experiment.race.result import Lane, Timing
from jupyter_mlgpu.experiment.race.runner import RaceProgress
from jupyter_mlgpu.measure.frameworks.base import Device
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.errors import RaceError
from jupyter_mlgpu.record.sentence import Sentence, say

#: A process that has told nothing for so many seconds is taken to hang: no run may take longer.
SILENCE_S = 1800.0

_POLL_S = 0.05
_GRACE_S = 2.0


@dataclass(eq=False, repr=False)
class FreshProcess:
    """Runs jobs, each in a process of its own.

    `on_output` gets what the process prints, as it comes, `on_error` tracebacks of the user's code.
    `interpreter` is the command that does a job; the folder of the job is added to it.
    """

    _: KW_ONLY
    on_output: Callable[[str], None]
    on_error: Callable[[str], None]
    on_run: Callable[[RaceProgress], None] = lambda progress: None
    silence_s: float = SILENCE_S
    interpreter: Sequence[str] = (sys.executable, "-m", "jupyter_mlgpu.experiment.race.child")

    def __post_init__(self) -> None:
        #: Versions of the framework as the last process told them.
        self.versions: Mapping[str, str] = {}

    def devices(self, framework: str) -> tuple[Device, ...]:
        """The devices that a framework finds in a process of its own. Raises RaceError."""
        found: list[Device] = []

        def take(news: News) -> None:
            found.extend(news.devices or ())

        ended, error = self._do(Job(framework, None), {}, take)
        if error is not None or not found:
            raise error or RaceError(f"A fresh process that looked for devices of {framework} {ended}.")
        return tuple(found)

    def lane(self, job: Job, device: Device, hidden: Mapping[str, str]) -> tuple[Lane, BaseException | None]:
        """The lane of one device; `hidden` are the variables that hide the others.

        A process that dies or hangs costs only its own lane. An error of the user's code, or an interrupt,
        comes back beside the lane: it ends the race.
        """
        timings: list[Timing] = []
        told: list[Lane] = []
        at: list[RaceProgress] = []

        def take(news: News) -> None:
            if news.run is not None:
                at[:] = [replace(news.run, device=device.name)]
                self.on_run(at[0])
            if news.timing is not None:
                timings.append(news.timing)
            if news.lane is not None:
                told.append(news.lane)
                self.versions = news.versions or {}

        ended, error = self._do(job, hidden, take)
        if told:
            notes = tuple(_renamed(note, told[0].device, device.name) for note in told[0].notes)
            return replace(told[0], device=device.name, notes=notes), error
        if isinstance(error, KeyboardInterrupt):
            problem = say("interrupted")
        elif error is not None:
            problem = say("ended by an error before the first run")
        elif at and at[0].size is not None:
            place = {"variable": job.variable or "", "size": f"{at[0].size:,.10g}"}
            problem = say("its process {ended} at {variable} = {size}", ended=ended, **place)
        else:
            problem = say("its process {ended}", ended=ended)
        lane = Lane(device.name, device.kind, None, tuple(timings), None, problem, use_known=False)
        return lane, error

    def _do(
        self, job: Job, hidden: Mapping[str, str], take: Callable[[News], None]
    ) -> tuple[Sentence, BaseException | None]:
        """Do a job: how its process ended, in words, and the error that it told."""
        errors: list[BaseException] = []

        def heard(news: News) -> None:
            take(news)
            if news.error is not None:
                errors.append(self._error(news.error, job))

        with tempfile.TemporaryDirectory(prefix="jupyter_mlgpu_race_") as name:
            folder = Path(name)
            job.write(folder)
            listener = Listener(folder)
            process = subprocess.Popen(
                [*self.interpreter, name],
                env=_environment(hidden),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,  # native lines go where this process's go
                start_new_session=True,  # an interrupt is the notebook's; it ends the process itself
            )
            assert process.stdout is not None
            reader = _Reader(process.stdout)
            hung = False
            try:
                hung = self._follow(process, reader, listener, heard)
            except KeyboardInterrupt as interrupt:
                errors.append(interrupt)
            finally:
                _end(process)
                reader.finish()
                self._pass_on(reader)
            for news in listener.news():
                heard(news)
        error = errors[0] if errors else None
        if hung:
            silence = f"{self.silence_s:,.0f}"
            return say("was ended because it reported nothing for {time} s", time=silence), error
        return _ended(process.returncode), error

    def _follow(
        self,
        process: subprocess.Popen[bytes],
        reader: _Reader,
        listener: Listener,
        heard: Callable[[News], None],
    ) -> bool:
        """Pass on what the process says until it ends; True where it says nothing for too long."""
        last = real_time.monotonic()
        while process.poll() is None:
            for news in listener.news():
                heard(news)
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

    def _error(self, told: JobError, job: Job) -> RaceError:
        if told.traceback is None:
            return RaceError(told.text)
        self.on_error(told.traceback)
        hint = ""
        if told.type == "NameError":
            hint = " A fresh process has only what the cell itself and its --setup cell create."
        return RaceError(
            f"In the fresh process for {job.device} the code ended with {told.type}: {told.text}.{hint}"
        )


def hidden(device: Device, devices: Sequence[Device]) -> tuple[str, dict[str, str]]:
    """The device's word in a process where CUDA or ROCm shows it no other, and the variables for that.

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
    """Reads a process's output in a thread, so that it never waits for us."""

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
    """This process's variables; the package is found where this one found it."""
    root = str(Path(jupyter_mlgpu.__file__).parent.parent)
    path = [one for one in (os.environ.get("PYTHONPATH"), root) if one]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path), "PYTHONUNBUFFERED": "1", **more}


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process that has not ended by itself, and what it started."""
    if process.stdin is not None:
        process.stdin.close()
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _ended(code: int) -> Sentence:
    if code < 0:
        return say("was killed by {signal}", signal=signal.Signals(-code).name)
    return say("exited with code {code}", code=str(code))


def _renamed(note: Sentence, word: str, name: str) -> Sentence:
    """A note on a device by its word in another process, with its name here."""
    if note.fields.get("device") != word:
        return note
    return Sentence(note.template, {**note.fields, "device": name}, note.plural)
