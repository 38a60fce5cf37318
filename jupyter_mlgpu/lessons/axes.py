"""Axes of a chart: where a number stands, and which numbers are written beside the axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

#: Numbers beside an axis, about.
_TICKS = 6


@dataclass(frozen=True)
class Axis:
    """From `low` to `high`, drawn from `start` to `end` in points; `log`: each step is a multiple."""

    low: float
    high: float
    start: float
    end: float
    log: bool

    def place(self, value: float) -> float:
        """Where a number stands, in points."""
        low, high, at = (map(math.log10, (self.low, self.high, value)) if self.log
                         else (self.low, self.high, value))  # fmt: skip
        return self.start + (self.end - self.start) * (at - low) / (high - low)

    def ticks(self) -> list[float]:
        """The numbers that are written beside it."""
        if self.log:
            first, last = round(math.log10(self.low)), round(math.log10(self.high))
            every = math.ceil((last - first) / (_TICKS + 2))
            return [10.0**one for one in range(first, last + 1, every)]
        step = _step((self.high - self.low) / _TICKS)
        first = math.ceil(self.low / step - 1e-9)
        return [one * step for one in range(first, math.floor(self.high / step + 1e-9) + 1)]


def around(values: Sequence[float], start: float, end: float, *, log: bool, zero: bool = False) -> Axis:
    """An axis that shows all of `values`; with `zero` it begins at 0 where no number is below."""
    low, high = min(values), max(values)
    if log:
        first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
        return Axis(10.0**first, 10.0 ** max(last, first + 1), start, end, True)
    if zero:
        low = min(low, 0.0)
    if low == high:
        low, high = low - 1, high + 1
    room = (high - low) * 0.05
    return Axis(low if zero and low == 0 else low - room, high + room, start, end, False)


def written(value: float) -> str:
    """A number beside an axis or in a table, as people write it: `1,000`, `1e7`, `0.25`."""
    if value == 0:
        return "0"
    if abs(value) < 1e6 and float(value).is_integer():
        return f"{value:,.0f}"
    if 1000 <= abs(value) < 1e6:
        return f"{value:,.0f}"
    return f"{value:.4g}".replace("e+0", "e").replace("e+", "e").replace("e-0", "e-")


def _step(least: float) -> float:
    """The next of 1, 2, 5, 10, 20, … times a power of ten."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(one * power for one in (1, 2, 5, 10) if one * power >= least * (1 - 1e-9))
