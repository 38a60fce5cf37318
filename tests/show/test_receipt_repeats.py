"""The receipt of a cell that repeats: its light runs are the timing, the others are not."""

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.record.record import Repeat
from jupyter_mlgpu.show.receipts import repeats
from jupyter_mlgpu.testing import example_record

pytestmark = pytest.mark.small


def last(*walls, mode="profiled"):
    """The record of the run with the profiler on, after a warm-up and the others."""
    number = len(walls)
    return replace(example_record(1), mode=mode, repeat=Repeat(number, number - 1, walls))


def test_the_light_runs_are_the_timing():
    record = last(30.0, 0.5, 0.4, 0.6)
    assert repeats.headline(record) == "500 ms, median of 3 runs"
    figures, said = repeats.strip(record)
    assert figures == "warm-up 30 s · runs 500 ms | 400 ms | 600 ms"
    assert said.startswith("Timing, median of 3 light runs: 500 ms (400 ms to 600 ms).")
    assert said.endswith("Everything else here is from one more run, with the profiler on.")


def test_one_light_run_is_no_median():
    record = last(30.0, 0.5)
    assert repeats.headline(record) == "500 ms, 1 run"
    assert repeats.strip(record)[1].startswith("Timing, one light run: 500 ms. ")


def test_where_no_profile_could_be_taken_the_receipt_says_so():
    assert "could not be profiled" in repeats.strip(last(30.0, 0.5, mode="light"))[1]


def test_a_run_without_a_wall_time_is_named_as_not_measured_and_is_no_part_of_the_timing():
    record = last(30.0, None, 0.5)
    assert repeats.timing(record) == [0.5]
    assert repeats.strip(record)[0] == "warm-up 30 s · runs not measured | 500 ms"


def test_a_cell_that_ran_once_has_no_timing_of_its_own():
    assert repeats.headline(example_record(1)) == ""
    assert repeats.strip(example_record(1)) == []
