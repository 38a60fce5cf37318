"""What a cell that writes much takes with tracing on, and without the extension, as a ratio.

Two kernels, one plain and one that traces, run the same cell in turn. The first time is from sending the cell
to its reply, the second until the kernel is idle, when a person has seen all of it. Lines that are read after
the cell are in neither, and the next cell of either kernel waits until they are.

Exit status 1: a ratio that is above its target beyond doubt.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from benchmarks import machine, report
from benchmarks.kernel import Kernel, running_kernel
from benchmarks.pairing import Pair, times
from benchmarks.progress import with_progress
from jupyter_mlgpu.explain.statistics import median_interval

PAIRS = 20
#: Times as long as plainly, for each of the cells.
TARGET = 1.2

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


@dataclass(frozen=True, slots=True)
class Delay:
    """Pairs of seconds, plainly and traced: to the reply, and until the kernel was idle."""

    reply: list[Pair]
    idle: list[Pair]


def measure(pairs: int) -> dict[str, Delay]:
    """Each cell so many times in both kernels."""
    with running_kernel() as plain, running_kernel() as traced:
        traced.run("%load_ext jupyter_mlgpu")
        for kernel in (plain, traced):
            kernel.run(_PREPARE)
        return {name: _delay(plain, traced, name, code, pairs) for name, code in CELLS.items()}


def _delay(plain: Kernel, traced: Kernel, name: str, code: str, pairs: int) -> Delay:
    idle: dict[bool, list[float]] = {False: [], True: []}

    def one(on: bool) -> float:
        kernel = traced if on else plain
        begun = time.perf_counter()
        reply = kernel.run(code)
        kernel.wait_until_idle()
        idle[on].append(time.perf_counter() - begun)
        _until_read(traced)
        return reply

    for on in idle:
        one(on)
        idle[on].clear()
    replies = with_progress(pairs, name, one)
    return Delay(replies, [Pair(off, on) for off, on in zip(idle[False], idle[True], strict=True)])


def _until_read(kernel: Kernel) -> None:
    while kernel.value(_STILL_READING):
        time.sleep(0.1)


def as_text(found: Mapping[str, Delay]) -> str:
    """The figures for a terminal."""
    rows = [("a cell that writes", "until", "plainly", "traced", "ratio", "interval", "target", "verdict")]
    verdicts = []
    for name, delay in found.items():
        for until, pairs in (("the reply", delay.reply), ("idle", delay.idle)):
            interval = median_interval([pair.ratio for pair in pairs])
            verdicts.append(report.verdict(interval, TARGET))
            rows.append(
                (
                    name,
                    until,
                    report.ms(median(pair.off for pair in pairs)),
                    report.ms(median(pair.on for pair in pairs)),
                    f"{median(pair.ratio for pair in pairs):.2f}",
                    report.NO_INTERVAL if interval is None else f"{interval.low:.2f} to {interval.high:.2f}",
                    f"{TARGET:g}",
                    verdicts[-1],
                )
            )
    return f"{report.table(rows)}\n\n{report.legend(verdicts)}"


def as_data(found: Mapping[str, Delay], about: Mapping[str, str]) -> dict[str, Any]:
    """The figures for a JSON file; times in seconds."""
    return {
        "benchmark": "output",
        "machine": dict(about),
        "target_ratio": TARGET,
        "cells": {
            name: {"to_the_reply": _told(delay.reply), "until_idle": _told(delay.idle)}
            for name, delay in found.items()
        },
    }


def _told(pairs: list[Pair]) -> dict[str, Any]:
    return {
        "ratio": median(pair.ratio for pair in pairs),
        "verdict": report.verdict(median_interval([pair.ratio for pair in pairs]), TARGET),
        "pairs": times(pairs),
    }


def main(arguments: list[str] | None = None) -> int:
    """Measure and report; returns the exit status."""
    chosen = report.options("output", str(__doc__), PAIRS).parse_args(arguments)
    about = machine.describe(["ipykernel", "ipython", "jupyter_client"])
    print(report.table(list(about.items())), end="\n\n", flush=True)
    found = measure(chosen.pairs)
    print(as_text(found))
    data = as_data(found, about)
    if chosen.out is not None:
        report.write(chosen.out, data)
    missed = [
        told for cell in data["cells"].values() for told in cell.values() if told["verdict"] == "missed"
    ]
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
