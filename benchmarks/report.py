"""What every case prints and writes: the machine, the command, and tables of figures with verdicts."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks.statistics import Pair, verdict
from jupyter_mlgpu.explain.statistics import FEWEST_FOR_MEDIAN, Estimate, median_interval
from jupyter_mlgpu.record.redact import redact

NO_INTERVAL = "none: too few"
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
    """The quantity of a figure, as JSON files name it, and how a value of it is shown."""

    quantity: str
    text: Callable[[float], str]


MS = Unit("seconds", lambda value: f"{value * 1e3:.2f} ms")
US = Unit("seconds", lambda value: f"{value * 1e6:.1f} us")
MIB = Unit("bytes", lambda value: f"{value / 1024**2:.1f} MiB")
BYTES = Unit("bytes", lambda value: f"{value:,.0f} bytes")
RATIO = Unit("ratio", lambda value: f"{value:.3f}")
MORE = Unit("ratio", lambda value: f"{(value - 1) * 100:+.2f} %")
COUNT = Unit("count", lambda value: f"{value:,.0f}")


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured quantity.

    Attributes:
        interval: None if there are too few values for one.
        target: the most that it may be; None if nothing is promised.
        columns: further cells of its row, by heading.
        data: what else the JSON file holds, such as all pairs.
        judged: a verdict by another rule than `statistics.verdict`.
    """

    name: str
    value: float
    interval: Estimate | None
    unit: Unit
    target: float | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    judged: str = ""

    @property
    def verdict(self) -> str:
        """The verdict, empty without a target."""
        if self.judged or self.target is None:
            return self.judged
        return verdict(self.interval, self.target)

    def as_data(self) -> dict[str, Any]:
        """Return the figure for a JSON file, in seconds, bytes and ratios."""
        return {
            "name": self.name,
            **self.columns,
            "quantity": self.unit.quantity,
            "value": self.value,
            "interval": None if self.interval is None else [self.interval.low, self.interval.high],
            "target": self.target,
            "verdict": self.verdict or None,
            **self.data,
        }


def median_figure(
    name: str,
    values: Sequence[float],
    unit: Unit,
    target: float | None = None,
    columns: Mapping[str, str] | None = None,
    **data: Any,
) -> Figure:
    """Return the median of `values` with its interval; the JSON file holds all values and their quartiles."""
    spread = {"values": list(values), "quartiles": quartiles(values), **data}
    found = median_interval(values)
    return Figure(name, statistics.median(values), found, unit, target, columns or {}, spread)


def with_interval(values: Sequence[float], unit: Unit) -> str:
    """Return the median of `values` with its interval, if there is one."""
    found = median_interval(values)
    span = "" if found is None else f" ({unit.text(found.low)} to {unit.text(found.high)})"
    return unit.text(statistics.median(values)) + span


def ratio_figure(
    name: str, pairs: Sequence[Pair], target: float | None = None, columns: Mapping[str, str] | None = None
) -> Figure:
    """Return the median ratio of `pairs` of seconds, beside the medians of both sides."""
    sides = {"off": MS.text(statistics.median(pair.off for pair in pairs))}
    sides["on"] = MS.text(statistics.median(pair.on for pair in pairs))
    ratios = [pair.ratio for pair in pairs]
    pair_data = [asdict(pair) for pair in pairs]
    return median_figure(name, ratios, RATIO, target, {**(columns or {}), **sides}, pairs=pair_data)


def difference_figure(name: str, pairs: Sequence[Pair], target: float | None = None) -> Figure:
    """Return the median difference of `pairs` of seconds, beside both medians and the median ratio."""
    ratio = ratio_figure(name, pairs)
    shown = {**ratio.columns, "ratio": with_interval(ratio.data["values"], RATIO)}
    differences = [pair.difference for pair in pairs]
    return median_figure(name, differences, MS, target, shown, pairs=ratio.data["pairs"])


def quartiles(values: Sequence[float]) -> list[float]:
    """Return the quartiles, interpolated between the sorted values; raises ValueError without values."""
    if not values:
        raise ValueError("Quartiles need at least one value, found none.")
    if len(values) == 1:
        return [values[0]] * 3
    return statistics.quantiles(values, n=4, method="inclusive")


@dataclass(frozen=True, slots=True)
class Table:
    """Figures that belong together; `method` says how their values and intervals were found."""

    title: str
    figures: Sequence[Figure]
    notes: Sequence[str] = ()
    method: str = MEDIANS
    value: str = "value"
    interval: str = "interval"

    def rows(self) -> list[list[str]]:
        """Return the heading and a row for each figure; columns without any text are left out."""
        headings = list(dict.fromkeys(name for one in self.figures for name in one.columns))
        rows = [["", *headings, self.value, self.interval, "target", "verdict"]]
        for one in self.figures:
            found = one.interval
            span = (
                NO_INTERVAL if found is None else f"{one.unit.text(found.low)} to {one.unit.text(found.high)}"
            )
            rows.append(
                [
                    one.name,
                    *(one.columns.get(name, "") for name in headings),
                    one.unit.text(one.value),
                    "" if found is not None and found.low == found.high == one.value else span,
                    "" if one.target is None else one.unit.text(one.target),
                    one.verdict,
                ]
            )
        kept = [0, *(at for at in range(1, len(rows[0])) if any(row[at] for row in rows[1:]))]
        return [[row[at] for at in kept] for row in rows]

    def below(self) -> list[str]:
        """Return the lines below the table: notes, the verdicts' meaning, the method."""
        found = dict.fromkeys(one.verdict for one in self.figures)
        return [*self.notes, *(f"{one}: {VERDICTS[one]}." for one in found if one in VERDICTS), self.method]

    def as_text(self) -> str:
        """Return the table for a terminal."""
        rows = self.rows()
        widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        return "\n".join([self.title, "", *lines, "", *self.below()])

    def as_markdown(self) -> str:
        """Return the table as a section of a page."""
        heading, *rows = (f"| {' | '.join(row)} |" for row in self.rows())
        line = "|" + " --- |" * (heading.count("|") - 1)
        return "\n".join(
            [f"## {self.title}", "", heading, line, *rows, "", *(f"* {one}" for one in self.below())]
        )


class Report:
    """All tables of one run. Each is printed and written at once, so that an interrupted run keeps it."""

    def __init__(
        self, description: str, command: str, packages: Sequence[str], out: Path | None, markdown: Path | None
    ) -> None:
        self._description = description
        # A folder may have the user's name in it.
        self._facts = {"command": redact(command), **describe_machine(packages)}
        self._out, self._markdown = out, markdown
        self._tables: list[Table] = []
        print(*(f"{name}: {value}" for name, value in self._facts.items()), sep="\n", flush=True)

    def add(self, table: Table) -> None:
        """Print one more table and write the files anew."""
        self._tables.append(table)
        self._facts["load average at the end"] = load_average()
        print(f"\n{table.as_text()}", flush=True)
        if self._out is not None:
            self._out.write_text(
                json.dumps(self._as_data(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
            )
        if self._markdown is not None:
            self._markdown.write_text(self._as_markdown(), encoding="utf-8")

    def exit_status(self) -> int:
        """Return 1 if a figure misses its target beyond doubt."""
        return int(any(figure.verdict == "missed" for table in self._tables for figure in table.figures))

    def _as_data(self) -> dict[str, Any]:
        tables = [
            {
                "title": one.title,
                "method": one.method,
                "figures": [figure.as_data() for figure in one.figures],
            }
            for one in self._tables
        ]
        return {"machine": self._facts, "tables": tables}

    def _as_markdown(self) -> str:
        facts = [f"* {name}: {value}" for name, value in self._facts.items()]
        head = [
            "# A benchmark",
            "",
            "A figure belongs to this machine alone.",
            "",
            *facts,
            "",
            self._description,
        ]
        return "\n\n".join(["\n".join(head).rstrip(), *(one.as_markdown() for one in self._tables)]) + "\n"


def describe_machine(packages: Sequence[str]) -> dict[str, str]:
    """Return the machine and the versions of `packages`; no host's or user's name is in it."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "platform": platform.platform(),
        "processor": _processor(),
        "logical CPUs": _cpus(),
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
    return names[0] if names else platform.processor() or "not known: the platform does not tell"


def _cpus() -> str:
    total = os.cpu_count()
    if hasattr(os, "sched_getaffinity"):
        return f"{len(os.sched_getaffinity(0))} usable of {total}"
    return str(total)


def load_average() -> str:
    """Return the load average of the last minute."""
    try:
        return f"{os.getloadavg()[0]:.2f}"
    except (AttributeError, OSError):
        return "not known: the platform does not tell"


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed as a package"


def add_pairs(parser: argparse.ArgumentParser, default: int, what: str = "interleaved pairs") -> None:
    """Add the option that says how often a case measures."""
    parser.add_argument(
        "--pairs",
        type=at_least_one,
        default=default,
        metavar="N",
        help=f"number of {what} (default {default})",
    )


def at_least_one(text: str) -> int:
    """Return a positive number given as an option."""
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError(f"at least one is needed, found {count}")
    return count


def new_file(text: str) -> Path:
    """Return a file to be written, given as an option; its folder must exist before minutes of measuring."""
    path = Path(text)
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {path.parent}; make it first")
    return path
