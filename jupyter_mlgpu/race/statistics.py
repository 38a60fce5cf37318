"""The middle of several times, and how far they spread."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from statistics import median

__all__ = ["INTERVAL", "RANGE", "interval", "median", "spread_name"]

INTERVAL = "95 % interval of the median"
RANGE = "lowest to highest, too few runs for a 95 % interval"

#: With fewer samples than this, not even the lowest and the highest enclose the median with 95 %.
ENOUGH = 6


def interval(samples: Sequence[float]) -> tuple[float, float] | None:
    """What encloses the median with at least 95 % probability; None for fewer than two samples.

    The samples' order alone is used: the k-th lowest and the k-th highest enclose the median with
    probability 1 - 2 P(X < k), X being binomial with n trials of one half (W. J. Conover, Practical
    Nonparametric Statistics, 3.2). With fewer than `ENOUGH` samples it is their range.
    """
    if len(samples) < 2:
        return None
    ordered = sorted(samples)
    rank = _rank(len(ordered))
    return ordered[rank - 1], ordered[-rank]


def spread_name(count: int) -> str:
    """What `interval` gives for so many samples, in words."""
    return INTERVAL if count >= ENOUGH else RANGE


@lru_cache
def _rank(count: int) -> int:
    """The highest k with P(X < k) <= 0.025; 1 where there is none. In whole numbers, out of 2^count."""
    most = 2**count // 40
    ways, below, rank = 1, 0, 0
    while below + ways <= most:
        below += ways
        ways = ways * (count - rank) // (rank + 1)
        rank += 1
    return max(rank, 1)
