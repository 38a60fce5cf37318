"""Samples of what a thread did, in bins."""

import pytest

from jupyter_mlgpu.measure.activity.activity import Line
from jupyter_mlgpu.measure.activity.timeline import Timeline, finished
from jupyter_mlgpu.record.strip import BINS, StripLine


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
        ("no processor", None, "n"),
        ("kept lock", "input", "p"),
    ],
)
def test_what_was_done_has_a_letter(state, doing, letter):
    timeline = Timeline()
    timeline.add(state, doing, 0.01, 0.01)
    assert finished(timeline.lane(0.01), [], None).did == letter * 2


@pytest.mark.parametrize(
    ("state", "doing", "letters"),
    [
        ("native", None, "w" * 6 + "n" * 14),
        ("no processor", None, "n" * 14 + "w" * 6),
        ("no processor", "compiling", "c" * 14 + "w" * 6),
    ],
)
def test_native_code_without_a_processor_waits_for_as_long_as_it_had_none(state, doing, letters):
    timeline = Timeline()
    timeline.add(state, doing, 0.1, 0.1, waited=0.03)
    lane = timeline.lane(0.1)
    assert lane.did == letters
    assert seconds(lane) == pytest.approx(
        {letters[0]: letters.count(letters[0]) / 200, letters[-1]: letters.count(letters[-1]) / 200}
    )


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


def test_each_bin_knows_the_line_that_ran_most():
    timeline = Timeline()
    timeline.add("interpreter", None, 0.004, 0.004, Line(3, 1))
    timeline.add("idle", None, 0.01, 0.006, Line(4, 1))
    timeline.add("native", None, 0.02, 0.01)
    assert timeline.lines(0.025) == (Line(3, 1), Line(4, 1), None, None, None)


def test_what_was_done_most_counts_all_lines_together():
    timeline = Timeline()
    timeline.add("idle", None, 0.002, 0.002, Line(3))
    timeline.add("interpreter", None, 0.0035, 0.0015, Line(4))
    timeline.add("interpreter", None, 0.005, 0.0015, Line(5))
    assert timeline.lane(0.005).did == "p"
    assert timeline.lines(0.005) == (Line(3),)


def test_a_lane_has_the_lines_of_cells_by_their_place_and_none_of_files():
    timeline = Timeline()
    timeline.add("interpreter", None, 0.02, 0.02)
    lines = [Line(7), Line(3, 2), Line(7), Line(9, file="a.py")]
    lane = finished(timeline.lane(0.02), lines, None)
    assert (lane.ran, lane.lines) == ("010 ", (StripLine(7), StripLine(3, 2)))


def test_a_lane_of_many_lines_keeps_the_commonest():
    timeline = Timeline()
    timeline.add("interpreter", None, 1.0, 1.0)
    lines = [Line(number // 2 + 1) for number in range(200)]
    lane = finished(timeline.lane(1.0), lines, None)
    assert (len(lane.lines), len(lane.ran)) == (36, 200)
    assert lane.ran.count(" ") == 200 - 2 * 36


def test_a_lane_without_known_lines_has_none():
    timeline = Timeline()
    timeline.add("interpreter", None, 0.01, 0.01)
    assert finished(timeline.lane(0.01), [None, None], None) == timeline.lane(0.01)
    assert finished(None, [], None) is None


@pytest.mark.parametrize(
    ("state", "limit", "letter"),
    [
        ("short calls", "python", "p"),
        ("short calls", "launch", "n"),
        ("short calls", None, "n"),
        ("idle beside others", "waiting", "w"),
        ("idle beside others", "device", "n"),
    ],
)
def test_time_that_samples_leave_open_is_shown_as_the_limit_counts_it(state, limit, letter):
    timeline = Timeline()
    timeline.add(state, None, 0.02, 0.02)
    timeline.add("interpreter", None, 0.03, 0.01)
    lane = finished(timeline.lane(0.03), [], limit)
    assert lane.did == letter * 4 + "pp"
    assert seconds(lane) == pytest.approx({"p": 0.03} if letter == "p" else {letter: 0.02, "p": 0.01})
