"""Find the size at which the faster device changes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from jupyter_mlgpu.record.sentence import Sentence, listed, say

if TYPE_CHECKING:
    from jupyter_mlgpu.experiment.race.result import Lane, Timing


@dataclass(frozen=True, slots=True)
class Crossover:
    """The change of the faster device: `small` is faster at small sizes, `large` at large sizes.

    The change is between `low`, the last size at which `small` is certainly faster, and `high`, the first at
    which `large` is; `size` is the estimate between them. If it is not known, `size`, `low` and `high` are
    None, the devices are in the order of the race, and `why_missing` has the reason.
    """

    small: str
    large: str
    size: float | None = None
    low: float | None = None
    high: float | None = None
    why_missing: Sentence | None = None


def crossover(one: Lane, other: Lane) -> Crossover:
    """Return the size at which the faster of two lanes of a race changes.

    A device is certainly faster if its whole interval is below the other's. Between the two sizes at which
    this is known, the ratio of the medians is assumed to be a power of the size: a straight line on
    logarithmic axes.
    """
    pairs = _pairs(one, other)
    certain = [(size, sign) for size, mine, its in pairs if (sign := compare(mine, its))]
    changes = [(before, after) for before, after in pairwise(certain) if before[1] != after[1]]
    if len(changes) != 1:
        return Crossover(one.device, other.device, why_missing=_why_not(one, other, pairs, certain, changes))
    (low, sign), (high, _) = changes[0]
    small, large = (one, other) if sign < 0 else (other, one)
    ratios = {size: math.log(mine.median / its.median) for size, mine, its in pairs if size in (low, high)}
    share = ratios[low] / (ratios[low] - ratios[high])
    size = math.exp(math.log(low) + share * (math.log(high) - math.log(low)))
    return Crossover(small.device, large.device, size, low, high)


def compare(mine: Timing, its: Timing) -> int:
    """Return -1 if `mine` is certainly faster, 1 if `its` is, 0 if neither is certain."""
    here, there = mine.interval, its.interval
    if here is None or there is None or min(here[0], there[0]) <= 0:
        return 0
    if here[1] < there[0]:
        return -1
    return 1 if there[1] < here[0] else 0


def _pairs(one: Lane, other: Lane) -> list[tuple[float, Timing, Timing]]:
    found = []
    for mine in sorted(one.timings, key=lambda timing: timing.size or 0):
        its = other.at(mine.size)
        if its is not None and mine.size is not None:
            found.append((mine.size, mine, its))
    return found


def _why_not(
    one: Lane,
    other: Lane,
    pairs: list[tuple[float, Timing, Timing]],
    certain: list[tuple[float, int]],
    changes: list[tuple[tuple[float, int], tuple[float, int]]],
) -> Sentence:
    if not pairs:
        return say(
            "no size was measured on both {one} and {other}",
            one=one.device,
            other=other.device,
        )
    if not certain:
        if any(timing.interval is None for _, *both in pairs for timing in both):
            return say("a single run has no spread, so nothing is certain; use more repeats")
        return say("the spreads overlap at every size")
    if changes:
        between = [
            say("between {low} and {high}", low=f"{low[0]:,g}", high=f"{high[0]:,g}") for low, high in changes
        ]
        return say("the faster device changes several times, {between}", between=listed(between))
    faster = one if certain[0][1] < 0 else other
    if len(certain) == len(pairs):
        return say("{device} is faster at every size", device=faster.device)
    return say("{device} is faster at every size where the spreads do not overlap", device=faster.device)
