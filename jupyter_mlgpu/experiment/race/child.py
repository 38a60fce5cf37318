"""A lane in a process of its own: `python -m jupyter_mlgpu.experiment.race.child FOLDER`, where the job lies.

What the cell prints goes to this process's own output. It ends when its standard input does, for then the
notebook that asked is gone.
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
from jupyter_mlgpu.experiment.race.job import Job, JobError, News, Teller
from jupyter_mlgpu.experiment.race.runner import RaceProgress, RaceRunner
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.base import Backend, Device
from jupyter_mlgpu.measure.frameworks.imports import ImportHook
from jupyter_mlgpu.measure.selection import DeviceSelection
from jupyter_mlgpu.record.clock import SystemClock, real_time
from jupyter_mlgpu.record.device_request import DeviceWord
from jupyter_mlgpu.record.errors import DeviceError, MlgpuError
from jupyter_mlgpu.record.sentence import Sentence, say

#: What stands for the cells in tracebacks.
BODY, SETUP = "<cell>", "<setup cell>"

#: Runs are told of no more often than this.
INTERVAL_S = 0.5


def main(folder: Path) -> None:
    """Do the job that lies in a folder, and tell what came of it."""
    teller = Teller(folder)
    try:
        job = Job.read(folder)
        if job.device is None:
            devices = registry.import_framework(job.framework).find_devices()
            teller.tell(News(devices=tuple(devices)))
        else:
            _run(job, DeviceWord.parse(job.device), teller)
    except BaseException as error:
        # The notebook tells it; here it is the end.
        teller.tell(News(error=_told(error)))
        sys.exit(1)


def _run(job: Job, word: DeviceWord, teller: Teller) -> None:
    setup = None if job.setup is None else cell.from_source(job.setup, SETUP)
    body = cell.from_source(job.body, BODY)
    plain_cell = cell.PlainCell(body, setup=None, variable=job.variable)
    backend, device, notes = _prepared(job.framework, word, setup, plain_cell)
    runner = RaceRunner(
        backend,
        plain_cell,
        sizes=job.sizes,
        repeats=job.repeats,
        clock=SystemClock(),
        on_run=_Telling(teller).tell,
        on_timing=lambda timing: teller.tell(News(timing=timing)),
    )
    lane, error = runner.lane(device)
    lane = replace(lane, notes=(*lane.notes, *notes))
    teller.tell(News(lane=lane, versions=backend.versions()))
    if error is not None:
        raise error


def _prepared(
    framework: str, word: DeviceWord, setup: cell.CompiledCell | None, plain_cell: cell.PlainCell
) -> tuple[Backend, Device, list[Sentence]]:
    """Run the setup cell, on the device as soon as it is there; the cell itself may import the framework."""
    selection = DeviceSelection(registry.loaded)
    selection.select(word)
    notes: list[Sentence] = []

    def imported(module: str) -> None:
        with suppress(DeviceError):  # the setup cell may still make it; else it is missed at the end
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


class _Telling:
    """Tells of each warm-up, and of the runs now and then: writing a file disturbs what is timed."""

    def __init__(self, teller: Teller) -> None:
        self._teller = teller
        self._last = 0.0

    def tell(self, run: RaceProgress) -> None:
        now = real_time.monotonic()
        if run.number == 0 or now - self._last >= INTERVAL_S:
            self._last = now
            self._teller.tell(News(run=run))


def _told(error: BaseException) -> JobError:
    kind = type(error)
    ours = isinstance(error, MlgpuError)
    # From the user's own code on; where it is not in there, all of it.
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename not in (BODY, SETUP):
        frames = frames.tb_next
    lines = traceback.format_exception(kind, error, frames or error.__traceback__)
    return JobError(kind.__name__, str(error), None if ours else "".join(lines))


def _end_with_the_notebook() -> None:
    """Watch standard input, and leave the user's code an empty one."""
    lifeline = os.dup(0)
    sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115 - for as long as the process lives

    def watch() -> None:
        os.read(lifeline, 1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


if __name__ == "__main__":
    _end_with_the_notebook()
    main(Path(sys.argv[1]))
