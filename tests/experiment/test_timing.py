"""The timing loop and its rules, with runs that take as long as told."""

import pytest

from jupyter_mlgpu.experiment.timing import STEADY_RUNS, Repeats, Timings, seconds_of, steady_blocks
from jupyter_mlgpu.record.errors import ClockError
from jupyter_mlgpu.testing import FakeClock


def runs(*seconds):
    """Runs that take so many seconds, and interrupt the loop where they are used up."""
    left = iter(seconds)

    def run():
        for one in left:
            return one
        raise KeyboardInterrupt

    return run


# Warm-up.


def test_blocks_are_steady_where_five_vary_by_two_percent():
    rule = steady_blocks(seconds=60)
    assert rule.is_steady([5.0, *[1.0] * 5])
    assert rule.is_steady([1.0, 1.02, 1.0, 1.02, 1.0])
    assert not rule.is_steady([1.0, 1.06, 1.0, 1.06, 1.0])
    assert not rule.is_steady([1.0] * 4)


def test_times_below_the_clock_are_steady():
    assert STEADY_RUNS.is_steady([0.0] * 3)
    assert steady_blocks(seconds=60).is_steady([0.0] * 5)


def test_blocks_that_do_not_settle_end_with_their_time():
    rule = steady_blocks(seconds=10)
    assert not rule.is_over([1.0, 8.0])
    assert rule.is_over([1.0, 9.0])


def test_runs_are_steady_where_three_differ_by_a_fifth_of_the_longest():
    rule = STEADY_RUNS
    assert rule.is_steady([5.0, 1.0, 0.9, 0.8])
    assert not rule.is_steady([1.0, 0.9, 0.79])
    assert not rule.is_steady([1.0, 1.0])


@pytest.mark.parametrize(
    ("times", "over"),
    [
        ([], False),
        ([1.0, 1.0, 1.0], True),
        ([1.0, 2.0] * 2, False),
        ([0.1, 0.2] * 5, True),  # ten runs
        ([11.0], True),  # ten seconds
        ([0.001] * 3, False),  # steady, but too short for anything to settle
        ([0.001] * 51, True),
        ([0.00001] * 999, False),
        ([0.00001] * 1000, True),
    ],
)
def test_the_warm_up_of_single_runs_is_over_when_runs_are_steady_or_a_bound_is_reached(times, over):
    assert STEADY_RUNS.is_over(times) == over


def test_warm_up_counts_its_runs_and_says_whether_they_became_steady():
    timings = Timings()
    timings.warm_up(runs(5.0, 1.0, 1.0, 1.0), STEADY_RUNS)
    assert (timings.warmups, timings.steady, timings.samples) == (4, True, [])
    timings.warm_up(runs(4.0, 7.0), steady_blocks(seconds=10))
    assert (timings.warmups, timings.steady) == (2, False)


def test_a_warm_up_without_time_runs_nothing():
    timings = Timings()
    timings.warm_up(runs(), steady_blocks(seconds=0))
    assert timings.warmups == 0


# Repeats.


def test_a_fixed_count_is_kept_however_long_it_takes():
    assert not Repeats(3).is_over([1e6, 1e6])
    assert Repeats(3).is_over([0.0] * 3)


def test_a_count_within_time_ends_with_the_time_but_for_the_fewest():
    rule = Repeats(count=10, seconds=5, fewest=3)
    assert not rule.is_over([9.0, 9.0])
    assert rule.is_over([9.0, 9.0, 9.0])
    assert not rule.is_over([0.1] * 9)
    assert rule.is_over([0.1] * 10)


def test_each_repeat_is_announced_before_it_runs():
    timings, heard = Timings(), []
    timings.repeat(runs(1.0, 2.0, 3.0), Repeats(3), lambda number: heard.append((number, *timings.samples)))
    assert heard == [(1,), (2, 1.0), (3, 1.0, 2.0)]
    assert timings.samples == [1.0, 2.0, 3.0]


def test_what_was_measured_before_an_interrupt_stays():
    timings = Timings()
    with pytest.raises(KeyboardInterrupt):
        timings.warm_up(runs(1.0, 2.0), STEADY_RUNS)
    assert (timings.warmups, timings.steady) == (2, False)
    with pytest.raises(KeyboardInterrupt):
        timings.repeat(runs(1.0, 2.0), Repeats(5), lambda number: None)
    assert timings.samples == [1.0, 2.0]


# One run.


class Device:
    """One that works on after `run` has returned: the time passes while it is waited for."""

    def __init__(self, clock):
        self.clock, self.left = clock, 7.0  # work from before

    def run(self):
        self.left += 2.0
        return Value(self)

    def wait(self):
        self.clock.advance(self.left)
        self.left = 0.0


class Value:
    """A result: once nobody keeps it, its work is given up."""

    def __init__(self, device):
        self.device = device

    def __del__(self):
        self.device.left = 0.0


def test_a_run_takes_until_the_device_is_done_and_work_from_before_is_not_in_it():
    clock = FakeClock()
    device = Device(clock)
    assert seconds_of(device.run, device.wait, clock) == 2.0


def test_a_clock_that_goes_back_gives_no_time():
    clock = FakeClock()
    with pytest.raises(ClockError, match="went back"):
        seconds_of(lambda: clock.advance(-1), lambda: None, clock)
