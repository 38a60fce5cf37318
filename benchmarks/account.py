"""What a kernel's account of itself adds: to loading, to a cell, to memory.

Kernels are loaded in pairs, with the account and without. What is done at a cell's two ends is timed by
itself, inside the kernel, and so is what the sampler's thread does beside a cell: a look, and the looks that
a cell of one second has. Loading and looking are in processor time of their thread.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks import machine, report
from benchmarks.kernel import running_kernel
from benchmarks.pairing import Pair, times
from benchmarks.progress import with_progress
from benchmarks.report import quartiles
from jupyter_mlgpu.explain.statistics import median_interval
from jupyter_mlgpu.measure.flight_recorder import EVERY
from jupyter_mlgpu.record.flight import flight_record

PAIRS = 20
#: Seconds, in the median: for importing and loading together, and for both ends of a cell.
LOADING, STORING = 0.010, 0.000_020
#: The part of a cell of one second that looking takes.
LOOKING = 0.003

#: Its modules, when the others are there.
_IMPORTS = """import time as _time
from jupyter_mlgpu.jupyter.notebook.browser import logbook
from jupyter_mlgpu.jupyter.notebook.capture import capture_kernel
from jupyter_mlgpu.jupyter.notebook.cell import events, record_stages
from jupyter_mlgpu.measure import runtime
_start = _time.thread_time()
from jupyter_mlgpu.jupyter.notebook import post_mortem as _post_mortem
_importing = _time.thread_time() - _start"""
_OFF = "_post_mortem._path = lambda kernel: None"
_LOAD = """from jupyter_mlgpu.jupyter.notebook.extension import Extension as _extension
_start = _time.thread_time()
get_ipython().run_line_magic('load_ext', 'jupyter_mlgpu')
_seconds = _time.thread_time() - _start"""
_STORES = """from types import SimpleNamespace as _namespace
_kept = get_ipython()._jupyter_mlgpu.cells.post_mortem
_info = _namespace(raw_cell="pass", store_history=True)
_stores = []
for _ in range(500):
    _start = _time.perf_counter()
    _kept.cell_begins(_info, nested=False)
    _kept.cell_ended(nested=False)
    _stores.append(_time.perf_counter() - _start)"""
_LOOKS = """_looks = []
for _ in range(200):
    _start = _time.thread_time()
    _kept._account._look()
    _looks.append(_time.thread_time() - _start)"""
_MEMORY = "__import__('psutil').Process().memory_info().rss"


@dataclass(frozen=True, slots=True)
class Cost:
    """Loading in pairs of seconds, memory in pairs of bytes; the rest in seconds.

    `imports` is what importing its modules takes beside the others, `stores` both ends of a cell together,
    and `looks` one look each.
    """

    loading: list[Pair]
    memory: list[Pair]
    imports: list[float]
    stores: list[float]
    looks: list[float]


def measure(pairs: int) -> Cost:
    """Load kernels in pairs, and time the parts of the account in those that have one."""
    memory: list[tuple[bool, float]] = []
    imports: list[float] = []
    stores: list[float] = []
    looks: list[float] = []

    def load(on: bool) -> float:
        with running_kernel() as kernel:
            kernel.run(_IMPORTS)
            imports.append(float(kernel.value("_importing")))
            kernel.run("pass" if on else _OFF)
            kernel.run(_LOAD)
            memory.append((on, float(kernel.value(_MEMORY))))
            if on:
                kernel.run(_STORES)
                stores.extend(kernel.value("_stores"))
                kernel.run(_LOOKS)
                looks.extend(kernel.value("_looks"))
            return float(kernel.value("_seconds"))

    loading = with_progress(pairs, "Loading kernels", load)
    return Cost(loading, _paired(memory), imports, stores, looks)


def _paired(values: Sequence[tuple[bool, float]]) -> list[Pair]:
    return [
        Pair(*(value for _, value in sorted(values[number : number + 2])))
        for number in range(0, len(values), 2)
    ]


def added(found: Cost) -> list[float]:
    """Seconds that importing and loading take more, of each pair."""
    importing = quartiles(found.imports).median
    return [importing + pair.difference for pair in found.loading]


def shares(found: Cost) -> list[float]:
    """The part of a cell of one second that its looks take."""
    return [look / EVERY for look in found.looks]


def verdicts(found: Cost) -> list[report.Verdict]:
    """Of loading, of a cell's ends, of looking."""
    measured = ((added(found), LOADING), (found.stores, STORING), (shares(found), LOOKING))
    return [report.verdict(median_interval(values), target) for values, target in measured]


def as_text(found: Cost) -> str:
    """The figures for a terminal."""
    loading, storing, looking = verdicts(found)
    more = quartiles([pair.difference / 1024 for pair in found.memory])
    stores, part = quartiles(found.stores), quartiles(shares(found))
    rows = [
        ("importing its modules", report.spread(quartiles(found.imports))),
        ("loading, without it", report.spread(quartiles([pair.off for pair in found.loading]))),
        ("  it adds", report.spread(quartiles([pair.difference for pair in found.loading]))),
        ("both together, interval", report.interval(median_interval(added(found)))),
        ("  target", f"at most {report.ms(LOADING)}: {loading}"),
        (
            "both ends of a cell",
            f"median {stores.median * 1e6:.1f} µs, third quartile {stores.third * 1e6:.1f} µs",
        ),
        ("  target", f"at most {STORING * 1e6:.0f} µs: {storing}"),
        ("memory that it adds", f"median {more.median:.0f} KiB ({more.first:.0f} to {more.third:.0f})"),
        ("its file", f"{flight_record.SIZE / 1024:.0f} KiB"),
        ("a look", report.spread(quartiles(found.looks))),
        ("  of a cell of 1 s", f"median {part.median:.3%}, with a look every {EVERY:g} s"),
        ("  target", f"at most {LOOKING:.1%}: {looking}"),
    ]
    head = f"A kernel's account: {len(found.loading)} interleaved pairs of kernels"
    return "\n".join([head, "", report.table(rows), "", report.legend([loading, storing, looking])])


def as_data(found: Cost, about: Mapping[str, str]) -> dict[str, Any]:
    """The figures for a JSON file; times in seconds, memory in bytes."""

    def figures(values: Sequence[float]) -> dict[str, Any]:
        return report.as_data(quartiles(values), median_interval(values))

    return {
        "benchmark": "account",
        "machine": dict(about),
        "importing_s": figures(found.imports),
        "loading_s": figures([pair.difference for pair in found.loading]),
        "stores_s": figures(found.stores),
        "memory_bytes": figures([pair.difference for pair in found.memory]),
        "file_bytes": flight_record.SIZE,
        "look_s": figures(found.looks),
        "verdicts": verdicts(found),
        "pairs": times(found.loading),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and report; returns the exit status."""
    chosen = report.options("account", str(__doc__), PAIRS).parse_args(arguments)
    about = machine.describe(["ipykernel", "ipython", "jupyter_client"])
    print(report.table(list(about.items())), end="\n\n", flush=True)
    found = measure(chosen.pairs)
    print(as_text(found))
    if chosen.out is not None:
        report.write(chosen.out, as_data(found, about))
    return 1 if "missed" in verdicts(found) else 0


if __name__ == "__main__":
    sys.exit(main())
