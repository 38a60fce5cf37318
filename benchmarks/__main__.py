"""Measure what the package costs: `python -m benchmarks CASE`."""

from __future__ import annotations

import argparse
import importlib
import shlex
import sys

from benchmarks.report import CannotMeasureError, describe_run, load_average

CASES = {
    "load": "what %load_ext adds to a kernel's start",
    "cell": "what a cell costs without the extension, with a reference tree, and with this tree",
    "tracing": "what tracing adds to a cell of PyTorch, compared with its own profiler",
    "output": "how long cells that write much take, compared with a plain kernel",
    "memory": "memory after thousands of cells, compared with a plain kernel",
    "training": "training of four models, compared with torch.compile",
    "gpu": "what CUPTI's records add to a cell, on a machine with an NVIDIA GPU",
    "sidebar": "what the extension adds to JupyterLab's start, and the sidebar under load",
}


def main() -> int:
    """Run one case. Returns 1 if a target is missed beyond doubt, 2 if the case cannot run here."""
    listed = "\n".join(f"  {name:10} {what}" for name, what in CASES.items())
    top = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        epilog=f"cases:\n{listed}\n\n`python -m benchmarks CASE --help` has a case's options.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("case", choices=CASES, metavar="CASE")
    name = top.parse_args(sys.argv[1:2] or ["--help"]).case
    try:
        # Imported by name, so that a case needs only its own libraries.
        case = importlib.import_module(f"benchmarks.{name}")
    except ModuleNotFoundError as error:
        print(f"This case needs {error.name}, which is not installed in this Python.", file=sys.stderr)
        return 2
    parser = argparse.ArgumentParser(
        prog=f"python -m benchmarks {name}",
        description=case.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    case.add_options(parser)
    options = parser.parse_args(sys.argv[2:])
    facts = describe_run(f"python -m benchmarks {shlex.join(sys.argv[1:])}", case.PACKAGES)
    print(*(f"* {name}: {value}" for name, value in facts.items()), sep="\n", flush=True)
    missed = False
    try:
        for table in case.measure(options):
            # At once, so that an interrupted run keeps it.
            print(f"\n{table}", flush=True)
            missed |= any(figure.verdict == "missed" for figure in table.figures)
    except CannotMeasureError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"\nload average at the end: {load_average()}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
