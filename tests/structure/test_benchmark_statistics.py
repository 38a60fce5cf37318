"""The benchmarks' figures: what they conclude from given times, without measuring any."""

import pytest

from benchmarks.pairing import Pair, interleave
from benchmarks.report import quartiles, verdict
from benchmarks.workloads import calibrate
from jupyter_mlgpu.explain.statistics import Estimate


def test_quartiles_are_interpolated_between_the_sorted_values():
    found = quartiles([4.0, 1.0, 3.0, 2.0])
    assert (found.first, found.median, found.third) == (1.75, 2.5, 3.25)


def test_one_value_is_its_own_median_and_quartiles():
    found = quartiles([7.0])
    assert (found.first, found.median, found.third) == (7.0, 7.0, 7.0)


def test_no_values_have_no_quartiles():
    with pytest.raises(ValueError, match="at least one value"):
        quartiles([])


def test_pairs_alternate_which_side_comes_first():
    asked = []

    def measure(on):
        asked.append(on)
        return 2.0 if on else 1.0

    pairs = interleave(3, measure)
    assert asked == [False, True, True, False, False, True]
    assert pairs == [Pair(1.0, 2.0)] * 3


def test_a_pair_tells_what_switching_on_adds():
    pair = Pair(off=0.5, on=0.75)
    assert pair.difference == 0.25
    assert pair.ratio == 1.5


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (1.0, 2.9, "holds"),
        (1.0, 3.0, "holds"),
        (2.9, 3.1, "not settled"),
        (3.0, 4.0, "not settled"),
        (3.1, 4.0, "missed"),
    ],
)
def test_a_target_is_kept_or_missed_only_where_the_whole_interval_says_so(low, high, expected):
    assert verdict(Estimate((low + high) / 2, low, high, 0.95), 3.0) == expected


def test_without_an_interval_nothing_is_concluded():
    assert verdict(None, 3.0) == "not known"


@pytest.mark.parametrize("fixed", [0.0, 0.03])
def test_calibration_finds_the_steps_that_take_the_time_asked_for(fixed):
    steps = calibrate(lambda steps: fixed + 0.0002 * steps, length=0.1)
    assert fixed + 0.0002 * steps == pytest.approx(0.1, rel=0.05)


def test_calibration_is_not_misled_by_a_run_that_was_disturbed():
    runs = iter(range(1_000))
    steps = calibrate(lambda steps: 0.0002 * steps + (0.5 if next(runs) % 2 else 0.0), length=0.1)
    assert steps == 500


def test_a_step_that_takes_longer_than_asked_for_is_run_once():
    assert calibrate(lambda steps: 2.0 * steps, length=0.1) == 1
