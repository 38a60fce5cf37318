"""What capturing native lines costs, a cell and a line, beside what ipykernel's own capture costs.

A line: a cell that writes many lines to file descriptor 2, with tracing on and off in turn, on the
client's clock; off means ipykernel's own capture, a pipe and a thread. What tracing costs an empty cell
is taken off. A cell: marking its beginning and end, on the kernel's own clock.

Exit status 1: a cost that is above its target beyond doubt.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from benchmarks import machine, report
from benchmarks.kernel import Kernel, running_kernel
from benchmarks.pairing import Pair, times
from benchmarks.progress import with_progress
from benchmarks.tracing import timed
from jupyter_mlgpu.explain.statistics import Estimate, median_interval

PAIRS = 20
LINES = 20_000
#: Seconds that capturing may add to a cell, and to a line of LENGTH bytes beyond what ipykernel takes.
TARGET_CELL = 0.3e-3
TARGET_LINE = 1.5e-6
LENGTH = 145

_WRITE = f"""
for number in range({LINES}):
    os.write(2, b"%0{LENGTH - 1}d\\n" % number)
"""
_EMPTY = "pass"
_CELLS = """
import time
from jupyter_mlgpu.measure.capture.capture import Capture
from jupyter_mlgpu.jupyter.notebook.capture.capture_kernel import KernelSurroundings

def ignore(*something):
    pass

capture = Capture(
    KernelSurroundings(), now=str, clean=str, on_live=ignore, on_late=ignore, on_rest=ignore
)
capture.start()
cells = []
for sequence in range(300):
    started = time.perf_counter()
    capture.begin_cell()
    capture.end_cell(sequence)
    cells.append(time.perf_counter() - started)
capture.stop()
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """What was measured, in seconds: cells with lines and without, and beginnings and ends of cells."""

    lines: list[Pair]
    empty: list[Pair]
    cells: list[float]

    @property
    def per_line(self) -> list[float]:
        """Seconds that capturing added to each line, one figure a pair; negative where noise was larger."""
        fixed = median(pair.difference for pair in self.empty)
        return [(pair.difference - fixed) / LINES for pair in self.lines]


def measure(pairs: int) -> Cost:
    """Measure in one kernel, without a framework."""
    with running_kernel() as kernel:
        kernel.run("%load_ext jupyter_mlgpu")
        kernel.run("%mlc_trace off")
        kernel.run("import os")
        lines = _pairs(kernel, f"{LINES:,} lines", _WRITE, pairs)
        empty = _pairs(kernel, "empty cell", _EMPTY, pairs)
        kernel.run("%mlc_trace off")
        kernel.run(_CELLS)
        return Cost(lines, empty, kernel.value("cells"))


def _pairs(kernel: Kernel, title: str, code: str, count: int) -> list[Pair]:
    for on in (False, True):
        timed(kernel, code, on=on)
    return with_progress(count, title, lambda on: timed(kernel, code, on=on))


def as_text(cost: Cost) -> str:
    """The figures for a terminal."""
    line, cell = median_interval(cost.per_line), median_interval(cost.cells)
    plain = median(pair.off for pair in cost.lines) / LINES
    verdicts = (report.verdict(cell, TARGET_CELL), report.verdict(line, TARGET_LINE))
    rows = [
        ("", "median", "interval", "target", "verdict"),
        (
            "added to a cell",
            f"{median(cost.cells) * 1e3:.3f} ms",
            _span(cell, 1e3, "ms"),
            f"{TARGET_CELL * 1e3:g} ms",
            verdicts[0],
        ),
        (
            f"added to a line of {LENGTH} bytes",
            f"{median(cost.per_line) * 1e6:.2f} us",
            _span(line, 1e6, "us"),
            f"{TARGET_LINE * 1e6:g} us",
            verdicts[1],
        ),
    ]
    ratio = median(pair.ratio for pair in cost.lines)
    return "\n".join(
        [
            report.table(rows),
            "",
            f"Writing a line takes {plain * 1e6:.2f} us with ipykernel's own capture; with ours the cell "
            f"takes {ratio:.2f} times as long ({len(cost.lines)} pairs of cells with {LINES:,} lines).",
            report.legend(verdicts),
        ]
    )


def _span(interval: Estimate | None, scale: float, unit: str) -> str:
    if interval is None:
        return report.NO_INTERVAL
    return f"{interval.low * scale:.2f} to {interval.high * scale:.2f} {unit}"


def as_data(cost: Cost, about: Mapping[str, str]) -> dict[str, Any]:
    """The figures for a JSON file; times in seconds."""
    line, cell = median_interval(cost.per_line), median_interval(cost.cells)
    return {
        "benchmark": "capture",
        "machine": dict(about),
        "lines": LINES,
        "line_bytes": LENGTH,
        "added_to_a_line_s": median(cost.per_line),
        "added_to_a_cell_s": median(cost.cells),
        "ratio": median(pair.ratio for pair in cost.lines),
        "verdict_line": report.verdict(line, TARGET_LINE),
        "verdict_cell": report.verdict(cell, TARGET_CELL),
        "pairs": times(cost.lines),
        "empty_pairs": times(cost.empty),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and report; returns the exit status."""
    chosen = report.options("capture", str(__doc__), PAIRS).parse_args(arguments)
    about = machine.describe(["ipykernel", "ipython", "jupyter_client"])
    print(report.table(list(about.items())), end="\n\n", flush=True)
    cost = measure(chosen.pairs)
    print(as_text(cost))
    data = as_data(cost, about)
    if chosen.out is not None:
        report.write(chosen.out, data)
    return 1 if "missed" in (data["verdict_line"], data["verdict_cell"]) else 0


if __name__ == "__main__":
    sys.exit(main())
