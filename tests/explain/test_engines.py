"""Records of several engines on one clock: offsets, order, and what is said where an engine is missing."""

import dataclasses
import gzip
import json
import random
from types import MappingProxyType, SimpleNamespace

import pytest
from msgspec.structs import replace

import jupyter_mlgpu
from jupyter_mlgpu.explain.engines.collecting import collect_with
from jupyter_mlgpu.explain.engines.collection import Collection, busy_ns
from jupyter_mlgpu.explain.engines.offsets import SAME_CLOCK, Offset, RoundTrip, estimate
from jupyter_mlgpu.explain.engines.query import ROUND_TRIPS, EngineReport
from jupyter_mlgpu.measure.runtime import current
from jupyter_mlgpu.record.errors import RecordError, UsageError
from jupyter_mlgpu.record.reading import Reading, missing
from jupyter_mlgpu.show.engines import chart
from jupyter_mlgpu.show.engines.page import engines_table
from jupyter_mlgpu.show.page import axes
from jupyter_mlgpu.show.page.scales import Scale
from jupyter_mlgpu.testing import FakeClock, example_record
from jupyter_mlgpu.testing.engines import FakeClient, FakeEngine

SECOND = 1_000_000_000
MILLISECOND = 1_000_000


def measured(sequence, *, at, seconds=0.5, run=0, name="model.fit(x, y)"):
    """A record that began at a moment of its engine's clock, in seconds."""
    record = example_record(sequence, run=f"{run:032d}", name=name)
    wall = Reading("wall_time", seconds, "s", "cell", "simulated", 1, detail="fake clock")
    return replace(record, started_monotonic_ns=round(at * 1e9), readings=(wall, *record.readings[1:]))


@pytest.fixture
def clock():
    return FakeClock()


def test_the_offset_is_told_by_the_shortest_round_trip_and_is_right_to_half_of_it():
    found = estimate([RoundTrip(0, 5_000, 8_000), RoundTrip(100, 1_150, 201), RoundTrip(300, 900, 900)])
    assert found == Offset(1_000, 51, 3)


def test_the_true_offset_is_never_further_away_than_the_uncertainty():
    draw = random.Random(7)
    for _ in range(500):
        true = draw.randint(-(10**15), 10**15)
        trips = []
        for _ in range(draw.randint(1, 6)):
            sent, there, back = draw.randint(0, 10**12), draw.randint(0, 10**7), draw.randint(0, 10**7)
            trips.append(RoundTrip(sent, sent + there + true, sent + there + back))
        found = estimate(trips)
        assert abs(found.ns - true) <= found.uncertainty_ns


def test_records_of_engines_with_other_clocks_come_in_the_order_in_which_they_began(clock):
    # Moments of our clock, in seconds; the engines' clocks stand an hour ahead and four minutes behind.
    began = {0: [10.0, 12.0, 12.5], 1: [9.0, 11.0, 13.0]}
    ahead = {0: 3600.0, 1: -240.0}
    engines = [
        FakeEngine(
            clock,
            [measured(place, at=at + ahead[number], run=number) for place, at in enumerate(moments, 1)],
            ahead=ahead[number],
        )
        for number, moments in began.items()
    ]
    found = collect_with(FakeClient(*engines), 5.0, clock)
    assert [(one.engine, one.record.cell.sequence) for one in found.timeline] == [
        (1, 1), (0, 1), (1, 2), (0, 2), (0, 3), (1, 3),
    ]  # fmt: skip
    assert [one.start_ns / SECOND for one in found.timeline] == pytest.approx([0, 1, 2, 3, 3.5, 4], abs=1e-6)
    assert [one.run.engine for one in found.records] == ["1", "0", "1", "0", "0", "1"]
    assert not found.partial


def test_the_clocks_offset_and_its_uncertainty_are_stated(clock):
    slow_way_back = FakeEngine(clock, [measured(1, at=5)], ahead=2.0, there=0.001, back=0.003)
    found = collect_with(FakeClient(slow_way_back), 5.0, clock)
    (told,) = found.engines
    assert told.offset == Offset(1_999 * MILLISECOND, 2 * MILLISECOND, ROUND_TRIPS)
    assert "+2 s ± 2 ms" in repr(found)


def test_how_certain_the_order_is_is_said_where_there_are_several_engines(clock):
    engines = [
        FakeEngine(clock, [measured(1, at=5, run=number)], there=0.004, back=0.004) for number in (1, 2)
    ]
    assert "is certain if they start at least 8 ms apart" in repr(
        collect_with(FakeClient(*engines), 5.0, clock)
    )
    assert "is certain" not in repr(collect_with(FakeClient(engines[0]), 5.0, clock))


def test_engines_of_this_machine_read_its_clock_so_their_order_is_certain(clock):
    here = current().recorder.run.host_digest
    engines = [
        FakeEngine(clock, [measured(1, at=5, run=number)], there=0.004, back=0.002, host=here)
        for number in (1, 2)
    ]
    found = collect_with(FakeClient(*engines), 5.0, clock)
    assert [one.offset for one in found.engines] == [SAME_CLOCK, SAME_CLOCK]
    assert "is certain if" not in repr(found)


@pytest.mark.parametrize(("away", "estimated"), [(0, False), (1, True), (2, True)])
def test_a_clock_is_said_to_be_estimated_only_where_an_engine_has_another_one(
    clock, tmp_path, away, estimated
):
    here = current().recorder.run.host_digest
    engines = [
        FakeEngine(clock, [measured(1, at=5, run=number)], host="elsewhere" if number < away else here)
        for number in range(2)
    ]
    found = collect_with(FakeClient(*engines), 5.0, clock)
    found.save(tmp_path / "engines.json")
    saved = json.loads((tmp_path / "engines.json").read_text(encoding="utf-8"))["otherData"]["clock"]
    for told in (repr(found), saved):
        assert "Time 0 is the start of the first record." in told
        assert ("was estimated during collection" in told) is estimated


def test_an_engine_that_runs_a_cell_is_left_out_after_the_time_given_and_no_other_suffers(clock):
    engines = [FakeEngine(clock, [measured(1, at=5, run=number)]) for number in range(3)]
    engines[1].busy = True
    before = clock.monotonic_ns()
    found = collect_with(FakeClient(*engines), 4.0, clock)
    assert (clock.monotonic_ns() - before) / SECOND == pytest.approx(4.0, abs=0.1)
    assert found.partial
    assert [one.engine for one in found.timeline] == [0, 2]
    assert (
        "Engine 1 did not answer within 4 s: a cell is still running there, or it hangs."
        in found.sentences[0]
    )
    assert repr(found).startswith(
        "Partial, 2 of 3 engines: All 2 engines were busy for the same time, 500 ms."
    )
    assert "Partial: 2 of 3 engines answered; 2 records" in repr(found)


@pytest.mark.parametrize("answers", [0, 1, 4, 1 + ROUND_TRIPS])
def test_an_engine_that_dies_while_it_is_asked_leaves_the_others(clock, answers):
    engines = [FakeEngine(clock, [measured(1, at=5, run=number)]) for number in range(2)]
    engines[1].answers_left = answers
    found = collect_with(FakeClient(*engines), 5.0, clock)
    assert [one.engine for one in found.timeline] == [0]
    (said,) = found.sentences
    assert said == (
        "Engine 1 died or was shut down while it was being queried. Nothing was collected "
        "from it before, so its records are lost."
    )


def test_of_an_engine_that_died_since_the_last_time_that_time_s_records_are_still_there(clock):
    engines = [FakeEngine(clock, [measured(1, at=5, run=number)], ahead=number) for number in range(2)]
    client = FakeClient(*engines)
    first = collect_with(client, 5.0, clock)
    del client.engines[1]
    engines[0].records = (*engines[0].records, measured(2, at=7))
    for _ in range(2):  # and the next time, too
        found = collect_with(client, 5.0, clock)
        assert [(one.engine, one.record.cell.sequence) for one in found.timeline] == [(1, 1), (0, 1), (0, 2)]
        assert found.sentences[0] == (
            "Engine 1 is gone: it died or was shut down. What it had reported by the last "
            "collection (1 record) is included; anything later is lost."
        )
        assert engines_table(found).rows[1][-1] == "gone"
    assert not first.partial


def test_an_engine_that_was_gone_before_the_first_time_is_named(clock):
    client = FakeClient(*[FakeEngine(clock, [measured(1, at=5, run=number)]) for number in range(3)])
    del client.engines[1]
    found = collect_with(client, 5.0, clock)
    assert found.sentences[0].startswith("Engine 1 is gone: it died or was shut down. Nothing was collected")


def test_a_client_that_started_its_cluster_knows_of_engines_that_were_the_last_ones(clock):
    class OfACluster(FakeClient):
        class cluster:  # noqa: N801 - ipyparallel's name
            engines = MappingProxyType({"a set": SimpleNamespace(n=2)})

    found = collect_with(OfACluster(FakeEngine(clock, [measured(1, at=5)])), 5.0, clock)
    assert found.sentences[0].startswith("Engine 1 is gone")


class RemoteError(Exception):
    """As ipyparallel's, of a failure in an engine."""

    ename = "ModuleNotFoundError"


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (RemoteError("no module"), "has no jupyter_mlgpu, or an older version"),
        (OSError("Connections have been closed."), "(OSError: Connections have been closed.)"),
    ],
)
def test_why_an_engine_could_not_be_asked_is_said(clock, failure, said):
    engine = FakeEngine(clock)
    engine.fail = failure
    found = collect_with(FakeClient(engine), 5.0, clock)
    assert said in found.sentences[0]
    assert len(found) == 0
    assert "Partial: 0 of 1 engine answered; 0 records" in repr(found)


def test_an_engine_without_records_is_told_how_it_gets_them(clock):
    found = collect_with(FakeClient(FakeEngine(clock), FakeEngine(clock)), 5.0, clock)
    assert "Engines 0, 1 have no records yet: run `%px %load_ext jupyter_mlgpu`" in found.sentences[0]


def test_without_an_engine_there_is_an_empty_collection(clock):
    found = collect_with(FakeClient(), 5.0, clock)
    assert repr(found).startswith("No engine has a record yet.\n0 records from 0 engines")
    assert found._repr_html_()


def test_a_record_of_a_later_version_costs_only_itself(clock, monkeypatch):
    engine = FakeEngine(clock, [measured(1, at=5), replace(measured(2, at=6), schema=99)])
    found = collect_with(FakeClient(engine), 5.0, clock)
    assert [one.record.cell.sequence for one in found.timeline] == [1]
    assert "A record of engine 0 was left out: the record has schema 99" in found.sentences[0]


@pytest.mark.parametrize("thing", [5, None, [1, 2]])
def test_what_is_no_client_is_refused_in_a_sentence(thing):
    with pytest.raises(UsageError, match="collect needs an ipyparallel client"):
        jupyter_mlgpu.collect(thing)


@pytest.mark.parametrize("timeout", [0, -1, "5", float("nan")])
def test_a_timeout_that_is_no_time_is_refused(timeout):
    with pytest.raises(UsageError, match="a number of seconds above 0"):
        jupyter_mlgpu.collect(FakeClient(), timeout)


def told(number, *records):
    return EngineReport(number, "0" * 12, Offset(0, 1_000, 1), records)


def test_a_block_inside_a_cell_counts_once_in_how_long_an_engine_was_busy():
    cell, block = measured(1, at=0, seconds=2), measured(2, at=1, seconds=0.5)
    later = measured(3, at=5, seconds=1)
    assert busy_ns(Collection([told(0, cell, block, later)], "").timeline) == 3 * SECOND


def test_a_record_without_a_time_is_a_moment():
    timeless = replace(example_record(), readings=(missing("wall_time", "x"), *example_record().readings[1:]))
    (placed,) = Collection([told(0, timeless)], "").timeline
    assert placed.start_ns == placed.end_ns == 0


def test_the_table_names_this_machine_and_others():
    found = Collection([told(0, measured(1, at=1)), dataclasses.replace(told(1), host="a" * 12)], "0" * 12)
    assert [row[1] for row in engines_table(found).rows] == ["this machine", "a" * 12]


def test_names_of_cells_are_text_in_html_and_in_the_picture():
    hostile = "<script>alert('x')</script>"
    found = Collection([told(0, measured(1, at=1, name=hostile))], "")
    assert "<script" not in found._repr_html_()
    assert "<script" not in found.svg()
    assert "&lt;script" in found.svg()


def test_the_chart_has_a_row_an_engine_and_a_block_lies_below_its_cell():
    cell, block = measured(1, at=0, seconds=2), measured(2, at=1, seconds=0.5, name="compute")
    found = Collection([told(0, cell, block), told(3)], "")
    svg = found.svg()
    assert ">engine 0</text>" in svg
    assert ">engine 3</text>" in svg
    assert ">engine 3</text>" in found.picture().svg
    above, below = axes.bars(chart.chart(found, ""))
    assert (above.series.name, above.start, above.end) == ("model.fit(x, y)", 0, 2)
    assert (below.series.name, below.start, below.end) == ("compute", 1, 1.5)
    assert above.place + above.thick / 2 <= below.place - below.thick / 2
    assert below.place + below.thick / 2 < 0.5


@pytest.mark.parametrize("end", [1, 9, 1_000_000, *(10**8 * tenth for tenth in range(1, 101))])
def test_a_timeline_of_any_length_has_some_ticks_and_not_many(end):
    assert 3 <= len(Scale(0, end / 1e9, 84, 744).ticks()) <= 9


def test_of_very_many_records_the_longest_are_drawn_and_it_is_said():
    many = [measured(place, at=place, seconds=0.1) for place in range(chart.MOST + 5)]
    found = Collection([told(0, *many)], "")
    assert len(axes.bars(chart.chart(found, ""))) == chart.MOST
    assert f"The {chart.MOST:,} longest of {chart.MOST + 5:,} records are drawn." in found.svg()


def test_a_saved_trace_has_a_process_an_engine_on_one_clock(clock, tmp_path):
    engines = [
        FakeEngine(clock, [measured(1, at=5 + ahead, run=number)], ahead=ahead)
        for number, ahead in enumerate((100.0, 0.0))
    ]
    found = collect_with(FakeClient(*engines), 5.0, clock)
    count = found.save(tmp_path / "x.json.gz")
    trace = json.loads(gzip.decompress((tmp_path / "x.json.gz").read_bytes()))
    assert len(trace["traceEvents"]) == count
    names = {one["pid"]: one["args"]["name"] for one in trace["traceEvents"] if one["name"] == "process_name"}
    assert [name[:9] for name in names.values()] == ["engine 0,", "engine 1,"]
    starts = [one["ts"] for one in trace["traceEvents"] if one["ph"] == "X"]
    assert starts == pytest.approx([0, 0], abs=0.01)
    assert [one["clock_uncertainty_ns"] for one in trace["otherData"]["engines"]] == [MILLISECOND] * 2
    assert "estimated" in trace["otherData"]["clock"]


def test_a_path_that_is_no_trace_or_cannot_be_written_is_refused(tmp_path):
    found = Collection([told(0, measured(1, at=1))], "")
    with pytest.raises(UsageError, match=r"ends in .json or .json.gz, found 'x.txt'"):
        found.save(tmp_path / "x.txt")
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordError, match="cannot be written"):
        found.save(tmp_path / "file" / "x.json")
