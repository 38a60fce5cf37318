"""What tracing costs training steps of TensorFlow, PyTorch and JAX, beside JUmPER, scalene and viztracer.

Light tracing is compared with bare cells, `--ops` with the framework's own profiler. `make
benchmark-profilers` makes the environment that has them all. What is not installed is left out and named.

Exit status 1: a cost that is above its target beyond doubt.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from benchmarks import machine, report
from benchmarks.profilers import shown
from benchmarks.profilers.cells import FRAMEWORKS
from benchmarks.profilers.conditions import TOOLS
from benchmarks.profilers.measure import Times, measure
from benchmarks.profilers.results import verdicts

PAIRS = 60
_PACKAGES = ["ipykernel", "tensorflow", "keras", "torch", "jax", "jumper-extension", "scalene", "viztracer"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and report; returns the exit status."""
    parser = report.options("profilers", str(__doc__), PAIRS)
    parser.add_argument(
        "--framework",
        choices=[one.module for one in FRAMEWORKS],
        action="append",
        help="measure this framework alone; may be given twice",
    )
    parser.add_argument(
        "--tools",
        choices=[*TOOLS, "none"],
        nargs="+",
        default=TOOLS,
        help="which tools of other makers take part; none: light tracing and --ops alone (default: all)",
    )
    names = {cell.name for one in FRAMEWORKS for cell in (*one.workloads, *one.large)}
    parser.add_argument(
        "--cell", choices=sorted(names), action="append", help="measure this cell alone; may be given twice"
    )
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write a page of the figures, too")
    chosen = parser.parse_args(arguments)
    about = machine.describe(_PACKAGES) | {"pairs": str(chosen.pairs)}
    print(report.table(list(about.items())), end="\n\n", flush=True)
    measured: list[Times] = []
    for framework in FRAMEWORKS:
        if chosen.framework and framework.module not in chosen.framework:
            continue
        if find_spec(framework.module) is None:
            print(f"{framework.name}: not measured, for it is not installed in this Python\n")
            continue
        measured += measure(framework, chosen.pairs, chosen.tools, chosen.cell or ())
        about["load average, last minute, at the end"] = machine.load()
        # After each framework: who stops it, or loses the machine, keeps what was measured.
        if chosen.out is not None:
            report.write(chosen.out, shown.as_data(measured, about))
        if chosen.markdown is not None:
            chosen.markdown.write_text(shown.as_markdown(measured, about), encoding="utf-8")
    print(shown.as_text(measured))
    return 1 if "missed" in list(verdicts(measured)) else 0


if __name__ == "__main__":
    sys.exit(main())
