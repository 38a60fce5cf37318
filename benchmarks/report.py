"""What every case prints: the machine, the command, and tables of figures with verdicts."""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from datetime import UTC, datetime
from importlib import metadata

import psutil

from benchmarks.statistics import Pair, verdict
from jupyter_mlgpu.explain.statistics import FEWEST_FOR_MEDIAN, Estimate, median_interval
from jupyter_mlgpu.record.redact import redact

MEDIANS = "Medians; intervals: 95 % for the median, from order statistics, distribution-free."
VERDICTS = {
    "holds": "the whole interval is within the target",
    "missed": "the whole interval is above the target",
    "not settled": "the target lies inside the interval; repeat with more pairs at a quiet moment",
    "not known": f"there is no interval; that of a median needs at least {FEWEST_FOR_MEDIAN} pairs",
}


class CannotMeasureError(Exception):
    """Something that a case needs is missing; the message says what, and what to do."""


@dataclass(frozen=True, slots=True)
class Unit:
    """How a value in seconds or bytes, a ratio or a count is shown."""

    text: Callable[[float], str]


MS = Unit(lambda seconds: f"{seconds * 1e3:.2f} ms")
MIB = Unit(lambda size: f"{size / 1024**2:.1f} MiB")
RATIO = Unit(lambda ratio: f"{ratio:.3f}")
MORE = Unit(lambda ratio: f"{(ratio - 1) * 100:+.2f} %")
COUNT = Unit(lambda count: f"{count:,.0f}")


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured quantity.

    Attributes:
        interval: None if there are too few values for one.
        target: the most that it may be; None if nothing is promised.
        columns: further cells of its row, by heading.
        judged: a verdict by another rule than `statistics.verdict`.
    """

    name: str
    value: float
    interval: Estimate | None
    unit: Unit
    target: float | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    judged: str = ""

    @property
    def verdict(self) -> str:
        """The verdict, empty without a target."""
        if self.judged or self.target is None:
            return self.judged
        return verdict(self.interval, self.target)

    def row(self) -> dict[str, str]:
        """Return the cells of its row after the name, by heading."""
        found = self.interval
        if found is None:
            span = "none: too few"
        elif found.low == found.high == self.value:
            span = ""
        else:
            span = f"{self.unit.text(found.low)} to {self.unit.text(found.high)}"
        target = "" if self.target is None else self.unit.text(self.target)
        measured = {"value": self.unit.text(self.value), "interval": span}
        return {**self.columns, **measured, "target": target, "verdict": self.verdict}


def median_figure(
    name: str,
    values: Sequence[float],
    unit: Unit,
    target: float | None = None,
    columns: Mapping[str, str] | None = None,
) -> Figure:
    """Return the median of `values` with its interval."""
    return Figure(name, statistics.median(values), median_interval(values), unit, target, columns or {})


def with_interval(values: Sequence[float], unit: Unit) -> str:
    """Return the median of `values` with its interval, if there is one."""
    found = median_interval(values)
    span = "" if found is None else f" ({unit.text(found.low)} to {unit.text(found.high)})"
    return unit.text(statistics.median(values)) + span


def _medians(pairs: Sequence[Pair]) -> dict[str, str]:
    off, on = (statistics.median(side) for side in zip(*map(astuple, pairs), strict=True))
    return {"off": MS.text(off), "on": MS.text(on)}


def ratio_figure(
    name: str, pairs: Sequence[Pair], target: float | None = None, columns: Mapping[str, str] | None = None
) -> Figure:
    """Return the median ratio of `pairs` of seconds, with the medians of both sides."""
    ratios = [pair.ratio for pair in pairs]
    return median_figure(name, ratios, RATIO, target, {**(columns or {}), **_medians(pairs)})


def difference_figure(name: str, pairs: Sequence[Pair], target: float | None = None) -> Figure:
    """Return the median difference of `pairs` of seconds, with both medians and the median ratio."""
    columns = {**_medians(pairs), "ratio": with_interval([pair.ratio for pair in pairs], RATIO)}
    return median_figure(name, [pair.difference for pair in pairs], MS, target, columns)


@dataclass(frozen=True, slots=True)
class Table:
    """Figures that belong together; `method` says how their values and intervals were found."""

    title: str
    figures: Sequence[Figure]
    notes: Sequence[str] = ()
    method: str = MEDIANS

    def __str__(self) -> str:
        """Return the table in Markdown, aligned for a terminal; columns without any text are left out."""
        rows = [{"": one.name, **one.row()} for one in self.figures]
        own = dict.fromkeys(name for one in self.figures for name in one.columns)
        names = ("", *own, "value", "interval", "target", "verdict")
        headings = [name for name in names if any(row.get(name) for row in rows)]
        lines = [headings, *([row.get(name, "") for name in headings] for row in rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        lines.insert(1, ["-" * width for width in widths])
        shown = [f"| {' | '.join(map(str.ljust, line, widths))} |" for line in lines]
        verdicts = dict.fromkeys(one.verdict for one in self.figures)
        meanings = [f"{one}: {VERDICTS[one]}." for one in verdicts if one in VERDICTS]
        below = [f"* {one}" for one in (*self.notes, *meanings, self.method)]
        return "\n".join([f"## {self.title}", "", *shown, "", *below])


def describe_run(command: str, packages: Sequence[str]) -> dict[str, str]:
    """Return the command, the machine and the versions of `packages`, without a host's or user's name."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "command": redact(command),  # a folder may have the user's name in it
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "platform": platform.platform(),
        "processor": _processor(),
        "logical CPUs": f"{usable} usable of {os.cpu_count()}",
        "load average, last minute": load_average(),
        "python": platform.python_version(),
        "bytecode": "not kept: each kernel compiles what it imports" if sys.dont_write_bytecode else "kept",
        **{package: _version(package) for package in packages},
    }


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:  # not Linux
        names = []
    return names[0] if names else platform.processor()


def load_average() -> str:
    """Return the load average of the last minute."""
    return f"{psutil.getloadavg()[0]:.2f}"


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed as a package"


def add_pairs(parser: argparse.ArgumentParser, default: int, what: str = "interleaved pairs") -> None:
    """Add the option that says how often a case measures."""
    parser.add_argument(
        "--pairs", type=int, default=default, metavar="N", help=f"number of {what} (default {default})"
    )
