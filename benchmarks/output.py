"""Measure how long a cell that writes much takes with tracing on, over a kernel without the extension.

Two kernels, one plain and one that traces, run the same cell in turn. The first time is from sending the cell
to its reply, the second until the kernel is idle, when all of its output is visible. Lines that are read
after the cell are in neither, and the next cell of either kernel waits until they are read. Target: 1.1 times
as long.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

from benchmarks.kernel import KERNEL_PACKAGES, LOAD, Kernel, running_kernel
from benchmarks.report import Table, add_pairs, ratio_figure
from benchmarks.statistics import Pair, interleave

PACKAGES = KERNEL_PACKAGES

TARGET = 1.1
_PREPARE = """
import os, random
chance = random.Random(1)
noise = chance.randbytes(1_000_000)
letters = "abcdefghijklmnopqrstuvwxyz"
words = ["".join(chance.choices(letters, k=8)) for _ in range(3_000)]
varied = [(" ".join(chance.choices(words, k=8)) + "\\n").encode() for _ in range(20_000)]
"""
CELLS = {
    "1 MB of random bytes on descriptor 2": "_ = os.write(2, noise)",
    "20,000 different lines on descriptor 2": "for line in varied:\n    os.write(2, line)",
    "100,000 prints": "for number in range(100_000):\n    print(number)",
}
_STILL_READING = "any(True for _ in get_ipython()._jupyter_mlgpu._capture._unread)"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the number of pairs."""
    add_pairs(parser, 20)


def measure(options: argparse.Namespace) -> Iterator[Table]:
    """Run each cell in both kernels."""
    figures = []
    with running_kernel() as plain, running_kernel() as traced:
        traced.run(LOAD)
        for kernel in (plain, traced):
            kernel.run(_PREPARE)
        for name, code in CELLS.items():
            replies, idle = _measure_cell(plain, traced, name, code, options.pairs)
            for until, pairs in (("the reply", replies), ("idle", idle)):
                figures.append(ratio_figure(name, pairs, TARGET, {"until": until}))
    yield Table("Cells that write: ratio of the time traced to the time in a plain kernel", figures)


def _measure_cell(
    plain: Kernel, traced: Kernel, name: str, code: str, count: int
) -> tuple[list[Pair], list[Pair]]:
    """Return pairs of the times to the reply, and until the kernel was idle."""
    idle: dict[bool, list[float]] = {False: [], True: []}

    def run(on: bool) -> float:
        kernel = traced if on else plain
        begun = time.perf_counter()
        reply = kernel.run(code)
        kernel.wait_until_idle()
        idle[on].append(time.perf_counter() - begun)
        while traced.value(_STILL_READING):
            time.sleep(0.1)
        return reply

    for on in idle:
        run(on)
        idle[on].clear()
    replies = interleave(count, run, name)
    return replies, [Pair(off, on) for off, on in zip(idle[False], idle[True], strict=True)]
