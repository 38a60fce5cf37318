"""Figures that are measured a few times, each as a ratio to its target. Pure functions of given values.

A few repeats give no interval. So the median is held against the target, and a repeat beyond it is not
passed over: it leaves the figure not settled. All repeats are reported.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.report import Verdict

EXPLAINED: Mapping[Verdict, str] = {
    "holds": "every repeat is within the target",
    "missed": "the median of the repeats is above the target",
    "not settled": "the median is within the target and a repeat is not; repeat at a quiet moment",
}


@dataclass(frozen=True, slots=True)
class Target:
    """The most that a figure may be, in `unit`."""

    what: str
    most: float
    unit: str

    def __str__(self) -> str:
        return f"{self.what} at most {self.most:g} {self.unit}"


@dataclass(slots=True)
class Figure:
    """What was measured, repeat for repeat, in the target's unit; `notes` says more about each repeat."""

    what: str
    target: Target
    values: list[float] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def ratios(self) -> list[float]:
        """Each repeat's part of the target."""
        return [value / self.target.most for value in self.values]

    @property
    def ratio(self) -> float:
        """The median's part of the target."""
        return statistics.median(self.ratios)

    @property
    def verdict(self) -> Verdict:
        """Whether the target is kept."""
        if self.ratio > 1:
            return "missed"
        return "holds" if max(self.ratios) <= 1 else "not settled"


class Figures:
    """Figures by what they tell, in the order in which they were first measured."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, Target], Figure] = {}

    def note(self, what: str, target: Target, value: float, note: str = "") -> None:
        """One repeat more."""
        figure = self._found.setdefault((what, target), Figure(what, target))
        figure.values.append(value)
        figure.notes.append(note)

    @property
    def all(self) -> list[Figure]:
        """All of them."""
        return list(self._found.values())


def rows(figures: Iterable[Figure]) -> list[tuple[str, str, str, str]]:
    """For a table: what, the median's ratio, every repeat's ratio, the verdict."""
    return [
        (one.what, f"{one.ratio:.2f}", " ".join(f"{ratio:.2f}" for ratio in one.ratios), one.verdict)
        for one in figures
    ]


def worst(figures: Sequence[Figure]) -> Verdict:
    """The verdict of all of them together."""
    found = {one.verdict for one in figures}
    return "missed" if "missed" in found else "not settled" if "not settled" in found else "holds"


def as_data(figure: Figure) -> dict[str, Any]:
    """A figure for a JSON file."""
    return {
        "what": figure.what,
        "quantity": figure.target.what,
        "target": figure.target.most,
        "unit": figure.target.unit,
        "values": figure.values,
        "notes": figure.notes,
        "ratios": figure.ratios,
        "median_ratio": figure.ratio,
        "verdict": figure.verdict,
    }
