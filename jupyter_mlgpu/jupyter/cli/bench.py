"""Measure how fast this machine computes: matrix products, memory, transfers, convolutions and models.

Exit status: 0 if all went well, 1 if a case failed, 2 if nothing could be measured, 130 after Ctrl-C:
everything measured so far is shown, and written to the file given to --out.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from jupyter_mlgpu.experiment.bench import options
from jupyter_mlgpu.jupyter.cli.terminal import complain, tell
from jupyter_mlgpu.record.visible import visible_line

if TYPE_CHECKING:
    from jupyter_mlgpu.experiment.bench.session import BenchProgress, FinishedBench
    from jupyter_mlgpu.record.clock import Clock

EXAMPLE = """\
examples:
  jupyter mlgpu bench --quick
  jupyter mlgpu bench gemm bandwidth --framework torch --device gpu --out mine.json
  jupyter mlgpu bench gemm --against h200
  jupyter mlgpu bench --against mine.json theirs.json
"""

add_arguments = options.add_arguments


def main(arguments: argparse.Namespace) -> int:
    """Measure, or compare two files; return the exit status."""
    from jupyter_mlgpu.experiment.bench import roofs
    from jupyter_mlgpu.experiment.bench.against import against, load_or_published, two_runs
    from jupyter_mlgpu.experiment.bench.run import load
    from jupyter_mlgpu.measure import runtime
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
    finished = _run_benchmark(bench_options, clock, begun)
    tell(finished.run)
    if (problem := roofs.keep(finished.run, runtime.current().recorder.run.host_digest)) is not None:
        complain(problem)
    for word in bench_options.against:
        tell(against(finished.run, word))
    if bench_options.out is not None:
        tell(f"  {visible_line(finished.run.save(bench_options.out))}")
    if finished.error is not None:
        raise finished.error
    return int(any(one.status == "failed" for one in finished.run.results))


def _run_benchmark(bench_options: options.BenchOptions, clock: Clock, begun: int) -> FinishedBench:
    from jupyter_mlgpu.experiment.bench import bench_sentences, session
    from jupyter_mlgpu.experiment.bench.machine import local_monitor
    from jupyter_mlgpu.jupyter.cli.progress import progress

    # Raises if a framework is not installed, before anything is shown.
    session.frameworks(bench_options.order.frameworks)
    show = progress()
    numbers_shown: set[int] = set()

    def follow(now: BenchProgress) -> None:
        # A log gets one line per case; the bar's text changes with each step.
        if now.number not in numbers_shown or sys.stderr.isatty():
            numbers_shown.add(now.number)
            show.cell(now.number, now.total, bench_sentences.doing(now))

    show.say("Starting the benchmark")
    try:
        return session.run(
            bench_options.order, monitor=local_monitor(), clock=clock, on_progress=follow, started_ns=begun
        )
    finally:
        show.close()
