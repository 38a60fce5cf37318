"""How often a cell is sampled, and which samples need not ask the system for the thread's state."""

from itertools import pairwise

import pytest

from jupyter_mlgpu.measure.activity.sampling_interval import (
    LONGEST_INTERVAL,
    SHARE,
    SHORTEST_INTERVAL,
    SamplingInterval,
)
from jupyter_mlgpu.measure.activity.states import must_have_kept_gil

COST = 0.0001


def samples_in(seconds, cost=COST, **what):
    """Return how many samples there are in so many seconds."""
    interval, now, samples = SamplingInterval(), 0.0, 0
    now += interval.wait(now)
    while now < seconds:
        samples += 1
        interval.charge(cost, **what)
        now += interval.wait(now)
    return samples


def test_a_cell_is_sampled_20_to_50_times_a_second():
    assert 1 / LONGEST_INTERVAL <= samples_in(10, cost=0.00001) / 10 <= 1 / SHORTEST_INTERVAL


def test_sampling_takes_no_more_than_its_share():
    assert samples_in(10, cost=0.001) * 0.001 == pytest.approx(10 * SHARE, rel=0.1)


def test_a_cell_that_stands_still_for_each_sample_is_sampled_less_often():
    often, seldom = samples_in(10), samples_in(10, stopped=True)
    assert seldom < often / 2
    assert samples_in(1, stopped=True) >= 6, "and often enough for an answer within a second"
    assert seldom >= 4 * 10, "and for a sure one within three"


def test_half_a_second_of_python_is_sampled_a_few_times_and_no_sample_stands_for_half_of_it():
    interval, moments = SamplingInterval(), [0.0]
    while moments[-1] < 0.5:
        moments.append(moments[-1] + interval.wait(moments[-1]))
        interval.charge(COST, stopped=True)
    assert 4 <= len(moments) <= 7
    assert max(later - earlier for earlier, later in pairwise(moments)) < moments[-1] / 2


PYTHON = {"cpu_share": 0.95, "gil_wait": 1.0, "others": 0.01, "progress": 0.0}


def test_a_thread_that_was_asked_for_the_gil_and_stands_still_ran_python():
    assert must_have_kept_gil(**PYTHON)


@pytest.mark.parametrize(
    "but",
    [
        {"cpu_share": 0.3},
        {"cpu_share": None},
        {"gil_wait": 0.5},
        {"others": 0.2},
        {"progress": 0.9},
        {"progress": None},
    ],
    ids=lambda but: str(but),
)
def test_where_another_one_may_have_kept_the_gil_the_system_is_asked(but):
    assert not must_have_kept_gil(**{**PYTHON, **but})
