"""The benchmarks' statistics: what they conclude from given times, without measuring any."""

import math
import os
import sys

import pytest

from benchmarks import __main__, cell, kernel, memory, tracing, training
from benchmarks.report import MS, Table, describe_run, difference_figure, median_figure, ratio_figure
from benchmarks.statistics import (
    MOST_REPEATS,
    Pair,
    calibrate,
    growth,
    interleave,
    median_to_highest,
    speed_ratio,
    speed_verdict,
    verdict,
)
from jupyter_mlgpu.explain.statistics import Estimate

pytestmark = pytest.mark.small

REFERENCE, TREE, NONE = cell.REFERENCE, cell.TREE, cell.NONE


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


def test_the_figures_of_pairs_are_the_medians_within_pairs_with_their_intervals():
    pairs = [Pair(1.0, 1.0 + 0.01 * number) for number in range(1, 8)]
    added, ratio = difference_figure("a cell", pairs, 0.1), ratio_figure("a cell", pairs, 1.01)
    assert (added.value, added.verdict) == (pytest.approx(0.04), "holds")
    assert (added.interval.low, added.interval.high) == (pytest.approx(0.01), pytest.approx(0.07))
    assert (ratio.value, ratio.verdict) == (pytest.approx(1.04), "not settled")
    assert (ratio.columns["off"], ratio.columns["on"]) == ("1000.00 ms", "1040.00 ms")


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


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((10, 50, 40), "holds"),
        ((10, 51, 40), "not settled"),
        ((10, 51, 52), "missed"),
        ((51, 10, 52), "missed"),
        ((51,), "missed"),
        ((50,), "holds"),
    ],
)
def test_of_few_repeats_the_median_is_judged_and_one_beyond_the_target_is_not_passed_over(values, expected):
    assert verdict(median_to_highest(values), 50) == expected


def test_growth_is_the_slope_of_the_second_half_alone():
    points = [(0, 0), (1, 500), (2, 1_000), (3, 1_010), (4, 1_020), (5, 1_030)]
    assert growth(points) == pytest.approx(10)


# -- two programs that take turns -----------------------------------------------------------------


def test_two_programs_of_the_same_speed_have_a_ratio_of_one():
    assert speed_ratio([0.02] * 5, [0.02] * 5) == Estimate(1.0, 1.0, 1.0, 0.95)


def test_the_ratio_is_of_speeds_so_that_half_the_time_is_twice_as_fast():
    assert speed_ratio([0.2, 0.4], [0.1, 0.2]).value == pytest.approx(2.0)


def test_the_interval_of_a_speed_is_students():
    # Logarithms of the ratios: 0, 0.1, 0.2, 0.3, 0.4; their mean 0.2, deviation 0.15811, t(4) = 2.776.
    found = speed_ratio([math.exp(one / 10) for one in range(5)], [1.0] * 5)
    assert math.log(found.value) == pytest.approx(0.2)
    assert math.log(found.high) - 0.2 == pytest.approx(2.776 * 0.158114 / math.sqrt(5), rel=1e-5)
    assert 0.2 - math.log(found.low) == pytest.approx(math.log(found.high) - 0.2)


@pytest.mark.parametrize("number", [1, MOST_REPEATS + 1])
def test_a_speed_needs_some_repeats_and_knows_no_more_than_its_table(number):
    with pytest.raises(ValueError, match="needs 2 to 20 repeats"):
        speed_ratio([1.0] * number, [1.0] * number)


@pytest.mark.parametrize(
    ("ours", "expected"),
    [
        ([1.0, 1.01, 0.99], "not settled"),
        ([1.001, 1.0, 1.0], "ties"),
        ([0.9, 0.901, 0.9], "beats it"),
        ([1.1, 1.101, 1.1], "behind"),
    ],
)
def test_a_speeds_verdict_looks_at_the_whole_interval(ours, expected):
    assert speed_verdict(speed_ratio([1.0] * 3, ours)) == expected


class OnASlowingMachine:
    """Takes a step's time of a clock, which every step slows down."""

    def __init__(self, clock, step_s):
        self.clock, self.step_s = clock, step_s

    def run(self, steps):
        for _ in range(steps):
            self.clock["now"] += self.step_s * self.clock["slower"]
            self.clock["slower"] *= 1.002

    def wait(self):
        pass


def test_programs_that_take_turns_compare_rightly_while_the_machine_slows_down(monkeypatch):
    clock = {"now": 0.0, "slower": 1.0}
    monkeypatch.setattr(training.time, "perf_counter", lambda: clock["now"])
    reference, ours = OnASlowingMachine(clock, 0.02), OnASlowingMachine(clock, 0.01)
    in_turns = speed_ratio(*training.take_turns(reference, ours, steps=5, repeats=5))
    assert in_turns.value == pytest.approx(2.0, rel=1e-3)
    # One after the other, as large a block of each, the later one seems slower.
    clock["slower"] = 1.0
    one_by_one = speed_ratio(*training.take_turns(reference, ours, steps=40, repeats=5, turns=1))
    assert one_by_one.value < 1.9


# -- a cell without us, with a reference tree, with this tree -------------------------------------


def a_short_round(drift, loading=0.04):
    """Times of a machine that is `drift` seconds slower in this round."""
    plain = {cell.EMPTY: 0.005 + drift, cell.BUSY: 0.105 + drift}
    reference = {name: seconds + 0.003 for name, seconds in plain.items()}
    tree = {name: seconds + 0.004 for name, seconds in plain.items()}
    loaded = {REFERENCE: {cell.LOADING: 0.04, **reference}, TREE: {cell.LOADING: loading, **tree}}
    return {NONE: plain, **loaded}


def test_short_cells_are_compared_within_their_round_whatever_drifts_between_rounds():
    figures = {one.name: one for one in cell.short_figures([a_short_round(0.01 * n) for n in range(6)])}
    assert list(figures) == [
        "%load_ext: this tree less reference tree",
        "empty cell: this tree less reference tree",
        "empty cell: reference tree less no extension",
        "empty cell: this tree less no extension",
        "cell of 100 ms: this tree less reference tree",
        "cell of 100 ms: reference tree less no extension",
        "cell of 100 ms: this tree less no extension",
    ]
    for name, added in (("this tree less reference tree", 0.001), ("this tree less no extension", 0.004)):
        found = figures[f"empty cell: {name}"]
        assert found.value == pytest.approx(added)
        assert (found.interval.low, found.interval.high) == (pytest.approx(added), pytest.approx(added))


def test_without_a_reference_this_tree_is_compared_with_a_plain_kernel():
    measured = [{name: times for name, times in a_short_round(0).items() if name != REFERENCE}] * 6
    names = [one.name for one in cell.short_figures(measured)]
    assert names == ["empty cell: this tree less no extension", "cell of 100 ms: this tree less no extension"]


def a_round(reference: float, tree: float, quick: float = 1.0, waits: float = 0.0) -> cell.Round:
    """A cell takes these seconds with the trees; this tree's kernel works in `quick` of the time.

    `waits`: seconds of this tree's cell in which its thread did not work.
    """

    def twice(seconds: float, waited: float = 0.0) -> dict[str, list[cell.CellTime]]:
        return {"sleeping": [cell.CellTime(seconds, seconds - waited)] * 2}

    bare = {REFERENCE: twice(1.0), TREE: twice(quick)}
    loaded = {REFERENCE: twice(reference), TREE: twice(tree * quick, waits)}
    return cell.Round(bare, loaded)


def second_figures(rounds):
    return [table.figures[0] for table in cell.second_tables(rounds, {"sleeping": 1})]


def test_a_kernel_that_is_quicker_by_itself_makes_no_tree_quicker():
    whole, _ = second_figures([a_round(1.01, 1.01, quick=0.9)] * 6)
    assert (whole.interval.low, whole.interval.high) == (pytest.approx(1.0), pytest.approx(1.0))


@pytest.mark.parametrize(("tree", "expected"), [(1.011, "holds"), (1.02, "missed"), (0.99, "holds")])
def test_the_target_is_for_what_is_added_to_the_reference(tree, expected):
    whole, _ = second_figures([a_round(1.01, tree)] * 6)
    assert whole.verdict == expected


@pytest.mark.parametrize(("waits", "expected"), [(0.002, "holds"), (0.004, "missed")])
def test_what_a_cell_waits_is_told_however_quick_its_work_was(waits, expected):
    _, overhead = second_figures([a_round(1.01, 1.01, quick=0.9, waits=waits)] * 6)
    assert overhead.value == pytest.approx(waits)
    assert overhead.verdict == expected


def test_fewer_than_six_rounds_have_no_interval():
    assert {one.verdict for one in second_figures([a_round(1.01, 1.01)] * 5)} == {"not known"}


def test_kernels_find_the_tree_before_what_the_caller_names(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", "libraries")
    assert kernel.python_path("/tree").split(os.pathsep) == ["/tree", str(tmp_path / "libraries")]
    monkeypatch.delenv("PYTHONPATH")
    assert kernel.python_path(None) == ""


# -- tracing, and memory --------------------------------------------------------------------------


@pytest.mark.parametrize(("seconds", "expected"), [(0.2059, "holds"), (0.2061, "missed")])
def test_light_tracing_may_add_3_ms_and_a_share_of_the_bare_cell(seconds, expected):
    measured = zip(tracing.CONDITIONS, (0.2, seconds, 0.3, 0.25), strict=True)
    light, ops, _, ratio = tracing.table("steps", {name: [one] * 20 for name, one in measured}).figures
    assert light.target == pytest.approx(0.006)
    assert light.value == pytest.approx(seconds - 0.2)
    assert light.verdict == expected
    assert ops.verdict == ""
    assert (ratio.value, ratio.verdict) == (pytest.approx(1.2), "missed")


def test_memory_is_judged_at_the_end_and_by_its_growth_beyond_a_plain_kernels():
    mib = 1024**2
    measured = [(250 * n, 50 * mib + 100 * 250 * n, 58 * mib + 900 * 250 * n) for n in range(5)]
    figures = {one.name: one for one in memory.table(measured).figures}
    assert figures["more than a plain kernel"].verdict == "holds"
    assert figures["growth beyond that, bytes a cell"].value == pytest.approx(800)


# -- the report -----------------------------------------------------------------------------------


def test_a_table_is_markdown_without_the_columns_that_say_nothing():
    rows = str(Table("Cells", [median_figure("misses", [0.003] * 6, MS, 0.002)])).splitlines()
    assert rows[2:5] == [
        "|        | value   | target  | verdict |",
        "| ------ | ------- | ------- | ------- |",
        "| misses | 3.00 ms | 2.00 ms | missed  |",
    ]


def test_a_report_says_the_command_the_machine_and_the_versions_and_no_name_of_a_user():
    facts = describe_run("python -m benchmarks cell --reference /home/ada/x", ["msgspec"])
    assert {"command", "processor", "python", "msgspec"} <= facts.keys()
    assert "ada" not in facts["command"]


@pytest.mark.parametrize(("seconds", "status"), [(0.001, 0), (0.003, 1)])
def test_the_command_fails_if_a_target_is_missed(monkeypatch, capsys, seconds, status):
    measured = Table("Cells", [median_figure("a cell", [seconds] * 6, MS, 0.002)])
    monkeypatch.setattr(memory, "measure", lambda options: iter([measured]))
    monkeypatch.setattr(sys, "argv", ["benchmarks", "memory"])
    assert __main__.main() == status
    assert str(measured) in capsys.readouterr().out
