"""How often a cell is looked at, and what decides that a look needs to ask no more."""

from itertools import pairwise

import pytest

from jupyter_mlgpu.measure.activity.sampling_interval import LONGEST, SHARE, SHORTEST, SamplingInterval
from jupyter_mlgpu.measure.activity.states import nobody_else_kept_it

LOOK = 0.0001


def looks_in(seconds, cost=LOOK, **what):
    """How many looks there are in so many seconds."""
    pace, now, samples = SamplingInterval(), 0.0, 0
    now += pace.wait(now)
    while now < seconds:
        samples += 1
        pace.charge(cost, **what)
        now += pace.wait(now)
    return samples


def test_a_cell_is_looked_at_20_to_50_times_a_second():
    assert 1 / LONGEST <= looks_in(10, cost=0.00001) / 10 <= 1 / SHORTEST


def test_looking_takes_no_more_than_its_share():
    assert looks_in(10, cost=0.001) * 0.001 == pytest.approx(10 * SHARE, rel=0.1)


def test_a_cell_that_stands_still_for_each_look_is_looked_at_less_often():
    often, seldom = looks_in(10), looks_in(10, stopped=True)
    assert seldom < often / 2
    assert looks_in(1, stopped=True) >= 6, "and often enough for an answer within a second"
    assert seldom >= 4 * 10, "and for a sure one within three"


def test_half_a_second_of_python_is_looked_at_a_few_times_and_no_look_stands_for_half_of_it():
    pace, moments = SamplingInterval(), [0.0]
    while moments[-1] < 0.5:
        moments.append(moments[-1] + pace.wait(moments[-1]))
        pace.charge(LOOK, stopped=True)
    assert 4 <= len(moments) <= 7
    assert max(later - earlier for earlier, later in pairwise(moments)) < moments[-1] / 2


PYTHON = {"own": 0.95, "asked": 1.0, "others": 0.01, "went_on": 0.0}


def test_a_thread_that_was_asked_for_the_lock_and_stands_still_ran_python():
    assert nobody_else_kept_it(**PYTHON)


@pytest.mark.parametrize(
    "but",
    [
        {"own": 0.3},
        {"own": None},
        {"asked": 0.5},
        {"others": 0.2},
        {"went_on": 0.9},
        {"went_on": None},
    ],
    ids=lambda but: str(but),
)
def test_where_another_one_may_have_kept_the_lock_the_system_is_asked(but):
    assert not nobody_else_kept_it(**{**PYTHON, **but})
