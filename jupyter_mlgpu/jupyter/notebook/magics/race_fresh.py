"""`%%mlc_race --fresh`: runs the cell on each device in its own process."""

from __future__ import annotations

import sys
from typing import Any

from jupyter_mlgpu.experiment.race import cell, fresh, racing
from jupyter_mlgpu.experiment.race.job import Job
from jupyter_mlgpu.experiment.race.options import RaceOptions
from jupyter_mlgpu.experiment.race.racing import FinishedRace
from jupyter_mlgpu.jupyter.notebook.magics.progress import ProgressLine
from jupyter_mlgpu.measure import runtime
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.base import Device
from jupyter_mlgpu.record.clock import SystemClock
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.sentence import Sentence, say
from jupyter_mlgpu.show.race import page


def fresh_race(
    options: RaceOptions, title: str, body: str, setup: str | None, framework: str, shell: Any, note: Sentence
) -> FinishedRace:
    """Run the race in fresh processes. No framework is started in this one. The record gets `note`."""
    code = _plain_python(body, shell, "The cell")
    setup_code = None if setup is None else _plain_python(setup, shell, "The --setup cell")
    line = ProgressLine(shell)
    processes = fresh.FreshProcess(
        on_output=lambda text: print(text, end="", flush=True),
        on_error=lambda text: print(text, end="", file=sys.stderr, flush=True),
        on_run=lambda run: line.say(page.progress(run, options.variable)),
    )
    try:
        line.say(say("Race: looking for devices in a fresh process"))
        backend = registry.backend(framework)
        known = backend.loaded() and backend.started()
        available = backend.devices() if known else processes.devices(framework)
        devices = _devices(options, available, framework)
        alone = [racing.why_alone(options, backend, devices, available)] if len(devices) == 1 else []

        def lane(device: Device) -> Any:
            line.say(say("Race: {device}, starting a fresh process", device=device.name))
            word, variables = fresh.hide_others(device, available)
            job = Job(framework, word, code, setup_code, options.variable, options.sizes, options.repeats)
            return processes.lane(job, device, variables)

        runtime.current().recorder.add_note(note)
        return racing.race(
            options,
            title,
            framework,
            devices,
            lane,
            clock=SystemClock(),
            versions=lambda: processes.versions,
            notes=alone,
        )
    finally:
        line.clear()


def _devices(options: RaceOptions, available: tuple[Device, ...], framework: str) -> list[Device]:
    """Return the requested devices. If there is a setup cell, it may create a missing one."""
    if options.setup is None:
        return racing.devices_for(options.devices, available)
    known = [device.name for device in available]
    missing = [word for word in options.devices if word.number is not None and str(word) not in known]
    later = tuple(Device(framework, str(word), word.kind, str(word)) for word in missing)
    return racing.devices_for(options.devices, (*available, *later))


def _plain_python(source: str, shell: Any, what: str) -> str:
    """Return the code as Python; raises UsageError if only a notebook can run it, and SyntaxError."""
    code = str(shell.transform_cell(source))
    if "get_ipython()" in code:
        raise UsageError(
            f"{what} has a magic, a !command or get_ipython(), which does not work in a fresh process. "
            "Leave it out, or race without --fresh. Nothing was run."
        )
    cell.from_source(code, "<cell>")
    return code
