"""What `%load_ext jupyter_mlgpu` adds to a bare kernel's start, and what it imports.

Each start is timed from before the kernel's process exists to the reply to its first cell, which
loads the extension or, for comparison, does nothing in its place.

Exit status 1: a forbidden import, or a cost that is above its target beyond doubt.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks import machine, report
from benchmarks.kernel import running_kernel
from benchmarks.pairing import Pair, times
from benchmarks.progress import with_progress
from benchmarks.report import quartiles
from jupyter_mlgpu.explain.statistics import median_interval

PAIRS = 20
#: Seconds that loading may add to a bare kernel's start, in the median.
TARGET = 0.060
FORBIDDEN = frozenset(["numpy", "tensorflow", "keras", "torch", "jax", "mlx"])
LOAD = "%load_ext jupyter_mlgpu"

# The same cell for both; it times its middle line inside the kernel.
_CELL = "import time as _time\n_start = _time.perf_counter()\n{}\n_seconds = _time.perf_counter() - _start"


@dataclass(frozen=True, slots=True)
class Loading:
    """What was measured: starts in pairs, load_ext inside the kernel (seconds), modules by package."""

    starts: list[Pair]
    inside: list[float]
    imported: Counter[str]
    forbidden: list[str]


def measure(pairs: int) -> Loading:
    """Start kernels in pairs, and look once at what loading imports."""
    imported = imported_by_load()
    forbidden = sorted((FORBIDDEN & imported.keys()) | imported_in_plain_python())
    inside: list[float] = []

    def start(on: bool) -> float:
        with running_kernel() as kernel:
            kernel.run(_CELL.format(LOAD if on else "pass"))
            seconds = time.perf_counter() - kernel.started_at
            if on:
                inside.append(kernel.value("_seconds"))
            return seconds

    return Loading(with_progress(pairs, "Starting kernels", start), inside, imported, forbidden)


def imported_by_load() -> Counter[str]:
    """How many modules loading adds to a bare kernel, by top-level package."""
    with running_kernel() as kernel:
        kernel.run("import sys\nbefore = set(sys.modules)")
        kernel.run(LOAD)
        return Counter(kernel.value("[name.partition('.')[0] for name in set(sys.modules) - before]"))


def imported_in_plain_python() -> frozenset[str]:
    """The forbidden modules that `import jupyter_mlgpu` imports where Jupyter has not been imported."""
    code = "import sys, jupyter_mlgpu; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return FORBIDDEN & set(done.stdout.split())


def as_text(found: Loading) -> str:
    """The figures for a terminal."""
    differences = [pair.difference for pair in found.starts]
    added, interval = quartiles(differences), median_interval(differences)
    verdict = report.verdict(interval, TARGET)
    rows = [
        ("bare kernel", report.spread(quartiles([pair.off for pair in found.starts]))),
        ("with the extension", report.spread(quartiles([pair.on for pair in found.starts]))),
        ("difference of a pair", report.spread(added)),
        ("interval of its median", report.interval(interval)),
        ("inside the kernel", f"{report.spread(quartiles(found.inside))} for load_ext itself"),
        ("target", f"median at most {report.ms(TARGET)}: {'yes' if added.median <= TARGET else 'no'}"),
        ("verdict", verdict),
    ]
    packages = ", ".join(f"{name} ({count})" for name, count in found.imported.most_common())
    return "\n".join(
        [
            f"{LOAD}: {len(found.starts)} interleaved pairs of kernel starts, to the first reply",
            "",
            report.table(rows),
            "",
            f"Modules that load_ext adds to a bare kernel: {found.imported.total()}: {packages}.",
            f"numpy or a framework imported: {', '.join(found.forbidden) or 'none'}.",
            report.legend([verdict]),
        ]
    )


def as_data(found: Loading, about: Mapping[str, str]) -> dict[str, Any]:
    """The figures for a JSON file; times in seconds."""
    differences = [pair.difference for pair in found.starts]
    interval = median_interval(differences)
    return {
        "benchmark": "load_ext",
        "machine": dict(about),
        "difference_s": report.as_data(quartiles(differences), interval),
        "inside_kernel_s": report.as_data(quartiles(found.inside), median_interval(found.inside)),
        "target_s": TARGET,
        "verdict": report.verdict(interval, TARGET),
        "modules_imported": dict(found.imported),
        "forbidden_imports": found.forbidden,
        "pairs": times(found.starts),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and report; returns the exit status."""
    chosen = report.options("load_ext", str(__doc__), PAIRS).parse_args(arguments)
    about = machine.describe(["ipykernel", "ipython", "jupyter_client"])
    print(report.table(list(about.items())), end="\n\n", flush=True)
    found = measure(chosen.pairs)
    print(as_text(found))
    data = as_data(found, about)
    if chosen.out is not None:
        report.write(chosen.out, data)
    return 1 if found.forbidden or data["verdict"] == "missed" else 0


if __name__ == "__main__":
    sys.exit(main())
