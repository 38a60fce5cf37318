"""`%%mlc_race`: the words and the cell, handed to the race; then its chart and its table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from IPython.display import display

from jupyter_mlgpu.experiment.race import options, racing
from jupyter_mlgpu.experiment.race.options import RaceOptions
from jupyter_mlgpu.experiment.race.racing import FinishedRace
from jupyter_mlgpu.experiment.race.result import RaceResult
from jupyter_mlgpu.experiment.race.runner import RaceRunner
from jupyter_mlgpu.jupyter.notebook.magics.progress import ProgressLine
from jupyter_mlgpu.jupyter.notebook.magics.race_cell import NotebookCell, setup_source
from jupyter_mlgpu.measure import runtime
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.base import Backend, Observed
from jupyter_mlgpu.record.clock import SystemClock
from jupyter_mlgpu.record.errors import RecordError, UsageError
from jupyter_mlgpu.record.redact import beginning
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.record.stderr import say_on_stderr
from jupyter_mlgpu.record.visible import visible_line
from jupyter_mlgpu.record.words import unknown
from jupyter_mlgpu.show.race import page

NOTE = say("This cell is a race: its time covers all runs together.")
UNWATCHED = say(
    "In a race, only the first run on each device is monitored, because monitoring takes "
    "time; see the race's own table for its runs."
)


def race_command(line: str, body: str, shell: Any) -> RaceResult:
    """`%%mlc_race LINE` over a cell: shows the chart, returns the result.

    Raises our errors before anything has run. An exception of the cell's own, and an interrupt, come out
    of it as they are, after what was measured until then was shown.
    """
    asked = options.parse(line)
    if not body.strip():
        raise UsageError(say("Nothing to race: write the code below the %%mlc_race line."))
    if runtime.current().recorder.profiling():
        raise UsageError(say("A profiler would change the race's times: leave out --ops. Nothing was run."))
    setup = setup_source(asked.setup, shell)
    loaded = registry.loaded()
    # TensorFlow imports JAX where that is installed: what nobody has used yet counts only by itself.
    used = [one for one in loaded if one.started()] or loaded
    name = racing.framework_of(asked.framework, [one.name for one in used])
    if name not in registry.FRAMEWORKS:
        raise UsageError(unknown(say("framework"), name, registry.FRAMEWORKS, "--framework"))
    if asked.fresh:
        from jupyter_mlgpu.jupyter.notebook.magics.race_fresh import fresh_race

        finished = fresh_race(asked, title(body), body, setup, name, shell, NOTE)
    else:
        finished = _here(asked, body, setup, _imported(name), shell)
    return _shown(finished, asked)


def title(body: str) -> str:
    """The first line of code, without what it tells of the user's machine; `…` stands for more lines."""
    lines = [line.strip() for line in body.splitlines() if line.strip()]
    code = [line for line in lines if not line.startswith("#")] or lines
    return beginning(code[0] if len(code) == 1 else f"{code[0]} …")


def _imported(name: str) -> Backend:
    backend = registry.backend(name)
    if not backend.loaded():
        print(f"Importing {registry.title(name)}…", flush=True)
        registry.import_framework(name)
    return backend


def _here(asked: RaceOptions, body: str, setup: str | None, backend: Backend, shell: Any) -> FinishedRace:
    """The race in this process."""
    there = backend.find_devices()
    devices = racing.devices_for(asked.devices, there)
    alone = [racing.why_alone(asked, backend, devices, there)] if len(devices) == 1 else []
    cell = NotebookCell(shell, body, setup=setup, variable=asked.variable)
    clock = SystemClock()
    line = ProgressLine(shell)
    first_runs: list[Observed] = []
    runner = RaceRunner(
        backend,
        cell,
        sizes=asked.sizes,
        repeats=asked.repeats,
        clock=clock,
        on_run=lambda run: line.say(page.progress(run, asked.variable)),
        on_observed=first_runs.append,
    )
    recorder = runtime.current().recorder
    recorder.stop_observing(UNWATCHED)
    recorder.add_note(NOTE)
    try:
        with cell.guarded():
            finished = racing.race(
                asked,
                title(body),
                backend.name,
                devices,
                runner.lane,
                clock=clock,
                versions=backend.versions,
                notes=alone,
            )
    finally:
        line.clear()
        recorder.set_observed(backend.name, racing.combined_observation(first_runs, UNWATCHED))
    if finished.error is not None:
        cell.show_own_traceback(finished.error)
    elif cell.interrupted:  # while the last run ended: nothing is missing, and the interrupt goes on
        return FinishedRace(finished.result, KeyboardInterrupt())
    return finished


def _shown(finished: FinishedRace, asked: RaceOptions) -> RaceResult:
    result = finished.result
    if any(lane.timings for lane in result.lanes):
        if finished.error is not None:
            display(result)  # type: ignore[no-untyped-call]
        if asked.save is not None:
            _save(result, asked.save)
    if finished.error is not None:
        raise finished.error
    return result


def _save(result: RaceResult, path: Path) -> None:
    """Saves what was asked for; a file that cannot be written does not cost the result."""
    try:
        chart = result.save(path)
    except RecordError as error:
        say_on_stderr(f"The race was not saved: {error}")
    else:
        print(f"Saved the race to {visible_line(path)}, and its chart to {visible_line(chart)}.")
