"""What a kernel's account of itself adds: to loading, to a cell, to memory, and to a cell of a second.

Pairs of kernels, with the account and without, are loaded one after the other, and run the same empty cells.
What the sampler's thread does beside a cell is timed by itself: a look, and the looks that a cell of one
second has.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks import machine, report
from benchmarks.kernel import Kernel, running_kernel
from benchmarks.pairing import Pair, times
from benchmarks.progress import with_progress
from benchmarks.report import quartiles
from jupyter_mlgpu.explain.statistics import Estimate, median_interval
from jupyter_mlgpu.measure.account import EVERY
from jupyter_mlgpu.record.accounts import account

PAIRS = 20
#: Seconds, in the median: for loading, and for an empty cell.
LOADING, CELL = 0.005, 0.000_200
#: The part of a cell of one second that looking takes.
LOOKING = 0.003
CELLS = 40

_OFF = "from jupyter_mlgpu.jupyter.notebook import post_mortem as _one; _one._path = lambda kernel: None"
_ON = "from jupyter_mlgpu.jupyter.notebook import post_mortem as _one"
_LOAD = """import time as _time
from jupyter_mlgpu.jupyter.notebook.extension import Extension as _extension
_start = _time.perf_counter()
get_ipython().run_line_magic('load_ext', 'jupyter_mlgpu')
_seconds = _time.perf_counter() - _start"""
_LOOKS = """_account = get_ipython()._jupyter_mlgpu._post_mortem._account
_looks = []
for _ in range(200):
    _begun = _time.thread_time()
    _account._look()
    _looks.append(_time.thread_time() - _begun)"""
_STORES = """from types import SimpleNamespace as _namespace
_post_mortem = get_ipython()._jupyter_mlgpu._post_mortem
_info = _namespace(raw_cell="pass", store_history=True)
_stores = []
for _ in range(500):
    _begun = _time.perf_counter()
    _post_mortem.cell_begins(_info, nested=False)
    _post_mortem.cell_ended(nested=False)
    _stores.append(_time.perf_counter() - _begun)"""
_IMPORTS = """import time as _time
import jupyter_mlgpu.jupyter.notebook.logbook, jupyter_mlgpu.jupyter.notebook.capture_kernel
_start = _time.perf_counter()
import jupyter_mlgpu.jupyter.notebook.post_mortem
_seconds = _time.perf_counter() - _start"""
_MEMORY = "__import__('psutil').Process().memory_info().rss"


@dataclass(frozen=True, slots=True)
class Cost:
    """Pairs in seconds (loading inside the kernel, an empty cell), bytes in pairs; the rest in seconds.

    `imports` is what importing its modules takes beside the others, `stores` both ends of a cell together,
    and `looks` one look each.
    """

    loading: list[Pair]
    cells: list[Pair]
    memory: list[Pair]
    imports: list[float]
    stores: list[float]
    looks: list[float]


def measure(pairs: int) -> Cost:
    """Load kernels in pairs, and run empty cells in each."""
    cells: list[tuple[bool, float]] = []
    memory: list[tuple[bool, float]] = []
    imports: list[float] = []
    stores: list[float] = []
    looks: list[float] = []

    def load(on: bool) -> float:
        with running_kernel() as kernel:
            kernel.run(_IMPORTS)
            imports.append(float(kernel.value("_seconds")))
            kernel.run(_ON if on else _OFF)
            kernel.run(_LOAD)
            seconds = float(kernel.value("_seconds"))
            cells.append((on, _empty_cell(kernel)))
            memory.append((on, float(kernel.value(_MEMORY))))
            if on:
                kernel.run(_LOOKS)
                looks.extend(kernel.value("_looks"))
                kernel.run(_STORES)
                stores.extend(kernel.value("_stores"))
            return seconds

    loading = with_progress(pairs, "Loading kernels", load)
    return Cost(loading, _paired(cells), _paired(memory), imports, stores, looks)


def _empty_cell(kernel: Kernel) -> float:
    """The median time of an empty cell."""
    return quartiles([kernel.run("pass") for _ in range(CELLS)][CELLS // 4 :]).median


def _paired(values: Sequence[tuple[bool, float]]) -> list[Pair]:
    return [
        Pair(*(value for _, value in sorted(values[number : number + 2])))
        for number in range(0, len(values), 2)
    ]


def shares(found: Cost) -> list[float]:
    """The part of a cell of one second that its looks take."""
    return [look / EVERY for look in found.looks]


def as_text(found: Cost) -> str:
    """The figures for a terminal."""
    rows: list[tuple[str, str]] = []
    verdicts = []
    for name, pairs, target in (
        ("load_ext, inside the kernel", found.loading, LOADING),
        ("an empty cell", found.cells, CELL),
    ):
        differences = [pair.difference for pair in pairs]
        interval = median_interval(differences)
        verdicts.append(report.verdict(interval, target))
        rows += [
            (f"{name}, without", report.spread(quartiles([pair.off for pair in pairs]))),
            ("  the account adds", report.spread(quartiles(differences))),
            ("  interval of the median", report.interval(interval)),
            ("  target", f"at most {report.ms(target)}: {verdicts[-1]}"),
        ]
    more = quartiles([pair.difference / 1024 for pair in found.memory])
    look, part = quartiles(found.looks), quartiles(shares(found))
    looking = median_interval(shares(found))
    verdicts.append(report.verdict(looking, LOOKING))
    rows += [
        ("importing its modules", report.spread(quartiles(found.imports))),
        ("both ends of a cell, stored", f"median {quartiles(found.stores).median * 1e6:.1f} µs"),
        (
            "memory that the account adds",
            f"median {more.median:.0f} KiB ({more.first:.0f} to {more.third:.0f})",
        ),
        ("its file", f"{account.SIZE / 1024:.0f} KiB"),
        ("a look, processor time", report.spread(look)),
        ("  of a cell of 1 s", f"median {part.median:.3%}, with a look every {EVERY:g} s"),
        ("  target", f"at most {LOOKING:.1%}: {verdicts[-1]}"),
    ]
    head = f"A kernel's account: {len(found.loading)} interleaved pairs of kernels, {CELLS} empty cells each"
    return "\n".join([head, "", report.table(rows), "", report.legend(verdicts)])


def as_data(found: Cost, about: Mapping[str, str]) -> dict[str, Any]:
    """The figures for a JSON file; times in seconds, memory in bytes."""

    def differences(pairs: Sequence[Pair]) -> dict[str, Any]:
        values = [pair.difference for pair in pairs]
        return report.as_data(quartiles(values), median_interval(values))

    return {
        "benchmark": "account",
        "machine": dict(about),
        "loading_s": differences(found.loading),
        "empty_cell_s": differences(found.cells),
        "memory_bytes": differences(found.memory),
        "file_bytes": account.SIZE,
        "imports_s": report.as_data(quartiles(found.imports), median_interval(found.imports)),
        "stores_s": report.as_data(quartiles(found.stores), median_interval(found.stores)),
        "look_s": report.as_data(quartiles(found.looks), median_interval(found.looks)),
        "verdicts": [
            report.verdict(_interval(found.loading), LOADING),
            report.verdict(_interval(found.cells), CELL),
            report.verdict(median_interval(shares(found)), LOOKING),
        ],
        "pairs": {"loading": times(found.loading), "cells": times(found.cells)},
    }


def _interval(pairs: Sequence[Pair]) -> Estimate | None:
    return median_interval([pair.difference for pair in pairs])


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and report; returns the exit status."""
    chosen = report.options("account", str(__doc__), PAIRS).parse_args(arguments)
    about = machine.describe(["ipykernel", "ipython", "jupyter_client"])
    print(report.table(list(about.items())), end="\n\n", flush=True)
    found = measure(chosen.pairs)
    print(as_text(found))
    data = as_data(found, about)
    if chosen.out is not None:
        report.write(chosen.out, data)
    return 1 if "missed" in data["verdicts"] else 0


if __name__ == "__main__":
    sys.exit(main())
