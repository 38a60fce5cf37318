"""Measure how fast this machine computes: matrix products, memory, transfers, convolutions and models.

Exit status: 0 if all went well, 1 if a case failed, 2 if nothing could be measured, 130 after Ctrl-C or
`kill`: everything measured so far is shown. The file given to --out has it after each case already.
"""

from __future__ import annotations

import argparse
import signal
from typing import TYPE_CHECKING

from jupyter_mlgpu.experiment.bench import options
from jupyter_mlgpu.jupyter.cli.terminal import complain, tell
from jupyter_mlgpu.record.clock import seconds_between
from jupyter_mlgpu.record.sentence import Sentence, say
from jupyter_mlgpu.record.visible import visible_line

if TYPE_CHECKING:
    from pathlib import Path

    from jupyter_mlgpu.experiment.bench.run import BenchRun
    from jupyter_mlgpu.experiment.bench.session import BenchProgress, FinishedBench
    from jupyter_mlgpu.record.clock import Clock

EXAMPLE = """\
examples:
  jupyter mlgpu bench --quick
  jupyter mlgpu bench --quick bert-large
  jupyter mlgpu bench gemm bandwidth --framework torch --device gpu --out mine.json
  jupyter mlgpu bench gemm --against h200
  jupyter mlgpu bench gemm --pyperf today.json
  jupyter mlgpu bench burn --minutes 10 --out burn.json
  jupyter mlgpu bench --against mine.json theirs.json
"""

#: Seconds after which a log gets another line of the same case.
LOG_EVERY_S = 15.0

add_arguments = options.add_arguments


def main(arguments: argparse.Namespace) -> int:
    """Measure, or compare two files; return the exit status."""
    from jupyter_mlgpu.experiment.bench.against import load_or_published, two_runs
    from jupyter_mlgpu.experiment.bench.run import load
    from jupyter_mlgpu.record.clock import SystemClock

    clock = SystemClock()
    begun = clock.monotonic_ns()
    bench_options = options.options(arguments)
    if len(bench_options.against) == 2:
        ours, theirs = map(load, bench_options.against)
        tell(two_runs(ours, theirs))
        return 0
    for word in bench_options.against:  # checked before the benchmark, which takes minutes
        load_or_published(word)
    # `kill` and the end of a batch system's time keep the results, as Ctrl-C does.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return _measure_and_show(bench_options, clock, begun)
    finally:
        signal.signal(signal.SIGTERM, before)


def _measure_and_show(bench_options: options.BenchOptions, clock: Clock, begun: int) -> int:
    from jupyter_mlgpu.experiment.bench import pyperf_file, roofs
    from jupyter_mlgpu.experiment.bench.against import against
    from jupyter_mlgpu.measure import runtime

    finished, printed = _run_benchmark(bench_options, clock, begun)
    tell(finished.run)
    if printed is not None:
        tell(printed)
    if (problem := roofs.keep(finished.run, runtime.current().recorder.run.host_digest)) is not None:
        complain(problem)
    for word in bench_options.against:
        tell(against(finished.run, word))
    if bench_options.out is not None:
        tell(f"  {visible_line(finished.run.save(bench_options.out))}")
        if any(one.burn is not None for one in finished.run.results):
            tell(f"  {visible_line(_save_page(finished.run, bench_options.out))}")
    if bench_options.pyperf is not None:
        tell(f"  {pyperf_file.save(finished.run, bench_options.pyperf)}")
    if finished.error is not None:
        raise finished.error
    return int(any(one.status == "failed" for one in finished.run.results))


def _save_page(run: BenchRun, beside: Path) -> Path:
    """Write the charts and tables as an HTML page beside the results, and return its path."""
    from jupyter_mlgpu.record import files
    from jupyter_mlgpu.show.bench.page import document

    path = beside.expanduser().with_suffix(".html")
    files.write_atomically(path, document(run).encode())
    return path


def _run_benchmark(
    bench_options: options.BenchOptions, clock: Clock, begun: int
) -> tuple[FinishedBench, Sentence | None]:
    """Return the benchmark, and a sentence on what frameworks printed meanwhile."""
    from jupyter_mlgpu.experiment.bench import bench_sentences, session
    from jupyter_mlgpu.experiment.bench.machine import local_monitor
    from jupyter_mlgpu.jupyter.cli.folded_output import folded_output
    from jupyter_mlgpu.jupyter.cli.progress import progress

    # Raises if a framework is not installed, before anything is shown.
    session.frameworks(bench_options.order.frameworks)
    with folded_output() as folded:
        where = visible_line(folded.path)
        print(say("What frameworks print goes to {path}.", path=where), file=folded.terminal)
        show = progress(folded.terminal)
        last_case, last_shown = 0, begun

        def follow(now: BenchProgress) -> None:
            nonlocal last_case, last_shown
            # The bar's text changes with each step. A log gets a line per case, and more of a long one.
            at = clock.monotonic_ns()
            waited = seconds_between(last_shown, at) >= LOG_EVERY_S
            if now.number != last_case or waited or folded.terminal.isatty():
                last_case, last_shown = now.number, at
                show.cell(now.number, now.total, bench_sentences.doing(now))

        show.say("Starting the benchmark")
        try:
            finished = session.run(
                bench_options.order,
                monitor=local_monitor(),
                clock=clock,
                on_progress=follow,
                started_ns=begun,
                out=bench_options.out,
            )
        finally:
            show.close()
    return finished, folded.summary()
