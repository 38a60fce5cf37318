"""Statistics of benchmarks: interleaved pairs, calibration, intervals and verdicts.

Intervals of medians are those of `jupyter_mlgpu.explain.statistics`. Others are here: published figures rest
on them.
"""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from jupyter_mlgpu.explain.statistics import Estimate

Verdict = Literal["holds", "missed", "not settled", "not known"]

#: Quantile 0.975 of Student's t by degrees of freedom, 1 to 19 (any table has it).
_T = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093),
)
MOST_REPEATS = len(_T) + 1


@dataclass(frozen=True, slots=True)
class Pair:
    """Two neighbouring times in seconds: with the thing under test switched off, and switched on."""

    off: float
    on: float

    @property
    def difference(self) -> float:
        """Seconds more when on. It is negative if the noise was larger than the cost."""
        return self.on - self.off

    @property
    def ratio(self) -> float:
        """Time when on, divided by time when off."""
        return self.on / self.off


def interleave(count: int, measure: Callable[[bool], float], title: str = "") -> list[Pair]:
    """Return `count` pairs of `measure(on)`, in which off and on alternate in coming first.

    Slow drift (other programs, heat) then affects both sides alike. `title` is shown on stderr.
    """
    pairs = []
    if title:
        print(f"{title}: {count} pairs", file=sys.stderr, flush=True)
    for number in range(count):
        if number % 2 == 0:
            off, on = measure(False), measure(True)
        else:
            on, off = measure(True), measure(False)
        pairs.append(Pair(off, on))
    return pairs


def calibrate(measure: Callable[[int], float], length: float, rounds: int = 15) -> int:
    """Return the number of steps that takes about `length` seconds, given seconds as `measure(steps)`.

    Each round takes the faster of two runs, because other programs can only make a run longer, and scales the
    last number by how far off it was, at most tenfold. This converges for cells with a fixed cost, too.
    """
    steps = 1
    for _ in range(rounds):
        seconds = min(measure(steps), measure(steps))
        better = max(1, round(steps * min(10.0, length / seconds)))
        if abs(better - steps) <= 0.02 * steps:
            break
        steps = better
    return steps


def verdict(interval: Estimate | None, target: float) -> Verdict:
    """Compare a cost with the most that it may be; a target inside the interval is not settled."""
    if interval is None:
        return "not known"
    if interval.high <= target:
        return "holds"
    return "missed" if interval.low > target else "not settled"


def speed_verdict(ratio: Estimate) -> str:
    """Return how a speed compares with a reference's, of which 0.98 counts as a tie."""
    if ratio.low > 1:
        return "beats it"
    if ratio.low >= 0.98:
        return "ties"
    return "behind" if ratio.high < 0.98 else "not settled"


def exact(value: float) -> Estimate:
    """Return a figure without noise, such as a count."""
    return Estimate(value, value, value, 1.0)


def median_to_highest(values: Sequence[float]) -> Estimate:
    """Return the median and the highest of a few repeats, which are too few for an interval."""
    middle = statistics.median(values)
    return Estimate(middle, middle, max(values), 0.0)


def speed_ratio(reference: Sequence[float], ours: Sequence[float]) -> Estimate:
    """Return our speed over the reference's, from seconds that were measured in turns.

    It is the geometric mean, with the 95 % interval of Student's t on the logarithms. Raises ValueError
    unless there are 2 to 20 repeats.
    """
    logs = [math.log(one / other) for one, other in zip(reference, ours, strict=True)]
    if not 2 <= len(logs) <= MOST_REPEATS:
        raise ValueError(f"A ratio needs 2 to {MOST_REPEATS} repeats, found {len(logs)}.")
    middle = statistics.fmean(logs)
    half = _T[len(logs) - 2] * statistics.stdev(logs) / math.sqrt(len(logs))
    return Estimate(math.exp(middle), math.exp(middle - half), math.exp(middle + half), 0.95)


def growth(points: Sequence[tuple[float, float]]) -> float:
    """Return the least-squares slope over the second half of `points`, in y per x."""
    late = points[len(points) // 2 :]
    return statistics.linear_regression([x for x, _ in late], [y for _, y in late]).slope
