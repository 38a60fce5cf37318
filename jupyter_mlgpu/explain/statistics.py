"""Medians, slopes and ratios of few measured values, with distribution-free intervals.

All intervals are inverted rank tests. Sort the values (for a median), the slopes of all pairs (Theil and Sen)
or the ratios of all pairs (Hodges and Lehmann). The number of them below the true one has a distribution that
can be counted, so those of rank k from both ends enclose it with a known probability. k is the largest rank
whose probability is at least `CONFIDENCE`. Probabilities are counted exactly, without a normal approximation.
An outlier changes such figures little. Values are assumed to be independent, and ties make an interval wider
than necessary. If even the outermost ranks are not enough, the answer is None: there are too few values.

The standard library's `statistics` has no intervals, and takes 7 ms to import, at each kernel's start.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, combinations
from math import comb, factorial, fsum, sqrt

from jupyter_mlgpu.record.sentence import say

#: The least probability of every interval here.
CONFIDENCE = 0.95

#: With fewer values than this, not even the lowest and the highest enclose the median at `CONFIDENCE`.
FEWEST_FOR_MEDIAN = 6

#: The results of `interval_or_range`, in words.
INTERVAL = say("95 % interval of the median")
RANGE = say("lowest to highest, too few runs for a 95 % interval")


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with an interval that contains the true one with a probability of at least `coverage`."""

    value: float
    low: float
    high: float
    coverage: float


def median(values: Sequence[float]) -> float:
    """Return the middle value, or the mean of the two middle ones. Raises ValueError without values."""
    if not values:
        raise ValueError("A median needs at least one value, found none.")
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def median_interval(values: Sequence[float]) -> Estimate | None:
    """Return the median with the interval of the sign test; None for fewer than 6 values.

    The number of n values below the true median is binomial (n, 1/2): W. J. Conover, "Practical Nonparametric
    Statistics", 3rd edition (1999), section 3.2.
    """
    return _estimate(values, _sign_chances(len(values)))


def interval_or_range(values: Sequence[float]) -> tuple[float, float] | None:
    """Return the 95 % interval of the median, or the range of all values if they are too few for an interval.

    Return None for fewer than two values. `interval_name` says which of the two it is.
    """
    found = median_interval(values)
    if found is not None:
        return found.low, found.high
    return (min(values), max(values)) if len(values) > 1 else None


def interval_name(count: int) -> str:
    """Return the name of what `interval_or_range` returns for so many values."""
    return INTERVAL if count >= FEWEST_FOR_MEDIAN else RANGE


def theil_sen(xs: Sequence[float], ys: Sequence[float]) -> float:
    """Return the median of the slopes of all pairs, in units of y per unit of x.

    H. Theil, "A rank-invariant method of linear and polynomial regression analysis", Indagationes
    Mathematicae 12 (1950) 85-91. Up to 29 % of outliers change it little. `xs` are distinct. Raises
    ValueError for fewer than two points.
    """
    return median(_slopes(xs, ys))


def theil_sen_interval(xs: Sequence[float], ys: Sequence[float]) -> Estimate | None:
    """Return `theil_sen` with the interval of Kendall's test; None for fewer than 5 points.

    The number of slopes below the true one is distributed like the inversions of a random permutation: P. K.
    Sen, "Estimates of the regression coefficient based on Kendall's tau", Journal of the American Statistical
    Association 63 (1968) 1379-1389. This holds for errors of which all orders are equally probable. `xs` are
    distinct.
    """
    return _estimate(_slopes(xs, ys), _kendall_chances(len(xs)))


def theil_sen_rank(count: int) -> int | None:
    """Return how many slopes of `count` points lie below `theil_sen_interval`; None for too few points."""
    return _rank(_kendall_chances(count))


def mann_kendall(values: Sequence[float]) -> float:
    """Return the probability that values in random order rise as steadily as these.

    A small probability means that they do rise. The test is one-sided. It counts the pairs that fall or are
    equal, and the probability of no more of them by chance. H. B. Mann, "Nonparametric tests against trend",
    Econometrica 13 (1945) 245-259.
    """
    chances = _kendall_chances(len(values))
    return chances[sum(later <= earlier for earlier, later in combinations(values, 2))]


def mann_whitney(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the probability that a sample like the second one is so much lower than the first by chance.

    The test is one-sided. It counts the pairs in which the second is not below the first. H. B. Mann, D. R.
    Whitney, "On a test of whether one of two random variables is stochastically larger than the other",
    Annals of Mathematical Statistics 18 (1947) 50-60.
    """
    chances = _mann_whitney_chances(len(first), len(second))
    return chances[sum(later >= earlier for earlier in first for later in second)]


def ratio_interval(first: Sequence[float], second: Sequence[float]) -> Estimate | None:
    """Return the ratio of the second sample to the first: the median of all ratios, and its interval.

    On a logarithmic scale this is the shift of J. L. Hodges and E. L. Lehmann, "Estimates of location based
    on rank tests", Annals of Mathematical Statistics 34 (1963) 598-611, with the interval of the Mann-Whitney
    test: D. F. Bauer, "Constructing confidence sets using rank statistics", Journal of the American
    Statistical Association 67 (1972) 687-690. It holds for samples that differ only by a factor.

    Return None if there are too few values: four and four are enough, and three with five. Raises ValueError
    for values that are not above 0.
    """
    if min([*first, *second], default=0) <= 0:
        raise ValueError("Ratios need values above 0.")
    ratios = [b / a for a in first for b in second]
    return _estimate(ratios, _mann_whitney_chances(len(first), len(second)))


def share_interval(hits: float, count: int) -> tuple[float, float]:
    """Return the interval of a share, with a probability of about 95 %, from `hits` of `count` samples.

    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal of the
    American Statistical Association 22 (1927), p. 209-212. Samples are assumed to be independent.
    """
    if count < 1:
        return 0.0, 1.0
    share, z = hits / count, 1.959964
    middle = share + z * z / (2 * count)
    half = z * sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    whole = 1 + z * z / count
    return max(0.0, (middle - half) / whole), min(1.0, (middle + half) / whole)


def coefficient_of_variation(values: Sequence[float]) -> float:
    """Return the population standard deviation divided by the mean; 0 for equal values.

    Raises ZeroDivisionError without values, and for different ones whose mean is 0.
    """
    mean = fsum(values) / len(values)
    deviation = sqrt(fsum((value - mean) ** 2 for value in values) / len(values))
    return deviation / mean if deviation else 0.0


def relative_range(values: Sequence[float]) -> float:
    """Return the range of values that are not below 0, divided by the largest; 0 for equal ones."""
    largest = max(values)
    return (largest - min(values)) / largest if largest else 0.0


def _slopes(xs: Sequence[float], ys: Sequence[float]) -> list[float]:
    pairs = combinations(zip(xs, ys, strict=True), 2)
    return [(y2 - y1) / (x2 - x1) for (x1, y1), (x2, y2) in pairs]


def _rank(chances: Sequence[float]) -> int | None:
    """Return the largest k whose cumulative probability is at most half of what `CONFIDENCE` leaves."""
    count = bisect_right(chances, (1 - CONFIDENCE) / 2)
    return count - 1 if count else None


def _estimate(values: Sequence[float], chances: Sequence[float]) -> Estimate | None:
    """Return the median with the two ranks of the values that the test gives; see this module."""
    rank = _rank(chances)
    if rank is None:
        return None
    ordered = sorted(values)
    return Estimate(median(ordered), ordered[rank], ordered[-1 - rank], 1 - 2 * chances[rank])


# The distributions of three test statistics: for each k from 0 on, the probability that it is at most k.


def _chances(ways: Iterable[int], total: int) -> list[float]:
    return [number / total for number in accumulate(ways)]


@cache
def _sign_chances(count: int) -> list[float]:
    """Return the distribution of how many of `count` values lie below their true median."""
    steps = range(count // 2)
    ways = accumulate(steps, lambda ways, below: ways * (count - below) // (below + 1), initial=1)
    return _chances(ways, 2**count)


@cache
def _kendall_chances(count: int) -> list[float]:
    """Return the distribution of how many pairs of `count` values in random order are falling.

    The numbers of permutations by inversions (Mahonian numbers): each further value can be inserted before
    none to all of the earlier ones.
    """
    ways = [1]
    for size in range(2, count + 1):
        sums = [0, *accumulate(ways)]
        length = len(ways) + size - 1
        ways = [sums[min(k + 1, len(ways))] - sums[max(0, k + 1 - size)] for k in range(length)]
    return _chances(ways, factorial(count))


@cache
def _mann_whitney_chances(n: int, m: int) -> list[float]:
    """Return the distribution of how many of the n * m pairs from two equal distributions are falling.

    The coefficients of the Gaussian binomial, the product of (1 - q^(m+i)) / (1 - q^i) for i from 1 to n.
    """
    size = n * m + 1
    ways = [1] + [0] * (size - 1)
    for i in range(1, n + 1):
        for k in range(size - 1, m + i - 1, -1):
            ways[k] -= ways[k - m - i]
        for k in range(i, size):
            ways[k] += ways[k - i]
    return _chances(ways, comb(n + m, n))
