"""`%%mlc_race --fresh`: the cell handed to a process of its own for each device."""

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
    asked: RaceOptions, title: str, body: str, setup: str | None, framework: str, shell: Any, note: Sentence
) -> FinishedRace:
    """The race in fresh processes: nothing of the framework starts in this one. The record gets `note`."""
    code = _plain(body, shell, "The cell")
    setup_code = None if setup is None else _plain(setup, shell, "The --setup cell")
    line = ProgressLine(shell)
    processes = fresh.FreshProcess(
        on_output=lambda text: print(text, end="", flush=True),
        on_error=lambda text: print(text, end="", file=sys.stderr, flush=True),
        on_run=lambda run: line.say(page.progress(run, asked.variable)),
    )
    try:
        line.say(say("Race: looking for devices in a fresh process"))
        backend = registry.backend(framework)
        known = backend.loaded() and backend.started()
        there = backend.devices() if known else processes.devices(framework)
        devices = _devices(asked, there, framework)
        alone = [racing.why_alone(asked, backend, devices, there)] if len(devices) == 1 else []

        def lane(device: Device) -> Any:
            line.say(say("Race: {device}, starting a fresh process", device=device.name))
            word, variables = fresh.hide_others(device, there)
            job = Job(framework, word, code, setup_code, asked.variable, asked.sizes, asked.repeats)
            return processes.lane(job, device, variables)

        runtime.current().recorder.add_note(note)
        return racing.race(
            asked,
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


def _devices(asked: RaceOptions, there: tuple[Device, ...], framework: str) -> list[Device]:
    """The devices asked for. With a setup cell, one that is missing may still be made by it."""
    if asked.setup is None:
        return racing.devices_for(asked.devices, there)
    known = [device.name for device in there]
    made = [word for word in asked.devices if word.number is not None and str(word) not in known]
    later = tuple(Device(framework, str(word), word.kind, str(word)) for word in made)
    return racing.devices_for(asked.devices, (*there, *later))


def _plain(source: str, shell: Any, what: str) -> str:
    """The code as Python; raises UsageError for what only a notebook can run, and SyntaxError."""
    code = str(shell.transform_cell(source))
    if "get_ipython()" in code:
        raise UsageError(
            f"{what} has a magic, a !command or get_ipython(), which does not work in a fresh process. "
            "Leave it out, or race without --fresh. Nothing was run."
        )
    cell.from_source(code, "<cell>")
    return code
