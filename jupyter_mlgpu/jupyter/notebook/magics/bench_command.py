"""`%mlc_bench`: runs the benchmark, then shows its charts and its table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from IPython.display import display

from jupyter_mlgpu.experiment.bench import bench_sentences, options, pyperf_file, roofs, session
from jupyter_mlgpu.experiment.bench.against import Against, against, load_or_published, two_runs
from jupyter_mlgpu.experiment.bench.machine import local_monitor
from jupyter_mlgpu.experiment.bench.run import BenchRun, load
from jupyter_mlgpu.jupyter.notebook.magics.progress import ProgressLine
from jupyter_mlgpu.measure import runtime
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record.clock import SystemClock
from jupyter_mlgpu.record.errors import RecordError, UsageError
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.record.stderr import say_on_stderr
from jupyter_mlgpu.record.visible import visible_line

UNWATCHED = say(
    "Benchmarks are not monitored, because monitoring takes time; see the benchmark's own table for its runs."
)


def bench_command(line: str, shell: Any) -> BenchRun | Against:
    """Run `%mlc_bench LINE`: show charts and comparisons, return the run or the comparison of two files.

    Raises our errors before anything is measured. An interrupt is raised again after the results so far were
    shown and saved.
    """
    clock = SystemClock()
    begun = clock.monotonic_ns()
    arguments = options.parse(line)
    if len(arguments.against) == 2:
        ours, theirs = map(load, arguments.against)
        return two_runs(ours, theirs)
    if runtime.current().recorder.profiling():
        raise UsageError(
            say(
                "Profiling and checking slow code down, so a benchmark cannot be timed meanwhile: leave out "
                "--ops or --check. Nothing was run."
            )
        )
    for word in arguments.against:  # checked before the benchmark, which takes minutes
        load_or_published(word)
    progress = ProgressLine(shell)
    runtime.current().recorder.stop_observing(UNWATCHED)
    try:
        finished = session.run(
            arguments.order,
            monitor=local_monitor(),
            clock=clock,
            loaded=[one.name for one in registry.loaded() if one.started()],
            on_progress=lambda now: progress.say(bench_sentences.progress(now)),
            started_ns=begun,
            out=arguments.out,
        )
    finally:
        progress.clear()
    run = finished.run
    if (problem := roofs.keep(run, runtime.current().recorder.run.host_digest)) is not None:
        say_on_stderr(problem)
    for word in arguments.against:
        display(against(run, word))  # type: ignore[no-untyped-call]
    if arguments.out is not None:
        _save(run, arguments.out)
    if arguments.pyperf is not None:
        _save_for_pyperf(run, arguments.pyperf)
    if finished.error is not None:
        display(run)  # type: ignore[no-untyped-call]
        raise finished.error
    return run


def _save(run: BenchRun, path: Path) -> None:
    """Save the run; if the file cannot be written, print that and keep the result."""
    try:
        path = run.save(path)
    except RecordError as error:
        say_on_stderr(f"The benchmark was not saved: {error}")
    else:
        print(f"Saved the benchmark to {visible_line(path)}.")


def _save_for_pyperf(run: BenchRun, path: Path) -> None:
    """Save the samples; if the file cannot be written, print that and keep the result."""
    try:
        print(pyperf_file.save(run, path))
    except RecordError as error:
        say_on_stderr(f"The samples were not saved: {error}")
