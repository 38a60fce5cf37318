"""What tracing adds to a cell: the same cell with %mlc_trace on and off, in one kernel.

Timed on the client's clock, from sending the cell to its reply, with the framework loaded. Before the
pairs, the cells that can be are calibrated to about 100 ms, and each has run several times.

Exit status 1: a cost that is above its target beyond doubt.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from statistics import median
from typing import Any

from benchmarks import machine, report
from benchmarks.kernel import SHARED_GPU, Kernel, running_kernel
from benchmarks.pairing import Pair, times
from benchmarks.profilers.cells import JAX, TORCH
from benchmarks.progress import with_progress
from benchmarks.report import Quartiles, quartiles
from benchmarks.tracing import timed
from benchmarks.workloads import SETUP, WORKLOADS, Workload, calibrate
from jupyter_mlgpu.explain.statistics import Estimate, median_interval

PAIRS = 60
#: Tracing may add this many seconds to a cell, and this part of the cell's own time.
TARGET_FIXED = 0.003
TARGET_SHARE = 0.015
#: Cells run before the first pair, half of them traced.
WARM_UP = 6

_ENVIRONMENT = {"TF_CPP_MIN_LOG_LEVEL": "2", **SHARED_GPU}

#: By framework: the modules that must be there, the cell that is run first, and the cells that are timed.
LESSONS: Mapping[str, tuple[tuple[str, ...], str, tuple[Workload, ...]]] = {
    "tensorflow": (("tensorflow", "keras"), SETUP, WORKLOADS),
    "torch": (("torch",), TORCH.setup, TORCH.workloads),
    "jax": (("jax",), JAX.setup, JAX.workloads),
}


@dataclass(frozen=True, slots=True)
class Cost:
    """What was measured for one cell; `steps` is how often it does its work."""

    workload: Workload
    steps: int
    pairs: list[Pair]

    @property
    def cell(self) -> float:
        """Seconds of the cell untraced, in the median."""
        return median(pair.off for pair in self.pairs)

    @property
    def target(self) -> float:
        """Seconds that tracing may add to this cell."""
        return TARGET_FIXED + TARGET_SHARE * self.cell

    @property
    def added(self) -> Quartiles:
        """Seconds that tracing added."""
        return quartiles([pair.difference for pair in self.pairs])

    @property
    def interval(self) -> Estimate | None:
        """Where the median of the seconds added lies."""
        return median_interval([pair.difference for pair in self.pairs])

    @property
    def ratio(self) -> float:
        """Time traced, divided by time untraced, in the median of the pairs."""
        return median(pair.ratio for pair in self.pairs)

    @property
    def verdict(self) -> report.Verdict:
        """Whether the target is kept."""
        return report.verdict(self.interval, self.target)


def measure(setup: str, workloads: Sequence[Workload], pairs: int) -> list[Cost]:
    """The cost of tracing each workload, in one kernel in which `setup` has run."""
    with running_kernel(_ENVIRONMENT) as kernel:
        kernel.run("%load_ext jupyter_mlgpu")
        kernel.run("%mlc_trace off")
        kernel.run(setup)
        return [_cost(kernel, workload, pairs) for workload in workloads]


def _cost(kernel: Kernel, workload: Workload, pairs: int) -> Cost:
    timed(kernel, workload.cell(1), on=False)  # builds graphs, and is no measure of later runs
    steps = 1
    if workload.adjustable:
        steps = calibrate(lambda steps: timed(kernel, workload.cell(steps), on=False))
    run = _alternating(kernel, workload.cell(steps))
    for number in range(WARM_UP):
        run(number % 2 == 0)
    return Cost(workload, steps, with_progress(pairs, workload.name, run))


def _alternating(kernel: Kernel, code: str) -> Callable[[bool], float]:
    return lambda on: timed(kernel, code, on=on)


def as_text(costs: Sequence[Cost]) -> str:
    """The figures for a terminal."""
    rows = [("cell", "steps", "untraced", "added by tracing", "interval", "ratio", "target", "verdict")]
    rows += [
        (
            cost.workload.name,
            f"{cost.steps:,}",
            report.ms(cost.cell),
            report.ms(cost.added.median),
            report.interval(cost.interval),
            f"{cost.ratio:.3f}",
            report.ms(cost.target),
            cost.verdict,
        )
        for cost in costs
    ]
    return "\n".join(
        [
            f"Traced and untraced cells: {len(costs[0].pairs)} interleaved pairs each, medians",
            "",
            report.table(rows),
            "",
            f"Target: {report.ms(TARGET_FIXED)} and {TARGET_SHARE * 100:g} % of the untraced cell.",
            report.legend(cost.verdict for cost in costs),
        ]
    )


def as_data(costs: Sequence[Cost], about: Mapping[str, str]) -> dict[str, Any]:
    """The figures for a JSON file; times in seconds."""
    return {
        "benchmark": "cell_cost",
        "machine": dict(about),
        "cells": [
            {
                "name": cost.workload.name,
                "code": cost.workload.cell(cost.steps),
                "steps": cost.steps,
                "untraced_s": cost.cell,
                "added_s": report.as_data(cost.added, cost.interval),
                "ratio": cost.ratio,
                "target_s": cost.target,
                "verdict": cost.verdict,
                "pairs": times(cost.pairs),
            }
            for cost in costs
        ],
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and report; returns the exit status."""
    parser = report.options("cell_cost", str(__doc__), PAIRS)
    parser.add_argument(
        "--framework", choices=list(LESSONS), default="tensorflow", help="whose cells (default tensorflow)"
    )
    parser.add_argument(
        "--cell",
        metavar="NAME",
        action="append",
        help="measure this cell alone; may be given twice. Cells: "
        + "; ".join(f"{name}: {', '.join(one.name for one in LESSONS[name][2])}" for name in LESSONS),
    )
    chosen = parser.parse_args(arguments)
    modules, setup, workloads = LESSONS[chosen.framework]
    absent = [name for name in modules if find_spec(name) is None]
    if absent:
        parser.error(
            f"{' and '.join(absent)} not found in this Python; run `make install` and use .venv/bin/python "
            "(.venv-frameworks/bin/python for torch and jax)"
        )
    known = [one.name for one in workloads]
    unknown = [name for name in chosen.cell or () if name not in known]
    if unknown:
        parser.error(f"no cell of {chosen.framework} is named {unknown[0]!r}; its cells: {', '.join(known)}")
    workloads = tuple(one for one in workloads if not chosen.cell or one.name in chosen.cell)
    about = machine.describe(["ipykernel", "jupyter_client", *modules])
    print(report.table(list(about.items())), end="\n\n", flush=True)
    costs = measure(setup, workloads, chosen.pairs)
    print(as_text(costs))
    if chosen.out is not None:
        report.write(chosen.out, as_data(costs, about))
    return 1 if any(cost.verdict == "missed" for cost in costs) else 0


if __name__ == "__main__":
    sys.exit(main())
