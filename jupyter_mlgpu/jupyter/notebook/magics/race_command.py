"""Implements `%%mlc_race`: runs a race between devices and returns its result."""

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
from jupyter_mlgpu.record.option_parser import unknown
from jupyter_mlgpu.record.redact import beginning
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.record.stderr import say_on_stderr
from jupyter_mlgpu.record.visible import visible_line
from jupyter_mlgpu.show.race import page

NOTE = say("This cell is a race: its time covers all runs together.")
NOT_MONITORED = say(
    "In a race, only the first run on each device is monitored, because monitoring takes "
    "time; see the race's own table for its runs."
)


def race_command(line: str, body: str, shell: Any) -> RaceResult:
    """Run the cell `body` as a race with the options in `line`, and return the result.

    IPython shows the returned result: its chart and its table. Errors of this package, such as UsageError for
    a wrong option, are raised before any code of the cell has run. If the cell raises an exception or is
    interrupted, the results so far are shown here, and then the exception is raised unchanged.
    """
    arguments = options.parse(line)
    if not body.strip():
        raise UsageError(say("Nothing to race: write the code below the %%mlc_race line."))
    if runtime.current().recorder.profiling():
        raise UsageError(
            say(
                "Profiling and checking slow code down, so a race cannot be timed meanwhile: leave out --ops "
                "or --check. Nothing was run."
            )
        )
    setup = setup_source(arguments.setup, shell)
    loaded = registry.loaded()
    # TensorFlow imports JAX if it is installed. So a framework that has been imported but not used is a
    # candidate only if none has been used.
    candidates = [backend for backend in loaded if backend.started()] or loaded
    name = racing.framework_of(arguments.framework, [backend.name for backend in candidates])
    if name not in registry.FRAMEWORKS:
        raise UsageError(unknown(say("framework"), name, registry.FRAMEWORKS, "--framework"))
    if arguments.fresh:
        from jupyter_mlgpu.jupyter.notebook.magics.race_fresh import fresh_race

        finished = fresh_race(arguments, title(body), body, setup, name, shell, NOTE)
    else:
        finished = _race_here(arguments, body, setup, _import_framework(name), shell)
    return _finish(finished, arguments)


def title(body: str) -> str:
    """Return the first line of code as a title; `…` after it stands for further lines.

    Comments are skipped if there is any code. Private data in the line, such as a password, is removed.
    """
    lines = [line.strip() for line in body.splitlines() if line.strip()]
    code = [line for line in lines if not line.startswith("#")] or lines
    return beginning(code[0] if len(code) == 1 else f"{code[0]} …")


def _import_framework(name: str) -> Backend:
    backend = registry.backend(name)
    if not backend.loaded():
        print(f"Importing {registry.title(name)}…", flush=True)
        registry.import_framework(name)
    return backend


def _race_here(
    arguments: RaceOptions, body: str, setup: str | None, backend: Backend, shell: Any
) -> FinishedRace:
    """Run the race in this process."""
    available = backend.find_devices()
    devices = racing.devices_for(arguments.devices, available)
    notes = [racing.why_alone(arguments, backend, devices, available)] if len(devices) == 1 else []
    cell = NotebookCell(shell, body, setup=setup, variable=arguments.variable)
    clock = SystemClock()
    progress_line = ProgressLine(shell)
    first_runs: list[Observed] = []
    runner = RaceRunner(
        backend,
        cell,
        sizes=arguments.sizes,
        repeats=arguments.repeats,
        clock=clock,
        on_run=lambda run: progress_line.say(page.progress(run, arguments.variable)),
        on_observed=first_runs.append,
    )
    recorder = runtime.current().recorder
    recorder.stop_observing(NOT_MONITORED)
    recorder.add_note(NOTE)
    try:
        with cell.guarded():
            finished = racing.race(
                arguments,
                title(body),
                backend.name,
                devices,
                runner.lane,
                clock=clock,
                versions=backend.versions,
                notes=notes,
            )
    finally:
        progress_line.clear()
        recorder.set_observed(backend.name, racing.combined_observation(first_runs, NOT_MONITORED))
    if finished.error is not None:
        cell.show_own_traceback(finished.error)
    elif cell.interrupted:  # at the end of the last run: the result is complete, the interrupt still raised
        return FinishedRace(finished.result, KeyboardInterrupt())
    return finished


def _finish(finished: FinishedRace, arguments: RaceOptions) -> RaceResult:
    """Save the result if requested, and return it; after an error, show it and raise the error."""
    result = finished.result
    if any(lane.timings for lane in result.lanes):
        if finished.error is not None:
            display(result)  # type: ignore[no-untyped-call]
        if arguments.save is not None:
            _save(result, arguments.save)
    if finished.error is not None:
        raise finished.error
    return result


def _save(result: RaceResult, path: Path) -> None:
    """Save the result; if the file cannot be written, print that and keep the result."""
    try:
        chart = result.save(path)
    except RecordError as error:
        say_on_stderr(f"The race was not saved: {error}")
    else:
        print(f"Saved the race to {visible_line(path)}, and its chart to {visible_line(chart)}.")
