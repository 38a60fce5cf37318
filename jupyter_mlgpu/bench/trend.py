"""Whether times rise over the repeats, as they do on a device that grows hot and lowers its clock.

Kendall's test against a trend (M. G. Kendall, Biometrika 30, 1938): of all pairs of samples, how many come in
rising order, compared with how often that many come by chance, all orders being equally likely. The rise is
Theil and Sen's slope, the median over all pairs, times the length.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from math import factorial
from statistics import median

#: A rise counts if chance brings so many pairs in order in at most this share of cases,
CHANCE = 0.01
#: and if the times rise by at least this part: less is no throttling that matters.
WORTH = 0.03


def rise(samples: Sequence[float]) -> float | None:
    """By what part of the first time the times rise from the first to the last; None where they do not."""
    count = len(samples)
    pairs = list(combinations(range(count), 2))
    if count < 4:  # with three samples, even all of them in order are so in every sixth case
        return None
    falling = sum(samples[later] < samples[earlier] for earlier, later in pairs)
    equal = sum(samples[later] == samples[earlier] for earlier, later in pairs)
    if _at_most(count, falling + equal) > CHANCE:
        return None
    slope = median((samples[b] - samples[a]) / (b - a) for a, b in pairs)
    start = median(samples[i] - slope * i for i in range(count))
    if start <= 0:
        return None
    found = slope * (count - 1) / start
    return found if found >= WORTH else None


def _at_most(count: int, falling: int) -> float:
    """The chance that so many pairs or fewer of `count` samples in random order come falling."""
    return sum(_orders(count)[: falling + 1]) / factorial(count)


@lru_cache
def _orders(count: int) -> tuple[int, ...]:
    """How many orders of `count` values have 0, 1, 2, ... falling pairs (Mahonian numbers)."""
    ways = [1]
    for size in range(2, count + 1):
        ways = [
            sum(ways[before] for before in range(max(0, pairs - size + 1), min(pairs, len(ways) - 1) + 1))
            for pairs in range(len(ways) + size - 1)
        ]
    return tuple(ways)
