"""Medians, slopes and ratios with intervals: as scipy and tables have them, as often right as said."""

import math
import random
from itertools import combinations, permutations

import pytest

from jupyter_mlgpu.explain.growth import FEWEST
from jupyter_mlgpu.explain.statistics import (
    FEWEST_FOR_MEDIAN,
    INTERVAL,
    RANGE,
    coefficient_of_variation,
    interval_name,
    interval_or_range,
    mann_kendall,
    mann_whitney,
    median,
    median_interval,
    ratio_interval,
    relative_range,
    theil_sen,
    theil_sen_interval,
    theil_sen_rank,
)


@pytest.fixture
def stats():
    return pytest.importorskip("scipy.stats", reason="scipy checks our figures, and is not installed here")


def sample(seed, count):
    """Values with a long tail to one side, as times on a shared machine have."""
    numbers = random.Random(seed)
    return [numbers.lognormvariate(0, 1) for _ in range(count)]


def holds_what_the_test_does_not_refuse(found, chance_of):
    """Whether an interval is the test's own: it refuses what lies just outside, and nothing just inside."""
    beside = 1e-9 * (found.high - found.low)
    kept = [chance_of(end) > 0.05 for end in (found.low + beside, found.high - beside)]
    refused = [chance_of(end) <= 0.05 for end in (found.low - beside, found.high + beside)]
    return all(kept) and all(refused)


# The median.


def test_the_median_is_the_middle_value_or_between_the_two_middle_ones():
    assert median([3, 1, 2]) == 2
    assert median([4, 1, 2, 3]) == 2.5


def test_of_no_values_there_is_no_median():
    with pytest.raises(ValueError, match="at least one value"):
        median([])


@pytest.mark.parametrize("count", [6, 7, 10, 25, 60])
def test_the_interval_of_a_median_is_that_of_scipys_sign_test(stats, count):
    values = sample(count, count)
    found = median_interval(values)

    def chance_of(middle):
        return stats.binomtest(sum(value < middle for value in values), count, 0.5).pvalue

    assert holds_what_the_test_does_not_refuse(found, chance_of)
    assert found.value == pytest.approx(stats.scoreatpercentile(values, 50))
    rank = sorted(values).index(found.low)
    assert found.coverage == pytest.approx(1 - 2 * stats.binom.cdf(rank, count, 0.5))


@pytest.mark.parametrize(
    ("count", "low", "coverage"),
    # The rank k of published tables (Conover, table A3 read for one half): none below 6, then 1, 2 from 9 on.
    [
        *[(6, 1, 0.96875), (8, 1, 0.992188), (9, 2, 0.960938), (10, 2, 0.978516), (12, 3, 0.961426)],
        *[(20, 6, 0.958611), (60, 22, 0.972660), (100, 40, 0.964800)],
    ],
)
def test_the_interval_of_a_median_has_the_ranks_of_published_tables(count, low, coverage):
    values = list(range(1, count + 1))
    random.Random(0).shuffle(values)
    found = median_interval(values)
    assert (found.low, found.high) == (low, count + 1 - low)
    assert found.coverage == pytest.approx(coverage, abs=1e-6)


def test_the_interval_is_the_narrowest_of_its_confidence():
    for count in range(FEWEST_FOR_MEDIAN, 80):
        rank = int(median_interval(range(count)).low)
        covered = [
            1 - 2 * sum(math.comb(count, k) for k in range(one + 1)) / 2**count for one in (rank, rank + 1)
        ]
        assert covered[0] >= 0.95 > covered[1]


def test_five_values_are_too_few_for_an_interval_and_six_are_enough():
    assert FEWEST_FOR_MEDIAN == 6
    assert median_interval([]) is None
    assert median_interval([1.0] * 5) is None
    assert median_interval([1.0] * 6) is not None


def test_one_wild_value_does_not_move_the_interval():
    calm = [float(value) for value in range(60)]
    assert median_interval([*calm[:-1], 1e9]) == median_interval(calm)


def test_the_interval_holds_the_true_median_as_often_as_it_says():
    found = [median_interval(sample(seed, 20)) for seed in range(2_000)]
    held = sum(one.low <= 1 <= one.high for one in found) / len(found)
    assert held == pytest.approx(0.9586, abs=0.015)


def test_ten_thousand_values_have_their_interval_at_once():
    # As the normal distribution has it, for so many: 5000 - 1.96 * 50 = 4902.
    assert interval_or_range(list(range(1, 10_001))) == (4902, 10_001 - 4902)


def test_too_few_values_give_their_range_under_its_own_name_and_one_gives_nothing():
    assert interval_or_range([3.0, 1.0, 2.0]) == (1.0, 3.0)
    assert interval_or_range([1.0]) is None
    assert (interval_name(5), interval_name(6)) == (RANGE, INTERVAL)


# Slopes.


def test_the_slope_of_a_straight_line_is_its_slope_and_the_interval_nothing_wider():
    found = theil_sen_interval(range(8), [5 + 3 * x for x in range(8)])
    assert (found.value, found.low, found.high) == (3, 3, 3)


@pytest.mark.parametrize("count", [5, 6, 9, 20])
def test_a_slope_is_scipys_and_its_interval_that_of_scipys_exact_kendall_test(stats, count):
    xs = sorted(random.Random(count).sample(range(100), count))
    ys = [3 * x + one for x, one in zip(xs, sample(count, count), strict=True)]
    found = theil_sen_interval(xs, ys)

    def chance_of(slope):
        rest = [y - slope * x for x, y in zip(xs, ys, strict=True)]
        return stats.kendalltau(xs, rest, method="exact").pvalue

    assert holds_what_the_test_does_not_refuse(found, chance_of)
    assert found.value == theil_sen(xs, ys) == pytest.approx(stats.theilslopes(ys, xs).slope)


@pytest.mark.parametrize("points", [5, 8, 20])
def test_the_interval_holds_the_true_slope_as_often_as_it_says(points):
    numbers = random.Random(7)
    found = [
        theil_sen_interval(range(points), [2 * x + numbers.gauss(0, 3) for x in range(points)])
        for _ in range(1000)
    ]
    held = sum(one.low <= 2 <= one.high for one in found) / len(found)
    assert found[0].coverage >= 0.95
    assert held == pytest.approx(found[0].coverage, abs=0.02)


def test_one_wild_value_moves_the_slope_little():
    values = [3.0 * x for x in range(12)]
    values[7] += 1000
    assert theil_sen(range(12), values) == pytest.approx(3, abs=0.01)


def test_four_points_are_too_few_for_an_interval_of_the_slope_and_five_are_enough():
    assert FEWEST == 5
    assert theil_sen_interval(range(4), [1, 2, 3, 4]) is None
    assert theil_sen_rank(4) is None
    assert theil_sen_interval(range(5), [1, 2, 3, 4, 5]) is not None


def test_the_rank_of_a_slope_is_how_many_lie_below_its_interval():
    ys = sample(1, 12)
    slopes = sorted((y2 - y1) / (x2 - x1) for (x1, y1), (x2, y2) in combinations(enumerate(ys), 2))
    assert slopes[theil_sen_rank(12)] == theil_sen_interval(range(12), ys).low


# Trends.


@pytest.mark.parametrize("count", [4, 5, 10, 20])
def test_the_chance_of_a_rise_is_that_of_scipys_exact_one_sided_kendall_test(stats, count):
    for seed in range(10):
        values = [0.3 * x + one for x, one in enumerate(sample(seed, count))]
        expected = stats.kendalltau(range(count), values, method="exact", alternative="greater").pvalue
        assert mann_kendall(values) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("count", "score", "chance"),
    # Upper tail of the null distribution of Kendall's S, as tables print it.
    [(5, 8, 0.042), (5, 10, 0.0083), (8, 14, 0.054), (8, 16, 0.031), (8, 18, 0.016), (10, 23, 0.023)],
)
def test_chances_are_those_of_the_tables_of_kendalls_test(count, score, chance):
    values = list(range(count))
    falling = (count * (count - 1) // 2 - score) // 2
    # Each time that two neighbours change places, one pair more comes falling.
    while falling:
        place = next(k for k in range(count - 1) if values[k] < values[k + 1])
        values[place], values[place + 1] = values[place + 1], values[place]
        falling -= 1
    assert mann_kendall(values) == pytest.approx(chance, abs=0.0005)


def test_equal_values_do_not_rise():
    assert mann_kendall([1.0] * 10) == 1
    assert mann_kendall([1.0, 2.0, 2.0, 3.0]) > mann_kendall([1.0, 2.0, 2.5, 3.0])


def test_the_chance_of_a_lower_sample_is_that_of_scipys_exact_one_sided_mann_whitney_test(stats):
    for seed in range(10):
        first, second = sample(seed, 7), [0.5 * one for one in sample(seed + 100, 9)]
        expected = stats.mannwhitneyu(second, first, method="exact", alternative="less").pvalue
        assert mann_whitney(first, second) == pytest.approx(expected)


def test_a_sample_that_lies_wholly_below_is_one_of_all_orders():
    assert mann_whitney([4.0, 5.0, 6.0], [1.0, 2.0, 3.0]) == pytest.approx(1 / math.comb(6, 3))
    assert mann_whitney([1.0] * 3, [1.0] * 3) == 1


# Ratios.


@pytest.mark.parametrize(("n", "m"), [(4, 4), (3, 5), (6, 9), (12, 12)])
def test_a_ratio_is_that_of_all_pairs_and_its_interval_that_of_scipys_exact_mann_whitney_test(stats, n, m):
    first, second = sample(n, n), [2 * value for value in sample(m + 100, m)]
    found = ratio_interval(first, second)

    def chance_of(ratio):
        smaller = [value / ratio for value in second]
        return stats.mannwhitneyu(first, smaller, method="exact").pvalue

    assert holds_what_the_test_does_not_refuse(found, chance_of)
    assert found.value == pytest.approx(median([b / a for a in first for b in second]))


def test_the_interval_covers_the_true_ratio_as_often_as_it_says():
    """Every way to deal 8 ranks to two samples of 4 is as likely as any other, where they do not differ."""
    values = [1.0, 1.3, 1.7, 2.2, 2.9, 3.8, 4.9, 6.4]
    deals = list(combinations(values, 4))
    within = 0
    for first in deals:
        found = ratio_interval(first, [one for one in values if one not in first])
        within += found.low <= 1 <= found.high
    assert within / len(deals) == pytest.approx(found.coverage)
    assert found.coverage >= 0.95


def test_the_smallest_samples_for_an_interval_are_four_and_four_or_three_and_five():
    sizes = [
        (n, m) for n, m in permutations(range(1, 6), 2) if ratio_interval([1.0] * n, [1.0] * m) is not None
    ]
    assert (3, 5) in sizes
    assert (3, 4) not in sizes
    assert ratio_interval([1.0] * 4, [1.0] * 4) is not None
    assert ratio_interval([1.0] * 3, [1.0] * 3) is None


def test_fifty_values_each_are_reckoned_exactly():
    found = ratio_interval(range(1, 51), range(2, 101, 2))
    assert 0.95 <= found.coverage < 0.951
    assert found.low < 2 < found.high


def test_of_values_that_are_not_above_0_there_is_no_ratio():
    with pytest.raises(ValueError, match="above 0"):
        ratio_interval([1.0] * 4, [1.0, 2.0, 0.0, 3.0])


# Variation.


def test_the_coefficient_of_variation_is_scipys(stats):
    for seed in range(10):
        values = sample(seed, 5)
        assert coefficient_of_variation(values) == pytest.approx(stats.variation(values))


def test_equal_values_do_not_vary_whatever_they_are():
    assert coefficient_of_variation([0.0] * 5) == 0
    assert coefficient_of_variation([0.1] * 5) == pytest.approx(0, abs=1e-15)


def test_the_relative_range_is_a_part_of_the_largest():
    assert relative_range([2.0, 1.5, 1.0]) == 0.5
    assert relative_range([0.0, 0.0]) == 0
