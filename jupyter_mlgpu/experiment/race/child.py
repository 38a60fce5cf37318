"""A lane in its own process: `python -m jupyter_mlgpu.experiment.race.child FOLDER` runs the job there.

What the cell prints goes to this process's own output. The process ends when its standard input is closed,
because then the notebook that started it is gone.
"""

from __future__ import annotations

import os
import sys
import threading
import traceback
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from jupyter_mlgpu.experiment.race import cell
from jupyter_mlgpu.experiment.race.job import Job, JobError, News, NewsWriter
from jupyter_mlgpu.experiment.race.runner import RaceProgress, RaceRunner
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.base import Backend, Device
from jupyter_mlgpu.measure.frameworks.imports import ImportHook
from jupyter_mlgpu.measure.selection import DeviceSelection
from jupyter_mlgpu.record.clock import SystemClock, real_time
from jupyter_mlgpu.record.device_request import DeviceWord
from jupyter_mlgpu.record.errors import DeviceError, MlgpuError
from jupyter_mlgpu.record.sentence import Sentence, say

#: The file names of the cells in tracebacks.
BODY, SETUP = "<cell>", "<setup cell>"

#: Seconds between two reports of progress, at least.
INTERVAL_S = 0.5


def main(folder: Path) -> None:
    """Run the job in a folder and report its result."""
    writer = NewsWriter(folder)
    try:
        job = Job.read(folder)
        if job.device is None:
            devices = registry.import_framework(job.framework).find_devices()
            writer.write(News(devices=tuple(devices)))
        else:
            _run(job, DeviceWord.parse(job.device), writer)
    except BaseException as error:
        # The notebook reports the error; this process ends.
        writer.write(News(error=_job_error(error)))
        sys.exit(1)


def _run(job: Job, word: DeviceWord, writer: NewsWriter) -> None:
    setup = None if job.setup is None else cell.from_source(job.setup, SETUP)
    body = cell.from_source(job.body, BODY)
    plain_cell = cell.PlainCell(body, setup=None, variable=job.variable)
    backend, device, notes = _prepare(job.framework, word, setup, plain_cell)
    runner = RaceRunner(
        backend,
        plain_cell,
        sizes=job.sizes,
        repeats=job.repeats,
        clock=SystemClock(),
        on_run=_ProgressWriter(writer).write,
        on_timing=lambda timing: writer.write(News(timing=timing)),
    )
    lane, error = runner.lane(device)
    lane = replace(lane, notes=(*lane.notes, *notes))
    writer.write(News(lane=lane, versions=backend.versions()))
    if error is not None:
        raise error


def _prepare(
    framework: str, word: DeviceWord, setup: cell.CompiledCell | None, plain_cell: cell.PlainCell
) -> tuple[Backend, Device, list[Sentence]]:
    """Run the setup cell on the device, as soon as the device is available.

    The setup cell itself may import the framework. Return the backend, the device and notes.
    """
    selection = DeviceSelection(registry.loaded)
    selection.select(word)
    notes: list[Sentence] = []

    def imported(module: str) -> None:
        with suppress(
            DeviceError
        ):  # the setup cell may still create it; otherwise the search at the end fails
            selection.framework_loaded(registry.backend(registry.MODULES[module]))
        if setup is not None and registry.MODULES[module] == framework and not selection.devices():
            notes.append(
                say(
                    "{device}: this device was not available yet when the framework was "
                    "imported, so what the setup cell created is where the framework put it.",
                    device=str(word),
                )
            )

    watch = ImportHook(registry.MODULES, imported)
    watch.start()
    selection.enter()
    try:
        if setup is not None:
            setup.run(plain_cell.namespace)
        backend = registry.import_framework(framework)
    finally:
        watch.stop()
        selection.leave()
    return backend, word.find(backend.find_devices(), " in a fresh process"), notes


class _ProgressWriter:
    """Reports each warm-up, and runs now and then: writing a file disturbs what is timed."""

    def __init__(self, writer: NewsWriter) -> None:
        self._writer = writer
        self._last = 0.0

    def write(self, run: RaceProgress) -> None:
        now = real_time.monotonic()
        if run.number == 0 or now - self._last >= INTERVAL_S:
            self._last = now
            self._writer.write(News(run=run))


def _job_error(error: BaseException) -> JobError:
    kind = type(error)
    ours = isinstance(error, MlgpuError)
    # Start the traceback at the user's own code; if none of the frames is in it, keep all.
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename not in (BODY, SETUP):
        frames = frames.tb_next
    lines = traceback.format_exception(kind, error, frames or error.__traceback__)
    return JobError(kind.__name__, str(error), None if ours else "".join(lines))


def _end_with_the_notebook() -> None:
    """End with the notebook by watching standard input, and give the user's code an empty one."""
    lifeline = os.dup(0)
    sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115 - for as long as the process lives

    def watch() -> None:
        os.read(lifeline, 1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


if __name__ == "__main__":
    _end_with_the_notebook()
    main(Path(sys.argv[1]))
