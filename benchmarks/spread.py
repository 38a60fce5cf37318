"""Medians and how far to trust them. Pure functions of numbers, in whatever unit they come.

The interval of a median is taken from order statistics: if n differences are drawn independently, the
number of them that lie below the true median is binomial(n, 1/2), so the true median lies between two of
the sorted values with a chance that can be counted. No assumption is made on the shape of the noise,
which on a shared machine is far from normal, and the result is the same at each call.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

CONFIDENCE = 0.95
METHOD = "order statistics (the sign test turned round), distribution-free"


@dataclass(frozen=True, slots=True)
class Interval:
    """From `low` to `high`; `coverage` is the chance, at least the one asked for, to hold the median."""

    low: float
    high: float
    coverage: float


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
    first, median, third = statistics.quantiles(values, n=4, method="inclusive")
    return Quartiles(first, median, third)


def median_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval | None:
    """The narrowest symmetric pair of sorted values that holds the median with at least `confidence`.

    None where there are too few values for any such pair (fewer than 6 for 95 %).
    """
    ordered = sorted(values)
    count = len(ordered)
    best: Interval | None = None
    for rank in range(count // 2):
        # The median lies outside when at most `rank` values are on one side of it.
        coverage = 1 - 2 * sum(comb(count, below) for below in range(rank + 1)) / 2**count
        if coverage < confidence:
            break
        best = Interval(ordered[rank], ordered[count - 1 - rank], coverage)
    return best


def fewest_values(confidence: float = CONFIDENCE) -> int:
    """How many values `median_interval` needs: with them, the smallest and the largest enclose the median."""
    count = 2
    while 1 - 2 / 2**count < confidence:
        count += 1
    return count
