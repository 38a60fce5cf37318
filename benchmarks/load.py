"""Measure what `%load_ext jupyter_mlgpu` adds to a bare kernel's start, and what it imports.

Each start is timed from before the kernel's process exists to the reply to its first cell, which loads the
extension or does nothing in its place. Target: 60 ms more. NumPy or a framework among the imports is a target
missed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator

from benchmarks.kernel import KERNEL_PACKAGES, LOAD, running_kernel
from benchmarks.report import COUNT, MS, Figure, Table, add_pairs, difference_figure, median_figure
from benchmarks.statistics import exact, interleave

PACKAGES = KERNEL_PACKAGES

#: Seconds that loading may add to a bare kernel's start.
TARGET = 0.060
FORBIDDEN = frozenset(["numpy", "tensorflow", "keras", "torch", "jax", "mlx"])
# The same cell for both; it times its middle line inside the kernel.
_CELL = "import time as _time\n_start = _time.perf_counter()\n{}\n_seconds = _time.perf_counter() - _start"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the number of pairs."""
    add_pairs(parser, 20)


def measure(options: argparse.Namespace) -> Iterator[Table]:
    """Start kernels in pairs, and list once what loading imports."""
    inside: list[float] = []

    def start(on: bool) -> float:
        with running_kernel() as kernel:
            kernel.run(_CELL.format(LOAD if on else "pass"))
            seconds = time.perf_counter() - kernel.started_at
            if on:
                inside.append(kernel.value("_seconds"))
            return seconds

    imported = _imported_by_load()
    forbidden = sorted((FORBIDDEN & imported.keys()) | _imported_by_plain_python())
    pairs = interleave(options.pairs, start, "Starting kernels")
    names = {"found": ", ".join(forbidden) or "none"}
    packages = ", ".join(f"{name} ({count})" for name, count in imported.most_common())
    yield Table(
        "A kernel's start to its first reply, with loading and without",
        [
            difference_figure("added to the start", pairs, TARGET),
            median_figure("load_ext itself, inside the kernel", inside, MS),
            Figure("NumPy and frameworks imported", len(forbidden), exact(len(forbidden)), COUNT, 0, names),
        ],
        [f"Modules that load_ext adds: {imported.total()}: {packages}."],
    )


def _imported_by_load() -> Counter[str]:
    """Return how many modules loading adds to a bare kernel, by top-level package."""
    with running_kernel() as kernel:
        kernel.run("import sys\nbefore = set(sys.modules)")
        kernel.run(LOAD)
        return Counter(kernel.value("[name.partition('.')[0] for name in set(sys.modules) - before]"))


def _imported_by_plain_python() -> frozenset[str]:
    """Return the forbidden modules that `import jupyter_mlgpu` imports without Jupyter."""
    code = "import sys, jupyter_mlgpu; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return FORBIDDEN & set(done.stdout.split())
