"""Memory of a kernel after thousands of traced cells, beside that of a plain kernel after the same cells.

Resident memory of both kernels, in turn, every few hundred cells. The first cells load what is loaded once,
so growth is the slope over the second half.

Exit status 1: a figure that is above its target.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import psutil

from benchmarks import machine, report
from benchmarks.kernel import Kernel, running_kernel

CELLS = 5_000
STEP = 250
#: Bytes that a traced kernel may have more than a plain one at the end, and that it may grow more a cell.
TARGET_MORE = 20 * 1024**2
TARGET_GROWTH = 1_000
_CELL = "x = {number}"


@dataclass(frozen=True, slots=True)
class Memory:
    """Resident bytes of both kernels after so many cells."""

    cells: int
    plain: int
    traced: int


def measure(cells: int) -> list[Memory]:
    """Both kernels after every STEP cells, the first time before any."""
    with running_kernel() as plain, running_kernel() as traced:
        traced.run("%load_ext jupyter_mlgpu")
        processes = [psutil.Process(kernel.value("__import__('os').getpid()")) for kernel in (plain, traced)]
        found = []
        for begin in range(0, cells + 1, STEP):
            found.append(Memory(begin, *(process.memory_info().rss for process in processes)))
            print(f"{begin:,} of {cells:,} cells", file=sys.stderr, flush=True)
            if begin < cells:
                for kernel in (plain, traced):
                    _run(kernel, begin)
        return found


def _run(kernel: Kernel, begin: int) -> None:
    for number in range(begin, begin + STEP):
        kernel.run(_CELL.format(number=number))
        kernel.wait_until_idle()


def growth(points: Sequence[tuple[int, int]]) -> float:
    """Bytes a cell: the least squares' slope over the second half."""
    late = points[len(points) // 2 :]
    cells = sum(cell for cell, _ in late) / len(late)
    memory = sum(size for _, size in late) / len(late)
    together = sum((cell - cells) * (size - memory) for cell, size in late)
    return together / sum((cell - cells) ** 2 for cell, _ in late)


def as_data(found: Sequence[Memory], about: dict[str, str]) -> dict[str, Any]:
    """The figures for a JSON file, in bytes."""
    plain = growth([(one.cells, one.plain) for one in found])
    traced = growth([(one.cells, one.traced) for one in found])
    return {
        "benchmark": "many_cells",
        "machine": about,
        "cells": found[-1].cells,
        "more_at_the_end": found[-1].traced - found[-1].plain,
        "more_before_the_first_cell": found[0].traced - found[0].plain,
        "growth_plain": plain,
        "growth_traced": traced,
        "kept": found[-1].traced - found[-1].plain <= TARGET_MORE and traced - plain <= TARGET_GROWTH,
        "memory": [[one.cells, one.plain, one.traced] for one in found],
    }


def as_text(data: dict[str, Any]) -> str:
    """The figures for a terminal."""
    more, added = data["more_at_the_end"], data["growth_traced"] - data["growth_plain"]
    rows = [
        (f"after {data['cells']:,} cells", "measured", "target"),
        ("more than a plain kernel", f"{more / 1024**2:.1f} MiB", f"{TARGET_MORE / 1024**2:g} MiB"),
        ("of it before the first cell", f"{data['more_before_the_first_cell'] / 1024**2:.1f} MiB", ""),
        ("growth of a plain kernel", f"{data['growth_plain']:,.0f} bytes a cell", ""),
        ("growth beyond that", f"{added:,.0f} bytes a cell", f"{TARGET_GROWTH:,} bytes a cell"),
    ]
    return report.table(rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and report; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.many_cells",
        description=str(__doc__),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--cells", type=report.at_least_one, default=CELLS, help=f"how many (default {CELLS:,})"
    )
    report.add_out(parser)
    chosen = parser.parse_args(arguments)
    about = machine.describe(["ipykernel", "ipython", "jupyter_client"])
    print(report.table(list(about.items())), end="\n\n", flush=True)
    data = as_data(measure(chosen.cells), about)
    print(as_text(data))
    if chosen.out is not None:
        report.write(chosen.out, data)
    return 0 if data["kept"] else 1


if __name__ == "__main__":
    sys.exit(main())
