"""Samples of what a thread did, in bins."""

import pytest

from jupyter_mlgpu.measure.activity.timeline import Timeline
from jupyter_mlgpu.record.strip import BINS


def seconds(lane):
    return {one.did: one.seconds for one in lane.spent}


def test_each_sample_stands_for_the_time_since_the_one_before():
    timeline = Timeline()
    timeline.add("interpreter", None, 0.1, 0.1)
    timeline.add("idle", None, 0.15, 0.05)
    timeline.add("native", None, 0.2, 0.05)
    lane = timeline.lane(0.2)
    assert lane.did == "p" * 20 + "w" * 10 + "n" * 10
    assert seconds(lane) == pytest.approx({"p": 0.1, "w": 0.05, "n": 0.05})


@pytest.mark.parametrize(
    ("state", "doing", "letter"),
    [
        ("interpreter", "importing", "i"),
        ("native", "compiling", "c"),
        ("idle beside others", None, "n"),
        ("no processor", None, "w"),
        ("kept lock", "input", "p"),
    ],
)
def test_what_was_done_has_a_letter(state, doing, letter):
    timeline = Timeline()
    timeline.add(state, doing, 0.01, 0.01)
    assert timeline.lane(0.01).did == letter * 2


def test_a_cell_of_an_hour_has_as_many_bins_as_one_of_a_second_and_its_sums_are_exact():
    timeline = Timeline()
    for number in range(1, 7_201):
        timeline.add("interpreter" if number <= 3_600 else "idle", None, 0.5 * number, 0.5)
    lane = timeline.lane(3_600.0)
    assert len(lane.did) <= BINS
    assert lane.did.count("p") == pytest.approx(lane.did.count("w"), abs=1)
    assert seconds(lane) == pytest.approx({"p": 1_800.0, "w": 1_800.0})


def test_time_in_which_nobody_could_look_stays_empty():
    timeline = Timeline()
    timeline.add("interpreter", None, 0.05, 0.05)
    timeline.add("interpreter", None, 0.2, 0.05)
    assert timeline.lane(0.2).did == "p" * 10 + " " * 20 + "p" * 10


def test_of_two_things_in_a_bin_the_longer_one_is_shown():
    timeline = Timeline()
    timeline.add("interpreter", None, 0.002, 0.002)
    timeline.add("idle", None, 0.005, 0.003)
    assert timeline.lane(0.005).did == "w"
