"""Scales of a chart: the position of a number, and the numbers written beside the axis."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

#: Approximate number of ticks of an axis.
_TICKS = 6

#: Margin beside the outermost values: a part of the axis, or on a logarithmic axis at least this ratio
#: between the value and the axis's end.
_ROOM, _LEAST = 0.05, 1.1

#: Powers of ten below which multiples are labelled, too.
_FEW = 2.4

#: Larger numbers are written as powers of ten. Sizes are smaller, so a column or an axis has one style.
_LARGE = 1e10

#: The tick steps of a scale, times any power of ten.
_STEPS = (1, 2, 5, 10)


@dataclass(frozen=True, slots=True)
class Scale:
    """A scale from `low` to `high`, drawn from `start` to `end` in points. `log`: it is logarithmic."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def place(self, value: float) -> float:
        """Return the position of a number, in points."""
        low, high, at = self.low, self.high, value
        if self.log:
            low, high, at = math.log10(low), math.log10(high), math.log10(at)
        return self.start + (self.end - self.start) * (at - low) / (high - low)

    def ticks(self) -> list[float]:
        """Return the numbers that are written beside the scale."""
        if self.log:
            return self._multiples()
        return self._evenly()

    def _evenly(self) -> list[float]:
        step = _step((self.high - self.low) / _TICKS)
        first = math.ceil(self.low / step - 1e-9)
        return [one * step for one in range(first, math.floor(self.high / step + 1e-9) + 1)]

    def _multiples(self) -> list[float]:
        first, last = (math.floor(math.log10(one) + 1e-9) for one in (self.low, self.high))
        every = math.ceil((last - first) / (_TICKS + 2))
        # Within few powers of ten, 2 and 5 times each are labelled, too.
        steps = _STEPS[:3] if math.log10(self.high / self.low) < _FEW else _STEPS[:1]
        found = [step * 10.0**power for power in range(first, last + 1, every or 1) for step in steps]
        within = [one for one in found if self.low * (1 - 1e-9) <= one <= self.high * (1 + 1e-9)]
        # A part of a power of ten may contain none of these, or only one.
        return within if len(within) > 1 else self._evenly()


def around(values: Sequence[float], start: float, end: float, *, log: bool, zero: bool = False) -> Scale:
    """Return a scale that covers `values` with a small margin.

    With `zero` it begins at 0 if no value is below.
    """
    low, high = min(values), max(values)
    if log:
        room = max(10 ** ((math.log10(high) - math.log10(low)) * _ROOM), _LEAST)
        # Within the range of floating-point numbers.
        low, high = max(low / room, sys.float_info.min), min(high * room, sys.float_info.max)
        return Scale(low, high, start, end, True)
    if zero:
        low = min(low, 0.0)
    if low == high:
        # An axis needs a length, so half of the value is added on both sides.
        apart = abs(low) / 2 or 1.0
        low, high = low - apart, high + apart
    room = (high - low) * _ROOM
    return Scale(low if zero and low == 0 else low - room, high + room, start, end)


def written(value: float) -> str:
    """Return a number for an axis or a table: `1,000,000`, `1e12`, `0.25`."""
    if value == 0:
        return "0"
    if abs(value) < _LARGE and (float(value).is_integer() or abs(value) >= 1000):
        return f"{value:,.0f}"
    return f"{value:.4g}".replace("e+0", "e").replace("e+", "e").replace("e-0", "e-")


def _step(least: float) -> float:
    """Return the next larger of 1, 2, 5, 10, 20, … times a power of ten."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(one * power for one in _STEPS if one * power >= least * (1 - 1e-9))
