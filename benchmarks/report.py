"""Figures as text for a terminal, and as JSON for a file. Times come in seconds and are shown in ms."""

from __future__ import annotations

import argparse
import dataclasses
import json
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from jupyter_mlgpu.explain.statistics import CONFIDENCE, FEWEST_FOR_MEDIAN, Estimate

Verdict = Literal["holds", "missed", "not settled", "not known"]

NO_INTERVAL = f"none: it needs at least {FEWEST_FOR_MEDIAN} pairs"
METHOD = "order statistics (the sign test turned round), distribution-free"

EXPLAINED: Mapping[Verdict, str] = {
    "holds": "the whole interval is within the target",
    "missed": "the whole interval is above the target",
    "not settled": "the target lies inside the interval; repeat with more pairs at a quiet moment",
    "not known": f"there is no interval: it needs at least {FEWEST_FOR_MEDIAN} pairs",
}


@dataclass(frozen=True, slots=True)
class Quartiles:
    """A quarter of the values lies below `first`, half below `median`, three quarters below `third`."""

    first: float
    median: float
    third: float


def quartiles(values: Sequence[float]) -> Quartiles:
    """Quartiles, interpolated between the sorted values; raises ValueError for no values at all."""
    if not values:
        raise ValueError("Quartiles need at least one value, found none.")
    if len(values) == 1:
        return Quartiles(values[0], values[0], values[0])
    return Quartiles(*statistics.quantiles(values, n=4, method="inclusive"))


def verdict(interval: Estimate | None, target: float) -> Verdict:
    """Whether a cost keeps its target; one that lies inside the interval is neither kept nor missed."""
    if interval is None:
        return "not known"
    if interval.high <= target:
        return "holds"
    return "missed" if interval.low > target else "not settled"


def ms(seconds: float) -> str:
    """`1.23 ms`."""
    return f"{seconds * 1e3:.2f} ms"


def spread(values: Quartiles) -> str:
    """Median and quartiles."""
    return f"median {ms(values.median)}, quartiles {ms(values.first)} and {ms(values.third)}"


def interval(found: Estimate | None) -> str:
    """Both ends of an interval, or why there is none."""
    return f"{ms(found.low)} to {ms(found.high)}" if found is not None else NO_INTERVAL


def legend(verdicts: Iterable[Verdict]) -> str:
    """What the verdicts mean and how intervals are made, a line each."""
    lines = [f"{one}: {EXPLAINED[one]}." for one in dict.fromkeys(verdicts)]
    return "\n".join([*lines, f"Intervals: {CONFIDENCE * 100:.0f} % for the median, from {METHOD}."])


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows as aligned columns."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def as_data(values: Quartiles, found: Estimate | None) -> dict[str, Any]:
    """A spread and its interval for a JSON file, in the unit in which they came."""
    return {
        **dataclasses.asdict(values),
        "interval_of_median": None if found is None else dataclasses.asdict(found),
        "why_no_interval": NO_INTERVAL if found is None else None,
        "method": METHOD,
    }


def write(path: Path, data: Mapping[str, Any]) -> None:
    """Write figures to a JSON file; raises OSError where it cannot be written."""
    path.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def options(program: str, description: str, pairs: int) -> argparse.ArgumentParser:
    """The options that every benchmark has."""
    parser = argparse.ArgumentParser(
        prog=f"python -m benchmarks.{program}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--pairs",
        type=at_least_one,
        default=pairs,
        metavar="N",
        help=f"how many interleaved pairs (default {pairs}; 5 is enough to see that the benchmark runs)",
    )
    add_out(parser)
    return parser


def add_out(parser: argparse.ArgumentParser) -> None:
    """The option that writes the figures to a file."""
    parser.add_argument(
        "--out", type=_new_file, metavar="FILE", help="write the figures to this JSON file, too"
    )


def at_least_one(text: str) -> int:
    """A number given as an option."""
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError(f"at least one is needed, found {count}")
    return count


def _new_file(text: str) -> Path:
    path = Path(text)
    if not path.parent.is_dir():  # better said now than after minutes of measuring
        raise argparse.ArgumentTypeError(f"there is no folder {path.parent}; make it first")
    return path
