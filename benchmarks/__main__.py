"""Measure what the package costs: `python -m benchmarks CASE`."""

from __future__ import annotations

import argparse
import importlib
import shlex
import sys
from collections.abc import Sequence

from benchmarks.report import CannotMeasureError, Report, new_file

CASES = {
    "load": "what %load_ext adds to a kernel's start",
    "cell": "what a cell costs without the extension, with a reference tree, and with this tree",
    "tracing": "what tracing adds to a cell of a framework, beside profilers and other tools",
    "output": "how long cells that write much take beside a plain kernel",
    "memory": "memory after thousands of cells beside a plain kernel",
    "calls": "what choosing a device and looking for misplaced values cost, by framework",
    "redaction": "how long redaction takes for texts that patterns find hard",
    "mlcompute": "a training step of mlcompute beside Keras's",
    "training": "training of four models beside torch.compile",
    "gpu": "what CUPTI's records add to a cell, on a machine with an NVIDIA GPU",
    "sidebar": "what the extension adds to JupyterLab's start, and the sidebar under load",
    "teacher": "how long 300 students wait for the teacher's view",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one case. Returns 1 if a target is missed beyond doubt, 2 if the case cannot run here."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    listed = "\n".join(f"  {name:10} {what}" for name, what in CASES.items())
    top = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        epilog=f"cases:\n{listed}\n\n`python -m benchmarks CASE --help` has a case's options.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("case", choices=CASES, metavar="CASE")
    name = top.parse_args(words[:1] or ["--help"]).case
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
    parser.add_argument(
        "--out", type=new_file, metavar="FILE", help="also write all figures to this JSON file"
    )
    parser.add_argument("--markdown", type=new_file, metavar="FILE", help="also write the tables as a page")
    chosen = parser.parse_args(words[1:])
    command = f"python -m benchmarks {shlex.join(words)}"
    report = Report(str(case.__doc__), command, case.PACKAGES, chosen.out, chosen.markdown)
    try:
        for table in case.measure(chosen):
            report.add(table)
    except CannotMeasureError as error:
        print(error, file=sys.stderr)
        return 2
    return report.exit_status()


if __name__ == "__main__":
    sys.exit(main())
