"""Cells of one second with two trees of the package: how much longer the same work takes with the one.

    python -m benchmarks.two_trees BEFORE AFTER ROUNDS --second

A round is a fresh kernel of each tree, side by side. They take turns, cell by cell: first without us, then
with their tree loaded. So each kernel is compared with itself, for two processes of one Python differ in
speed, and what changes on the machine meets both. A cell's work is a count, the same in all kernels, found
before the first round in a kernel without us: what slows a cell makes it longer, and no clock in it hides
that. (A cell that sleeps has no other work than its second; only what comes before and after can be longer.)

A processor does the same work in 0.97 or 1.03 s, which hides what is sought. So each cell also says how much
processor time its own thread had for the work, and the rest of its second is told besides: all in which it
waited, for the interpreter's lock or for a processor that another thread had, and all that came before and
after the work. That is what a look can add to a cell, but for the work's own slowing (by a cache that others
used), which only the whole second shows.
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
from typing import Any, NamedTuple

from benchmarks import machine, report
from benchmarks.kernel import Kernel, running_kernel
from benchmarks.workloads import calibrate
from jupyter_mlgpu.explain.statistics import Estimate, median_interval

#: After over before: a cell of a second may cost 0.3 % more.
TARGET = 1.003
#: The same in seconds, of the cell's time beside its work.
MOST_BESIDE = 0.003
#: Cells of each sort that a kernel runs without us, and with.
TURNS = 6
SETUP = "import time as _time"
LOAD = "%load_ext jupyter_mlgpu"
#: NumPy's libraries of products look at these.
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}


@dataclass(frozen=True, slots=True)
class Sort:
    """A sort of cell: `code` does its work `{work}` times; `setup` is run once a kernel."""

    name: str
    code: str
    setup: str = ""
    adjustable: bool = True


SORTS = (
    Sort("sleeping", "_time.sleep({work})", adjustable=False),
    Sort("busy Python", "_sum = 0\nfor _number in range({work}):\n    _sum += _number % 7"),
    # On one thread, and so without what several threads of products wait for each other.
    Sort(
        "NumPy products",
        "for _ in range({work}):\n    _matrix @ _matrix",
        "import numpy as _np\n_matrix = _np.random.default_rng(0).random((512, 512), dtype='float32')",
    ),
)
#: Around a cell's work, which its own thread then has worked for so many seconds.
OWN = "_own = _time.thread_time()\n{code}\n_own = _time.thread_time() - _own"


class Took(NamedTuple):
    """Of a cell: seconds from sending it to its reply, and processor time of its own thread for the work."""

    seconds: float
    own: float

    @property
    def beside(self) -> float:
        """Seconds in which the cell's thread waited, or did what comes before and after the work."""
        return self.seconds - self.own


#: Cells by sort, of one kernel: in the order of the turns.
Times = Mapping[str, list[Took]]


@dataclass(frozen=True, slots=True)
class Round:
    """Of one pair of kernels, by tree: the times without us, and with the tree loaded."""

    bare: Mapping[str, Times]
    loaded: Mapping[str, Times]

    def cost(self, tree: str, sort: str) -> float:
        """A cell's time with the tree loaded over the same kernel's without."""
        loaded, bare = ([one.seconds for one in times[tree][sort]] for times in (self.loaded, self.bare))
        return median(loaded) / median(bare)

    def beside(self, tree: str, sort: str) -> float:
        """Seconds beside the work: a cell's with the tree loaded, less those of the same kernel without."""
        loaded, bare = ([one.beside for one in times[tree][sort]] for times in (self.loaded, self.bare))
        return median(loaded) - median(bare)


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
        kernel.run(SETUP)
        for sort in SORTS:
            if sort.name == "NumPy products" and not kernel.value(
                "bool(__import__('importlib.util').util.find_spec('numpy'))"
            ):
                print(f"{sort.name}: not measured, there is no NumPy here")
                continue
            kernel.run(sort.setup)
            if sort.adjustable:
                found[sort.name] = calibrate(partial(_seconds, kernel, sort), 1.0)
            else:
                found[sort.name] = 1
    return found


def _took(kernel: Kernel, sort: Sort, times: int) -> Took:
    return Took(*kernel.run_and_ask(OWN.format(code=sort.code.format(work=times)), "_own"))


def _seconds(kernel: Kernel, sort: Sort, times: int) -> float:
    return _took(kernel, sort, times).seconds


def _kernel(tree: str | None) -> AbstractContextManager[Kernel]:
    # One seed: where strings lie in dictionaries makes a loop of one kernel quicker than that of another.
    return running_kernel({"PYTHONPATH": python_path(tree), "PYTHONHASHSEED": "0", **ONE_THREAD})


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
            kernel.run(SETUP)
            for sort in sorts:
                kernel.run(sort.setup)
                _took(kernel, sort, 1)
        bare = _turns(kernels, sorts, found)
        for name, kernel in kernels.items():
            kernel.run(LOAD)
            _check(kernel, trees[name])
            for sort in sorts:  # the first cell of all loads what draws receipts
                _took(kernel, sort, found[sort.name])
        return Round(bare, _turns(kernels, sorts, found))


def _turns(
    kernels: Mapping[str, Kernel], sorts: Sequence[Sort], found: Mapping[str, int]
) -> dict[str, Times]:
    times: dict[str, dict[str, list[Took]]] = {name: {sort.name: [] for sort in sorts} for name in kernels}
    for turn in range(TURNS):
        names = list(kernels)[:: 1 if turn % 2 == 0 else -1]
        for sort in sorts:
            for name in names:
                times[name][sort.name].append(_took(kernels[name], sort, found[sort.name]))
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
                f"{_bare(measured, sort):.4f} s",
                *(_percent(median(one.cost(tree, sort) for one in measured)) for tree in ("before", "after")),
                _percent(median(ratios)),
                "none: too few rounds"
                if interval is None
                else f"{_percent(interval.low)} to {_percent(interval.high)}",
                report.verdict(interval, TARGET),
            )
        )
    beside: list[Sequence[str]] = [
        ("beside its work", "before", "after", "after less before", "interval", "")
    ]
    for sort in found:
        differences, interval = beside_work(measured, sort)
        beside.append(
            (
                sort,
                *(
                    report.ms(median(one.beside(tree, sort) for one in measured))
                    for tree in ("before", "after")
                ),
                report.ms(median(differences)),
                report.interval(interval),
                report.verdict(interval, MOST_BESIDE),
            )
        )
    return "\n".join(
        [
            report.table(rows),
            "",
            report.table(beside),
            "",
            f"{len(measured)} rounds, {TURNS} cells of each sort a kernel, without us and with. `before` and "
            "`after`: over the same kernel's cells without us.",
            "Beside its work: seconds to the reply, less the processor time of its own thread for the work.",
            f"Target: after / before at most {_percent(TARGET)}; {report.ms(MOST_BESIDE)} beside the work.",
            report.legend(_verdicts(measured, found)),
        ]
    )


def ratio(measured: Sequence[Round], sort: str) -> tuple[list[float], Estimate | None]:
    """Of each round what a cell costs after over before, each over its own kernel; the median's interval."""
    ratios = [one.cost("after", sort) / one.cost("before", sort) for one in measured]
    return ratios, median_interval(ratios)


def beside_work(measured: Sequence[Round], sort: str) -> tuple[list[float], Estimate | None]:
    """Of each round the seconds beside the work, after less before; and the median's interval."""
    differences = [one.beside("after", sort) - one.beside("before", sort) for one in measured]
    return differences, median_interval(differences)


def _verdicts(measured: Sequence[Round], found: Mapping[str, int]) -> list[report.Verdict]:
    whole = [report.verdict(ratio(measured, sort)[1], TARGET) for sort in found]
    return whole + [report.verdict(beside_work(measured, sort)[1], MOST_BESIDE) for sort in found]


def _bare(measured: Sequence[Round], sort: str) -> float:
    """Median seconds of a cell without us."""
    kernels = [times[sort] for one in measured for times in one.bare.values()]
    return median(median(one.seconds for one in cells) for cells in kernels)


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
        "most_beside_s": MOST_BESIDE,
        "beside_work_after_less_before_s": {
            sort: report.as_data(report.quartiles(differences), interval)
            for sort in found
            for differences, interval in [beside_work(measured, sort)]
        },
        "cells": "seconds to the reply, seconds of its own thread's processor time for the work",
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
    return int("missed" in _verdicts(measured, found))
