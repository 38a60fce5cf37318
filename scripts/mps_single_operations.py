"""Compare the forecast for MPS with what people reported of single operations, and write the table of it.

    python scripts/mps_single_operations.py     # needs PyTorch; writes docs/measurements/mps.md

The reports are in tests/data/mps/single_operations.toml. Each call is traced and judged as
`%mlc_plan --target mps` does it, with the tables of the versions of PyTorch of which something is known.
"""

from __future__ import annotations

import textwrap
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache

from msgspec import Struct

from constraints import ROOT
from jupyter_mlgpu.graphs.mps import tables
from jupyter_mlgpu.graphs.mps.forecast import FINE, ORDER, Around, MpsForecast, judge
from jupyter_mlgpu.graphs.mps.trace import trace
from jupyter_mlgpu.graphs.mps.traced import Traced
from jupyter_mlgpu.record import decoding
from jupyter_mlgpu.record.sentence import say

REPORTS = ROOT / "tests" / "data" / "mps" / "single_operations.toml"
PAGE = ROOT / "docs" / "measurements" / "mps.md"
#: This script writes the page's text between these lines.
_BEGIN, _END = "<!-- single operations -->", "<!-- end of single operations -->"
#: The threads that collect missing operations.
THREADS = (77764, 141287, 151874)
_WIDTH = 125
_WORDS = {
    "gpu": "runs on the GPU",
    "missing": "raises",
    "fallback": "falls back by itself",
    "type": "no such type",
    "unknown": "unknown",
    "wrong": "wrong",
}


class Report(Struct, frozen=True, forbid_unknown_fields=True):
    """A report of an operation, and what is known of it in versions of PyTorch.

    `call` is Python that calls it, empty if it cannot be traced here. `expected` has a verdict by version,
    and `evidence` says where that is from.
    """

    name: str
    issue: int
    reported: str
    saw: str
    call: str = ""
    expected: Mapping[str, str] = {}
    evidence: str = ""


class _Reports(Struct, frozen=True):
    operation: tuple[Report, ...]


def reports() -> tuple[Report, ...]:
    """Return all reports."""
    data = tomllib.loads(REPORTS.read_text("utf-8"))
    return decoding.decode(_Reports, data, REPORTS.name).operation


def verdict(report: Report, version: str) -> str:
    """Return the worst verdict of the operations that a report's call makes, by the table of a version.

    Operations that are made of others count as on the GPU: the others are judged themselves.
    """
    if not report.call:
        kind = tables.load(version).verdict(report.name, frozenset({"float32"})).kind
    else:
        kind = min((one.judgement for one in _forecast(report, version).operations), key=ORDER.index)
    return "gpu" if kind in FINE else kind


def raising(report: Report, version: str) -> tuple[str, ...]:
    """Return the operations of a report's call that have no kernel in a version."""
    return tuple(one.operation for one in _forecast(report, version).of("missing"))


def _forecast(report: Report, version: str) -> MpsForecast:
    return judge(_traced(report.call), tables.load(version), version, say("it"), Around())


@cache
def _traced(call: str) -> Traced:
    import torch
    from torch import nn
    from torch.nn import functional

    names = {"torch": torch, "nn": nn, "F": functional, "square": lambda: torch.randn(4, 4)}
    return trace(lambda: eval(call, names), (), train=False)


def agrees(report: Report) -> bool:
    """Return True if the forecast says what is known of each version."""
    return all(verdict(report, version) == kind for version, kind in report.expected.items())


def section() -> str:
    """Return the part of the page on single operations, in Markdown."""
    known = [one for one in reports() if one.expected]
    other = [one for one in reports() if not one.expected]
    agreeing = [one for one in known if agrees(one)]
    checks = sum(len(one.expected) for one in known)
    of_threads = sum(one.issue in THREADS for one in known)
    newest = tables.versions()[-1]
    counts = {
        kind: sum(verdict(one, newest) == kind for one in reports()) for kind in ("gpu", "missing", "unknown")
    }
    answer = (
        f"**The forecast says what is known of {len(agreeing)} of {len(known)} operations** that people "
        f"missed on MPS, {checks} times an operation in a version of PyTorch: {of_threads} are named in "
        f"pytorch#77764, #141287 or #151874, and {len(known) - of_threads} in issues of their own. Of "
        f"{len(other)} more nothing that was read says when they changed. Of all {len(reports())}, "
        f"{counts['gpu']} run on the GPU in {newest}, {counts['missing']} raise, and of {counts['unknown']}, "
        "which belong to other libraries, the forecast says that it does not know."
    )
    return "\n".join(
        [
            textwrap.fill(answer, _WIDTH),
            "",
            "| operation | issue | reported with, on | they saw | forecast | agrees | evidence |",
            "| --- | --- | --- | --- | --- | --- | --- |",
            *(_row(one, list(one.expected), "yes" if agrees(one) else "**no**") for one in known),
            "",
            f"The {len(other)} others, and what the forecast says of the oldest and of the newest version:",
            "",
            "| operation | issue | reported with, on | they saw | forecast |",
            "| --- | --- | --- | --- | --- |",
            *(_row(one, [tables.versions()[0], newest]) for one in other),
        ]
    )


def _row(report: Report, versions: Sequence[str], agreeing: str = "") -> str:
    said = "; ".join(f"{version}: {_WORDS[verdict(report, version)]}" for version in versions)
    cells = [f"`{report.name}`", f"#{report.issue}", report.reported, report.saw, said]
    cells += [agreeing, report.evidence] if agreeing else []
    return f"| {' | '.join(cells)} |"


def page(text: str) -> str:
    """Return the page's text with the section as it is made now."""
    before, _, rest = text.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    return f"{before}{_BEGIN}\n{section()}\n{_END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
