"""What an engine writes down: it is there when the engine is not, with a partial record of its last cell."""

import os
import time
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.explain.engines import journal
from jupyter_mlgpu.explain.engines.collecting import collect_with
from jupyter_mlgpu.explain.engines.journal import EngineJournal
from jupyter_mlgpu.jupyter.notebook import engine
from jupyter_mlgpu.measure.runtime import Runtime, current
from jupyter_mlgpu.record.clock import SystemClock
from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.show.engines.page import engines_table
from jupyter_mlgpu.testing import FakeClock, example_record
from jupyter_mlgpu.testing.engines import FakeClient, FakeEngine

KEY = b"the key of a cluster"


@pytest.fixture(autouse=True)
def runtime(tmp_path, monkeypatch):
    """A runtime folder of Jupyter for this test alone."""
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    return tmp_path / "runtime"


@pytest.fixture
def clock():
    return FakeClock()


def measured(sequence, *, at, seconds=0.5, run=1, name="model.fit(x, y)", here=True):
    """A record that began at a moment of its engine's clock, in seconds; of this machine, or of another."""
    record = example_record(sequence, run=f"{run:032d}", name=name)
    wall = Reading("wall_time", seconds, "s", "cell", "simulated", 1, detail="fake clock")
    host = current().recorder.run.host_digest if here else "f" * 12
    return replace(
        record,
        run=replace(record.run, host_digest=host),
        started_at=f"2026-01-01T00:00:{at:09.6f}Z",
        started_monotonic_ns=round(at * 1e9),
        readings=(wall, *record.readings[1:]),
    )


def begun(record):
    """The same cell, as it stands in the journal while it runs."""
    readings = tuple(
        replace(one, value=None, samples=0, uncertainty=None, why_missing=journal.UNFINISHED)
        for one in record.readings
    )
    return replace(record, outcome="interrupted", readings=readings)


def wrote(number, *records, key=KEY, run="r"):
    writer = EngineJournal(journal.folder(key), number, run)
    for record in records:
        writer.append(record)


def of_engine(found, number):
    return [one.record for one in found.timeline if one.engine == number]


def test_of_an_engine_killed_in_mid_cell_the_cells_before_are_whole_and_the_last_one_is_partial(clock):
    first, last, block = (
        measured(1, at=1),
        measured(2, at=3, name="train()"),
        measured(3, at=3.1, name="step"),
    )
    block = replace(block, cell=replace(block.cell, source_digest=None))
    wrote(1, begun(first), first, begun(last), block)
    client = FakeClient(FakeEngine(clock, [measured(1, at=2, run=0)]), key=KEY)
    found = collect_with(client, 5.0, clock)
    assert [record.cell.sequence for record in of_engine(found, 1)] == [1, 2, 3]
    assert [record.run.engine for record in of_engine(found, 1)] == ["1"] * 3
    whole, partial, _ = of_engine(found, 1)
    assert whole.reading("wall_time").value == 0.5
    assert partial.reading("wall_time").value is None
    assert partial.reading("wall_time").why_missing == journal.UNFINISHED
    assert found.sentences[0] == (
        "Engine 1 is gone: it died or was shut down. What it had reported and saved until "
        "then (3 records) is included. It ended in the middle of the cell `train()`, so that "
        "record is partial."
    )
    assert engines_table(found).rows[1][4:] == ("the same clock", "gone")
    assert found.partial


def test_what_was_told_before_and_what_was_written_later_come_together_once(clock):
    told, later = measured(1, at=1), measured(2, at=5)
    client = FakeClient(FakeEngine(clock), FakeEngine(clock, [told], ahead=60.0), key=KEY)
    collect_with(client, 5.0, clock)
    wrote(1, begun(told), told, begun(later), later)
    del client.engines[1]
    for _ in range(2):
        found = collect_with(client, 5.0, clock)
        assert [record.cell.sequence for record in of_engine(found, 1)] == [1, 2]
        assert found.engines[1].offset.ns == 60 * 10**9  # as it was compared while it lived
        assert "(2 records) is included." in found.sentences[0]
        assert "partial" not in found.sentences[0]


def test_an_engine_that_does_not_answer_shows_what_it_has_finished_and_is_not_called_dead(clock):
    done, running = measured(1, at=1), measured(2, at=3)
    wrote(0, begun(done), done, begun(running))
    busy = FakeEngine(clock)
    busy.busy = True
    found = collect_with(FakeClient(busy, key=KEY), 5.0, clock)
    assert [record.cell.sequence for record in of_engine(found, 0)] == [1]
    assert engines_table(found).rows[0][-1] == "no answer"
    assert "a cell is still running there" in found.sentences[0]
    assert "(1 record) is included." in found.sentences[0]


def test_an_engine_that_comes_back_with_another_number_is_not_shown_twice(clock):
    record = measured(1, at=1)
    wrote(0, begun(record), record)
    client = FakeClient(FakeEngine(clock), FakeEngine(clock, [record]), key=KEY)
    del client.engines[0]
    found = collect_with(client, 5.0, clock)
    assert [(one.engine, one.record.cell.sequence) for one in found.timeline] == [(1, 1)]


def test_a_record_that_is_told_twice_counts_once_and_the_last_one_is_taken(clock):
    first = measured(1, at=1)
    again = first.with_note("It grew.")
    found = collect_with(FakeClient(FakeEngine(clock, [first, again])), 5.0, clock)
    (one,) = found.records
    assert one.notes == again.notes


def test_records_of_another_machine_whose_clock_nobody_compared_are_kept_off_the_timeline(clock):
    record = measured(1, at=1, here=False)
    wrote(0, begun(record), record)
    found = collect_with(FakeClient(key=KEY), 5.0, clock)
    assert found.timeline == ()
    assert len(found.engines[0].records) == 1
    assert "Its clock was never compared with ours" in found.sentences[0]
    assert engines_table(found).rows[0][4] == "not known"


def test_a_journal_belongs_to_its_cluster(clock):
    wrote(1, measured(1, at=1), key=b"another cluster")
    found = collect_with(FakeClient(FakeEngine(clock, [measured(1, at=1)]), key=KEY), 5.0, clock)
    assert [one.engine for one in found.engines] == [0]


def test_half_a_line_costs_only_itself(clock):
    record = measured(1, at=1)
    wrote(1, begun(record), record)
    (path,) = journal.folder(KEY).iterdir()
    with path.open("ab") as file:
        file.write(b'{"schema": 1, "run"')
    found = collect_with(FakeClient(key=KEY), 5.0, clock)
    assert len(of_engine(found, 1)) == 1


@pytest.mark.parametrize("key", [None, b"", "text", 7])
def test_without_a_key_there_is_no_journal(key):
    assert journal.folder(key) is None


def test_nothing_in_the_name_of_the_folder_tells_the_key():
    assert KEY.decode() not in str(journal.folder(KEY))


def test_journals_that_nobody_has_added_to_for_a_week_are_removed():
    wrote(0, measured(1, at=1), key=b"old")
    old = journal.folder(b"old")
    week = time.time() - 8 * 24 * 3600
    for path in (*old.iterdir(), old):
        os.utime(path, (week, week))
    wrote(0, measured(1, at=1))
    assert not old.exists()
    assert journal.folder(KEY).exists()


def test_a_journal_does_not_grow_without_end(monkeypatch):
    monkeypatch.setattr(journal, "_MOST_BYTES", 10)
    writer = EngineJournal(journal.folder(KEY), 0, "r")
    writer.append(measured(1, at=1))
    with pytest.raises(RecordError, match="has reached its limit"):
        writer.append(measured(2, at=2))


def test_a_cell_that_begins_in_an_engine_is_written_down_and_its_record_takes_its_place():
    runtime = Runtime()
    kernel = SimpleNamespace(engine_id=2, session=SimpleNamespace(key=KEY))
    side = engine.find(kernel, runtime.recorder.run.id)
    measurement = runtime.recorder.start("train()", source="train()")
    side.cell_begins(measurement)
    (written,) = journal.read(journal.folder(KEY), 2)
    assert journal.is_unfinished(written)
    assert written.cell.name == "train()"
    assert written.started_monotonic_ns <= SystemClock().monotonic_ns()
    side.write(measurement.stop())
    (written,) = journal.read(journal.folder(KEY), 2)
    assert not journal.is_unfinished(written)
    runtime.close()


def test_records_that_were_forgotten_do_not_come_back_when_the_engine_dies():
    runtime = Runtime()
    side = engine.EngineSide(2, KEY, runtime.recorder.run.id)
    runtime.store.subscribe(side.write)
    runtime.store.on_clear = side.clear
    runtime.store.add(measured(1, at=1))
    runtime.store.clear()
    runtime.store.add(measured(2, at=2))
    assert [record.cell.sequence for record in journal.read(journal.folder(KEY), 2)] == [2]
    runtime.close()


@pytest.mark.parametrize("kernel", [None, SimpleNamespace(), SimpleNamespace(engine_id=-1)])
def test_what_is_no_engine_writes_no_journal(kernel):
    assert engine.find(kernel, "r") is None


def test_an_engine_that_cannot_write_says_so_once_and_goes_on(runtime, capsys):
    runtime.write_text("a file in the place of the folder")
    kernel = SimpleNamespace(engine_id=2, session=SimpleNamespace(key=KEY))
    side = engine.find(kernel, "r")
    side.write(measured(1, at=1))
    side.write(measured(2, at=2))
    said = capsys.readouterr().err
    assert said.count("no longer saves records of engine 2") == 1


def test_an_engine_s_receipt_is_one_line_and_what_stands_in_it_is_text():
    record = replace(measured(1, at=1), outcome="error")
    shown = engine.line(record)
    assert shown.keys() == {"text/html", "text/plain"}
    assert shown["text/plain"].startswith("[mlgpu] error: 500 ms")
    assert "\n" not in shown["text/plain"]
    assert shown["text/html"].count("<div") == 1
