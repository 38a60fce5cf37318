"""Computing and communicating, apart: what waited for a slower engine, and where that is not known."""

import dataclasses
import json

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.explain.engines.collection import WAITING, Collection
from jupyter_mlgpu.explain.engines.offsets import Offset
from jupyter_mlgpu.explain.engines.phases import phases
from jupyter_mlgpu.explain.engines.query import EngineReport
from jupyter_mlgpu.record.reading import Reading, missing
from jupyter_mlgpu.show.engines import chart
from jupyter_mlgpu.show.engines.headline import headline
from jupyter_mlgpu.show.engines.page import engines_table, phases_table, records_table
from jupyter_mlgpu.show.page import view
from jupyter_mlgpu.show.page.rendering import bundle_of
from jupyter_mlgpu.testing import example_record

MILLISECOND = 1_000_000


def block(sequence, name, start, end, *, run=0, digest=None):
    """A block between two moments of its engine's clock, in milliseconds."""
    record = example_record(sequence, run=f"{run:032d}", name=name)
    wall = Reading("wall_time", (end - start) / 1000, "s", "cell", "simulated", 1, detail="fake clock")
    return replace(
        record,
        cell=replace(record.cell, source_digest=digest),
        started_monotonic_ns=round(start * MILLISECOND),
        readings=(wall, *record.readings[1:]),
    )


def engine(number, *spans, ahead=0.0, unsure=0.0, host="a" * 12):
    """An engine with blocks (name, start, end); its clock stands `ahead` milliseconds before ours."""
    offset = Offset(round(ahead * MILLISECOND), round(unsure * MILLISECOND), 20)
    records = [
        block(place, name, start + ahead, end + ahead, run=number)
        for place, (name, start, end) in enumerate(spans, 1)
    ]
    return EngineReport(number, host, offset, tuple(records))


def steps(compute, *, until):
    """Steps of one engine: (compute from, compute to) in order; each exchange ends at a moment of `until`."""
    found = []
    for (begin, end), done in zip(compute, until, strict=True):
        found += [("compute", begin, end), ("communicate", end, done)]
    return found


FAST = steps([(0, 10), (52, 62)], until=[52, 104])
SLOW = steps([(0, 50), (52, 102)], until=[52, 104])


def test_a_slow_engine_is_the_other_one_s_waiting():
    found, why = phases([engine(0, *FAST), engine(1, *SLOW)])
    assert why is None
    fast, slow = found
    assert (fast.compute_ns, slow.compute_ns) == (20 * MILLISECOND, 100 * MILLISECOND)
    assert fast.communicate_ns == 84 * MILLISECOND
    assert slow.communicate_ns == 4 * MILLISECOND
    assert (fast.waiting_ns, slow.waiting_ns) == (80 * MILLISECOND, 0)
    # The exchange itself took both as long.
    assert fast.communicate_ns - fast.waiting_ns == slow.communicate_ns - slow.waiting_ns


def test_the_same_comes_out_with_clocks_minutes_apart_and_says_how_sure_it_is():
    found, why = phases(
        [engine(0, *FAST, ahead=-180_000, unsure=1), engine(1, *SLOW, ahead=240_000, unsure=2, host="b" * 12)]
    )
    assert why is None
    assert [one.waiting_ns for one in found] == [80 * MILLISECOND, 0]
    assert [one.unsure_ns for one in found] == [2 * 3 * MILLISECOND] * 2  # two exchanges, both uncertainties


def test_engines_of_one_machine_read_one_clock_so_their_waiting_is_exact():
    first, second = engine(0, *FAST, unsure=1.5), engine(1, *SLOW, unsure=1.5)
    # The same clock, estimated a little apart.
    second = dataclasses.replace(second, offset=Offset(MILLISECOND, 3 * MILLISECOND // 2, 20))
    found, why = phases([first, second])
    assert why is None
    assert [(one.waiting_ns, one.unsure_ns) for one in found] == [(80 * MILLISECOND, 0), (0, 0)]


def test_of_three_engines_each_waits_for_the_last():
    spans = [[("communicate", start, 30)] for start in (0, 10, 25)]
    found, _ = phases([engine(number, *one) for number, one in enumerate(spans)])
    assert [one.waiting_ns / MILLISECOND for one in found] == [25, 15, 0]


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ([("communicate", 10, 52)], "different numbers of these blocks (engine 0: 2, engine 1: 1)."),
        (
            [("communicate", 200, 210), ("communicate", 300, 310)],
            "so it was not an exchange among all engines.",
        ),
        ([("compute", 0, 50)], "only one engine has blocks with that name."),
    ],
)
def test_where_the_blocks_are_no_exchange_of_all_nothing_is_said_of_waiting(second, said):
    found, why = phases([engine(0, *FAST), engine(1, *second)])
    assert why.endswith(said)
    assert [one.waiting_ns for one in found] == [None, None]
    shown = Collection([engine(0, *FAST), engine(1, *second)], "")
    assert phases_table(shown).rows[0][3] == "not known"
    assert why in shown.sentences
    assert WAITING not in shown.sentences


def test_a_cell_of_that_name_and_a_block_that_has_no_time_do_not_count():
    cell = block(1, "compute", 0, 50, digest="0" * 16)
    endless = replace(block(2, "compute", 60, 70), readings=(missing("wall_time", "killed"),))
    offset = Offset(0, 0, 1)
    assert phases([EngineReport(0, "a", offset, (cell, endless))]) == ((), None)


def test_an_engine_without_a_clock_of_ours_has_no_part_in_it():
    lost = dataclasses.replace(engine(1, *SLOW), offset=None, why="gone")
    found, why = phases([engine(0, *FAST), lost])
    assert [one.engine for one in found] == [0]
    assert "only one engine" in why


def test_text_and_html_have_a_table_of_both_and_say_that_communication_contains_waiting():
    found = Collection([engine(0, *FAST), engine(1, *SLOW)], "")
    table = phases_table(found)
    assert table.columns == ("engine", "compute", "communicate", "of that, waiting")
    assert table.rows == (("0", "20 ms", "84 ms", "80 ms"), ("1", "100 ms", "4 ms", "0 µs"))
    assert "80 ms" in repr(found)
    assert ">80\u00a0ms<tr>" in found._repr_html_()
    assert WAITING in found.sentences


def test_the_headline_names_the_engine_that_kept_the_others_waiting():
    found = Collection([engine(0, *FAST), engine(1, *SLOW)], "a" * 12)
    assert headline(found) == "Engine 1 kept the others waiting: engine 0 waited 80 ms for it."
    unsure = [engine(0, *FAST, unsure=90), engine(1, *SLOW, unsure=90, host="b" * 12)]
    assert (
        headline(Collection(unsure, "a" * 12)) == "It is not certain that any engine kept the others waiting."
    )
    apart = Collection([engine(0, ("load", 0, 10)), engine(1, ("load", 0, 40))], "a" * 12)
    assert headline(apart) == "Engine 1 was busy longest, for 40 ms; the least busy engine for 10 ms."


def test_a_saved_trace_tells_each_engine_s_phases(tmp_path):
    found = Collection([engine(0, *FAST), engine(1, *SLOW)], "")
    found.save(tmp_path / "x.json")
    told = json.loads((tmp_path / "x.json").read_text())["otherData"]["engines"]
    assert [one["phases"]["waiting_ns"] for one in told] == [80 * MILLISECOND, 0]
    assert [one["state"] for one in told] == ["collected", "collected"]


def test_without_such_blocks_nothing_is_said_of_phases():
    found = Collection([engine(0, ("fit", 0, 5))], "")
    assert found.phases == ()
    assert "communicate" not in repr(found)


# -- what a notebook keeps for the view in the browser -------------------------------------------------------


def chart_in_view(found):
    """The chart of a collection as a notebook keeps it."""
    (only,) = bundle_of(found)[view.MIME_TYPE]["charts"]
    return only


def drawn(found):
    """What is drawn: row, name, start and end in milliseconds."""
    kept = chart_in_view(found)
    names = [one["name"] for one in kept["series"]]
    return [
        (row, names[series], pytest.approx(start * 1000), pytest.approx(end * 1000))
        for series, row, _, start, end in kept["bars"]
    ]


def test_the_view_has_a_row_an_engine_on_one_clock_also_for_one_without_records():
    found = Collection(
        [engine(0, *FAST), engine(1, *SLOW, ahead=60_000), EngineReport(2, why="gone", gone=True)], "a" * 12
    )
    names = [str(name) for name in chart.chart(found, "").y.names]
    assert names == ["engine 0", "engine 1", "engine 2: gone"]
    expected = [(row, *one) for row, spans in enumerate((FAST, SLOW)) for one in spans]
    shown = drawn(found)
    assert len(shown) == len(expected)
    assert all(one in shown for one in expected)


def test_the_records_are_listed_in_the_order_in_which_they_began():
    rows = records_table(Collection([engine(0, *FAST), engine(1, *SLOW, ahead=60_000)], "")).rows
    assert rows[:3] == (
        ("0", "compute", "0 µs", "10 ms"),
        ("1", "compute", "0 µs", "50 ms"),
        ("0", "communicate", "10 ms", "42 ms"),
    )


def test_its_tables_tell_where_each_engine_runs_how_its_clock_stands_and_that_one_is_gone():
    found = Collection(
        [engine(0, *FAST), engine(1, *SLOW, ahead=60_000), EngineReport(2, why="gone", gone=True)], "a" * 12
    )
    rows = engines_table(found).rows
    assert [row[1] for row in rows] == ["this machine", "this machine", "not known"]
    assert [row[4] for row in rows] == ["+0 µs ± 0 µs", "+1 min 00 s ± 0 µs", "not known"]
    assert [row[5] for row in rows] == ["collected", "collected", "gone"]
    assert rows[2][3] == ""


def test_a_collection_is_shown_in_our_view_beside_html_and_text():
    found = Collection([engine(0, *FAST)], "")
    assert found._repr_mimebundle_().keys() == {view.MIME_TYPE}
    assert "engine" in found._repr_html_()
    assert "engine" in repr(found)


def test_of_very_many_records_the_longest_are_drawn_and_the_page_says_so():
    many = [("fit", place * 10, place * 10 + 1 + place / 1e2) for place in range(chart.MOST + 5)]
    found = Collection([engine(0, *many)], "")
    bars = chart_in_view(found)["bars"]
    assert len(bars) == chart.MOST
    assert min(end - start for *_, start, end in bars) > 0.001_04
    assert len(json.dumps(bundle_of(found))) < 100_000
    assert f"The {chart.MOST} longest of {chart.MOST + 5} records are drawn." in repr(found)


def test_of_very_many_engines_the_first_have_a_row():
    found = Collection([engine(number, ("fit", 0, 1)) for number in range(300)], "")
    kept = chart_in_view(found)
    assert len(kept["y"]["ticks"]) == len(kept["bars"]) == chart.ENGINES
    assert f"The first {chart.ENGINES} engines are drawn." in repr(found)


def test_a_record_without_a_time_is_drawn_as_long_as_can_be_seen():
    endless = replace(block(2, "late", 60, 70), readings=(missing("wall_time", "killed"),))
    report = engine(0, ("fit", 0, 100))
    found = Collection([dataclasses.replace(report, records=(*report.records, endless))], "")
    (late,) = [one for one in chart_in_view(found)["bars"] if one[3] > 0]
    assert late[4] - late[3] == pytest.approx(0.1 / 700)


def test_names_in_the_view_are_utf_8_and_short():
    kept = chart_in_view(Collection([engine(0, ("\ud800" + "x" * 500, 0, 1))], ""))
    assert len(kept["series"][0]["name"].encode()) <= 170
