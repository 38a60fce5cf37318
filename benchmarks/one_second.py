"""Cells of one second with two trees of the package: how much longer the same work takes with the one.

    python -m benchmarks.two_trees BEFORE AFTER ROUNDS --second

A round is a fresh kernel of each tree, side by side. They take turns, cell by cell: first without us, then
with their tree loaded. So each kernel is compared with itself, for two processes of one Python differ in
speed, and what changes on the machine meets both. A cell's work is a count, the same in all kernels, found
before the first round in a kernel without us: what slows a cell makes it longer, and no clock in it hides
that. (A cell that sleeps has no other work than its second; only what comes before and after can be longer.)
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import machine, report
from benchmarks.kernel import Kernel, running_kernel
from benchmarks.workloads import calibrate
from jupyter_mlgpu.explain.statistics import Estimate, median_interval

#: After over before: a cell of a second may cost 0.3 % more.
TARGET = 1.003
#: Cells of each sort that a kernel runs without us, and with.
TURNS = 4
LOAD = "%load_ext jupyter_mlgpu"


@dataclass(frozen=True, slots=True)
class Sort:
    """A sort of cell: `code` does its work `{work}` times; `setup` is run once a kernel."""

    name: str
    setup: str
    code: str
    adjustable: bool = True


SORTS = (
    Sort("sleeping", "import time as _time", "_time.sleep({work})", adjustable=False),
    Sort("busy Python", "", "_sum = 0\nfor _number in range({work}):\n    _sum += _number % 7"),
    Sort(
        "NumPy products",
        "import numpy as _np\n_matrix = _np.random.default_rng(0).random((512, 512), dtype='float32')",
        "for _ in range({work}):\n    _matrix @ _matrix",
    ),
)

#: Seconds by sort, of one kernel: in the order of the turns.
Times = Mapping[str, list[float]]


@dataclass(frozen=True, slots=True)
class Round:
    """Of one pair of kernels, by tree: the times without us, and with the tree loaded."""

    bare: Mapping[str, Times]
    loaded: Mapping[str, Times]

    def cost(self, tree: str, sort: str) -> float:
        """A cell's time with the tree loaded over the same kernel's without."""
        return median(self.loaded[tree][sort]) / median(self.bare[tree][sort])


def measure(trees: Mapping[str, str], rounds: int, found: dict[str, int]) -> list[Round]:
    """So many rounds of cells that do this work; `trees` are `before` and `after`, and where they lie."""
    measured = []
    for _ in range(rounds):
        measured.append(_round(trees, found))
        print(".", end="", flush=True, file=sys.stderr)
    print(file=sys.stderr)
    return measured


def work() -> dict[str, int]:
    """How often a cell of each sort does its work in about a second; sorts that cannot run are left out."""
    found = {}
    with _kernel(None) as kernel:
        for sort in SORTS:
            if sort.name == "NumPy products" and not kernel.value(
                "bool(__import__('importlib.util').util.find_spec('numpy'))"
            ):
                print(f"{sort.name}: not measured, there is no NumPy here")
                continue
            kernel.run(sort.setup)
            if sort.adjustable:
                found[sort.name] = calibrate(partial(_timed, kernel, sort), 1.0)
            else:
                found[sort.name] = 1
    return found


def _timed(kernel: Kernel, sort: Sort, times: int) -> float:
    return kernel.run(sort.code.format(work=times))


def _kernel(tree: str | None) -> AbstractContextManager[Kernel]:
    # One seed: where strings lie in dictionaries makes a loop of one kernel quicker than that of another.
    return running_kernel({"PYTHONPATH": python_path(tree), "PYTHONHASHSEED": "0"})


def python_path(tree: str | None) -> str:
    """A tree's folder before those that the caller names, absolute: kernels stand in folders of their own."""
    named = [os.path.abspath(one) for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one]
    return os.pathsep.join(named if tree is None else [tree, *named])


def _round(trees: Mapping[str, str], found: Mapping[str, int]) -> Round:
    sorts = [sort for sort in SORTS if sort.name in found]
    with ExitStack() as stack:
        order = random.sample(sorted(trees), len(trees))
        kernels = {name: stack.enter_context(_kernel(trees[name])) for name in order}
        for kernel in kernels.values():
            for sort in sorts:
                kernel.run(sort.setup)
                _timed(kernel, sort, 1)
        bare = _turns(kernels, sorts, found)
        for name, kernel in kernels.items():
            kernel.run(LOAD)
            _check(kernel, trees[name])
            for sort in sorts:  # the first cell of all loads what draws receipts
                _timed(kernel, sort, found[sort.name])
        return Round(bare, _turns(kernels, sorts, found))


def _turns(
    kernels: Mapping[str, Kernel], sorts: Sequence[Sort], found: Mapping[str, int]
) -> dict[str, Times]:
    times: dict[str, dict[str, list[float]]] = {name: {sort.name: [] for sort in sorts} for name in kernels}
    for turn in range(TURNS):
        names = list(kernels)[:: 1 if turn % 2 == 0 else -1]
        for sort in sorts:
            for name in names:
                times[name][sort.name].append(_timed(kernels[name], sort, found[sort.name]))
                # Its receipt comes after the reply: the next cell begins when the kernel has nothing to do.
                kernels[name].wait_until_idle()
    return {**times}


def _check(kernel: Kernel, tree: str) -> None:
    file = kernel.value("__import__('jupyter_mlgpu').__file__")
    if not str(file).startswith(tree):
        raise RuntimeError(f"A kernel has loaded {file}, which does not lie in {tree}.")


def as_text(measured: Sequence[Round], found: Mapping[str, int]) -> str:
    """The figures for a terminal."""
    rows: list[Sequence[str]] = [
        ("a cell of 1 s", "work", "without us", "before", "after", "after / before", "interval", "")
    ]
    for sort in found:
        ratios, interval = ratio(measured, sort)
        rows.append(
            (
                sort,
                f"{found[sort]:,}",
                f"{median(median(times[sort]) for one in measured for times in one.bare.values()):.4f} s",
                *(_percent(median(one.cost(tree, sort) for one in measured)) for tree in ("before", "after")),
                _percent(median(ratios)),
                "none: too few rounds"
                if interval is None
                else f"{_percent(interval.low)} to {_percent(interval.high)}",
                report.verdict(interval, TARGET),
            )
        )
    return "\n".join(
        [
            report.table(rows),
            "",
            f"{len(measured)} rounds, {TURNS} cells of each sort a kernel, without us and with. `before` and "
            "`after`: over the same kernel's cells without us.",
            f"Target: after / before at most {_percent(TARGET)}.",
            report.legend(report.verdict(ratio(measured, sort)[1], TARGET) for sort in found),
        ]
    )


def ratio(measured: Sequence[Round], sort: str) -> tuple[list[float], Estimate | None]:
    """Of each round what a cell costs after over before, each over its own kernel; the median's interval."""
    ratios = [one.cost("after", sort) / one.cost("before", sort) for one in measured]
    return ratios, median_interval(ratios)


def _percent(part: float) -> str:
    return f"{(part - 1) * 100:+.2f} %"


def as_data(measured: Sequence[Round], found: Mapping[str, int]) -> dict[str, Any]:
    """The figures for a JSON file; times in seconds."""
    return {
        "benchmark": "two_trees --second",
        "machine": machine.describe(["ipykernel", "jupyter_client", "ipython", "numpy"]),
        "work": dict(found),
        "target": TARGET,
        "after_over_before": {
            sort: report.as_data(report.quartiles(ratios), interval)
            for sort in found
            for ratios, interval in [ratio(measured, sort)]
        },
        "rounds": [{"without_us": one.bare, "loaded": one.loaded} for one in measured],
    }


def main(trees: Mapping[str, str], rounds: int, out: Path | None) -> int:
    """Measure and report; 1 where a sort of cell costs more than the target beyond doubt."""
    found = work()
    measured = measure(trees, rounds, found)
    print(report.table(list(machine.describe(["ipykernel", "jupyter_client", "ipython", "numpy"]).items())))
    print(f"\n{as_text(measured, found)}")
    if out is not None:
        report.write(out, as_data(measured, found))
    return int(any(report.verdict(ratio(measured, sort)[1], TARGET) == "missed" for sort in found))
