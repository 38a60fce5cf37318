"""Scales of a chart: where a number stands, and which numbers are written beside the axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

#: Numbers beside an axis, about.
_TICKS = 6

#: The steps of a scale, times any power of ten.
_STEPS = (1, 2, 5, 10)


@dataclass(frozen=True, slots=True)
class Scale:
    """From `low` to `high`, drawn from `start` to `end` in points; `log`: each step is a multiple."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def place(self, value: float) -> float:
        """Where a number stands, in points."""
        low, high, at = self.low, self.high, value
        if self.log:
            low, high, at = math.log10(low), math.log10(high), math.log10(at)
        return self.start + (self.end - self.start) * (at - low) / (high - low)

    def ticks(self) -> list[float]:
        """The numbers that are written beside it."""
        if self.log:
            return self._multiples()
        step = _step((self.high - self.low) / _TICKS)
        first = math.ceil(self.low / step - 1e-9)
        return [one * step for one in range(first, math.floor(self.high / step + 1e-9) + 1)]

    def _multiples(self) -> list[float]:
        first, last = (math.floor(math.log10(one) + 1e-9) for one in (self.low, self.high))
        every = math.ceil((last - first) / (_TICKS + 2))
        # Within few powers of ten, 2 and 5 times each are written, too.
        steps = _STEPS[:3] if last - first <= 2 else _STEPS[:1]
        found = [step * 10.0**power for power in range(first, last + 1, every or 1) for step in steps]
        return [one for one in found if self.low * (1 - 1e-9) <= one <= self.high * (1 + 1e-9)]


def around(values: Sequence[float], start: float, end: float, *, log: bool, zero: bool = False) -> Scale:
    """A scale that shows all of `values`; with `zero` it begins at 0 where no number is below."""
    low, high = min(values), max(values)
    if log:
        first, last = _below(low), _above(high)
        return Scale(first, last if last > first else _above(first * 1.5), start, end, True)
    if zero:
        low = min(low, 0.0)
    if low == high:
        low, high = low - 1, high + 1
    room = (high - low) * 0.05
    return Scale(low if zero and low == 0 else low - room, high + room, start, end)


def written(value: float) -> str:
    """A number beside an axis or in a table, as people write it: `1,000`, `1e7`, `0.25`."""
    if value == 0:
        return "0"
    if abs(value) < 1e6 and (float(value).is_integer() or abs(value) >= 1000):
        return f"{value:,.0f}"
    return f"{value:.4g}".replace("e+0", "e").replace("e+", "e").replace("e-0", "e-")


def _step(least: float) -> float:
    """The next of 1, 2, 5, 10, 20, … times a power of ten."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(one * power for one in _STEPS if one * power >= least * (1 - 1e-9))


def _below(value: float) -> float:
    power = 10.0 ** math.floor(math.log10(value))
    return max(one * power for one in _STEPS if one * power <= value * (1 + 1e-9))


def _above(value: float) -> float:
    power = 10.0 ** math.floor(math.log10(value))
    return min(one * power for one in _STEPS if one * power >= value * (1 - 1e-9))
