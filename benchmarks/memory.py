"""Measure the memory of a kernel after thousands of traced cells, and of a plain kernel after the same cells.

Resident memory of both kernels, in turn, every 250 cells. The first cells import what is imported once, so
growth is the slope over the second half. Targets: 15 MiB more at the end, and a growth of 500 bytes a cell
more.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

import psutil

from benchmarks.kernel import KERNEL_PACKAGES, LOAD, running_kernel
from benchmarks.report import COUNT, MIB, RATIO, CannotMeasureError, Figure, Table
from benchmarks.statistics import exact, growth

PACKAGES = KERNEL_PACKAGES
TARGET_MORE = 15 * 1024**2
TARGET_GROWTH = 500
STEP = 250


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the number of cells."""
    parser.add_argument("--cells", type=int, default=5_000, metavar="N", help="default 5,000")


def measure(options: argparse.Namespace) -> Iterator[Table]:
    """Run the same cells in both kernels."""
    if options.cells < 2 * STEP:
        raise CannotMeasureError(f"Growth needs --cells of {2 * STEP} at least, found {options.cells}.")
    measured: list[tuple[int, int, int]] = []
    with running_kernel() as plain, running_kernel() as traced:
        traced.run(LOAD)
        processes = [psutil.Process(kernel.value("__import__('os').getpid()")) for kernel in (plain, traced)]
        for begin in range(0, options.cells + 1, STEP):
            measured.append((begin, *(process.memory_info().rss for process in processes)))
            print(f"{begin:,} of {options.cells:,} cells", file=sys.stderr, flush=True)
            if begin < options.cells:
                for kernel in (plain, traced):
                    for number in range(begin, begin + STEP):
                        kernel.run(f"x = {number}")
                        kernel.wait_until_idle()
    yield table(measured)


def table(measured: list[tuple[int, int, int]]) -> Table:
    """Compare both kernels; `measured` has cells, and the resident bytes of the plain and traced kernel."""
    cells, plain, traced = measured[-1]
    more, before = traced - plain, measured[0][2] - measured[0][1]
    growth_plain = growth([(count, size) for count, size, _ in measured])
    beyond = growth([(count, size) for count, _, size in measured]) - growth_plain
    return Table(
        f"Memory after {cells:,} cells, compared with a plain kernel",
        [
            Figure("more than a plain kernel", more, exact(more), MIB, TARGET_MORE),
            Figure("of it before the first cell", before, exact(before), MIB),
            Figure("ratio to a plain kernel", traced / plain, exact(traced / plain), RATIO),
            Figure("growth of a plain kernel, bytes a cell", growth_plain, exact(growth_plain), COUNT),
            Figure("growth beyond that, bytes a cell", beyond, exact(beyond), COUNT, TARGET_GROWTH),
        ],
        method="One run of each kernel, without an interval.",
    )
