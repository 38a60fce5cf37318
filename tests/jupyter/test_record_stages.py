"""What is added to a record after its cell was measured: each stage by itself, and all in their order."""

import sys
import types

import pytest
from msgspec.structs import replace

from jupyter_mlgpu import pipeline
from jupyter_mlgpu.jupyter.notebook.cell.cell_places import CellPlaces
from jupyter_mlgpu.jupyter.notebook.cell.record_stages import (
    EndedCell,
    NotebookSession,
    RecordStage,
    complete,
    saving_stage,
    with_growth,
    with_items,
    with_logs,
    with_traceback,
    with_values_elsewhere,
)
from jupyter_mlgpu.measure.capture.stretch import Notes
from jupyter_mlgpu.measure.frameworks.base import Device
from jupyter_mlgpu.measure.runtime import Runtime
from jupyter_mlgpu.measure.selection import DeviceSelection
from jupyter_mlgpu.record.files import Journal, load_records
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.record import HOLDS_ONLY, STILL_READING, Fact, LogLine
from jupyter_mlgpu.record.store import Store
from jupyter_mlgpu.testing import FakeBackend, example_record

CPU = Device("fake", "cpu:0", "cpu", "fake cpu:0")
LINE = LogLine("hello", None, "unknown", None, None, {}, 1, "stderr", "now", late=False)
LESSONS = "jupyter_mlgpu.lessons"
PARTS = [
    "the time of the traceback",
    "where it ran",
    "what stays on another device",
    "what the cell left for later",
    "the native lines of the cell",
    "what PyTorch's MPS log reports",
    "the number of items",
    "what limited the cell",
    "whether the cell became slower",
    "memory growth",
    "what the cell holds",
    "what ended the previous kernel",
    "its line in the journal",
]


class Lines:
    """A capture whose cell has shown nothing of its own."""

    def shown_lines(self):
        return {}


def wrote(notes):
    """A cell that has written this."""
    return cell(output=lambda: notes)


class Broken:
    """Stands for what a stage needs, and fails whatever is asked of it."""

    def __getattr__(self, name):
        raise OSError(5, "Input/output error")


def cell(**changes):
    return replace(EndedCell("model.fit(x)", (), None, 0.0), **changes)


def of(ended, *, selection=None, capture=None, store=None, journal=None):
    runtime = Runtime()
    runtime.selection = selection or DeviceSelection(lambda: [FakeBackend()])
    runtime.store = store or Store()
    places = CellPlaces(ended, list, {})
    return pipeline.stages(ended, session(runtime, capture, journal), places)


def session(runtime, capture=None, journal=None):
    """One that nobody looks at: it stores, shows and revises nothing."""
    nothing = Broken()
    return NotebookSession(
        runtime,
        capture or Lines(),
        {},
        journal,
        died_before=lambda: None,
        store=nothing,
        show=nothing,
        revise=nothing,
    )


def test_the_stages_and_their_order_are_these():
    assert [one.part for one in of(cell())] == PARTS


def test_a_plain_cell_keeps_its_record_as_it_was_measured():
    record = example_record()
    said = complete(record, of(cell())).why_no_limit
    assert said is not None
    assert complete(record, of(cell())) == replace(record, why_no_limit=said)


def test_a_stage_that_fails_costs_what_it_adds_and_says_so_in_one_note(tmp_path):
    def fail(record):
        raise OSError(5, "Input/output error")

    wrote_a_line = cell(items=64, output=lambda: Notes((LINE,), {}, ()))
    ended = of(wrote_a_line, journal=Journal(tmp_path / "a.jsonl"))
    for number, part in enumerate(PARTS):
        broken = [*ended[:number], RecordStage(part, fail), *ended[number + 1 :]]
        record = complete(example_record(), broken)
        said = [note for note in record.notes if part in note]
        assert said == [f"Missing from this record: {part} (OSError: [Errno 5] Input/output error)."]
        assert bool(record.logs) is (part != "the native lines of the cell")
        assert ("items" in record.facts) is (part != "the number of items")


def test_each_stage_that_asks_another_part_of_ours_survives_its_failure(tmp_path):
    store = Store()
    for number in range(1, 7):
        store.add(example_record(number))
    store.runs = Broken().__getattr__
    broken = cell(devices=[CPU], output=Broken().__getattr__)
    ended = of(broken, selection=Broken(), capture=Broken(), store=store, journal=Broken())
    record = complete(example_record(7), ended)
    lacking = [part for part in PARTS if any(f"this record: {part} (" in note for note in record.notes)]
    assert lacking == [
        "what stays on another device",
        "the native lines of the cell",
        "whether the cell became slower",
        "memory growth",
        "its line in the journal",
    ]
    # Its limit asks for earlier runs only to place it, and is said without them.
    others = [note for note in record.notes if "place under the roof could not be determined (" in note]
    assert len(record.notes) == len(lacking) + len(others) == len(lacking) + 1
    assert replace(record, notes=(), why_no_limit=None) == replace(example_record(7), notes=())


def test_what_a_failure_says_is_redacted():
    def fail(record):
        raise ValueError("api_key = 'abcdef0123'")

    assert "abcdef0123" not in RecordStage("a part", fail)(example_record()).notes[0]


def test_an_interrupt_is_no_failure_of_a_stage():
    def interrupt(record):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        RecordStage("a part", interrupt)(example_record())


@pytest.mark.parametrize("left_out_s", [0.0, 0.4])
def test_a_traceback_that_took_less_than_its_cell_is_not_told(left_out_s):
    record = example_record()  # of half a second
    assert with_traceback(record, left_out_s) is record


def test_a_traceback_that_took_more_than_its_cell_is_told():
    record = with_traceback(example_record(), 0.75)
    assert record.facts["traceback"].value == "750 ms"
    assert record.notes == ()  # which a closed receipt would show


def test_values_that_the_cell_names_and_that_live_elsewhere_are_told():
    backend = FakeBackend(devices=("cpu:0", "gpu:0"))
    backend.misplaced_values = {"x": "gpu:0", "unnamed": "gpu:0"}
    selection = DeviceSelection(lambda: [backend])
    namespace = {"x": 1, "unnamed": 2}
    record = with_values_elsewhere(example_record(), cell(devices=[CPU]), selection, namespace)
    assert record.notes == ("x on gpu:0, not on cpu:0.",)


def test_where_no_device_was_asked_for_nobody_looks_for_values():
    record = example_record()
    assert with_values_elsewhere(record, cell(), Broken(), {"x": 1}) is record


def test_the_native_lines_of_the_cell_come_with_what_they_tell_and_what_was_lost():
    notes = Notes((LINE,), {"gpu_name": Fact("M1", "a log")}, ("lost",))
    record = with_logs(example_record(3), wrote(notes), Lines())
    assert record.logs == (LINE,)
    assert record.facts["gpu_name"].value == "M1"
    assert record.notes == ("lost",)


def test_of_lines_that_are_still_being_read_only_the_lines_are_taken():
    notes = Notes((LINE,), {"gpu_name": Fact("M1", "a log")}, ("lost",), whole=False)
    record = with_logs(example_record(), wrote(notes), Lines())
    assert (record.logs, dict(record.facts), record.notes) == ((LINE,), {}, (STILL_READING,))


def test_the_number_of_items_is_a_fact_and_a_note_says_what_one_took():
    record = with_items(example_record(), 64)
    assert record.facts["items"] == Fact(64, "%%mlc_trace --items")
    assert record.notes[0].startswith("64 items: 128 per second")


@pytest.mark.parametrize(("items", "outcome"), [(None, "ok"), (64, "error"), (64, "interrupted")])
def test_a_cell_that_failed_and_one_that_told_no_number_has_no_items(items, outcome):
    record = replace(example_record(), outcome=outcome)
    assert with_items(record, items) is record


def run(number, mebibytes):
    record = example_record(number)
    held = Reading("memory_process", mebibytes * 1024**2, "bytes", "process", "fake probe", 1)
    same_cell = replace(record.cell, id="the-cell")
    return replace(record, cell=same_cell, readings=(record.readings[0], held))


def after_runs(count, growth):
    store = Store()
    for number in range(1, count + 1):
        store.add(run(number, 500 + growth * number))
    return with_growth(run(count + 1, 500 + growth * (count + 1)), store)


def test_memory_that_grows_from_run_to_run_is_told():
    (note,) = after_runs(11, growth=20).notes
    assert "by 20 MiB per run" in note


@pytest.mark.parametrize(("count", "growth"), [(11, 0), (4, 20)])
def test_memory_that_stays_and_a_cell_that_ran_seldom_tell_nothing_of_growth(count, growth):
    assert after_runs(count, growth).notes == ()


def test_a_record_is_written_down_with_all_that_was_added(tmp_path):
    path = tmp_path / "records.jsonl"
    record = complete(example_record(), of(cell(items=64), journal=Journal(path)))
    assert load_records(path)[0][0].notes == record.notes != ()


def test_a_record_that_could_not_be_written_says_why(tmp_path):
    (note,) = saving_stage(Journal(tmp_path))(example_record()).notes
    assert note.startswith("This record was not saved: ")
    assert "lacks" not in note


def test_a_definition_is_folded_in_lessons_alone(monkeypatch):
    record = example_record()
    quick = replace(record.reading("wall_time"), value=0.001)
    record = replace(record, readings=(quick,))
    (stage,) = [one for one in of(cell(code="def f(): ...")) if one.part == "what the cell holds"]
    monkeypatch.delitem(sys.modules, LESSONS, raising=False)
    assert stage(record) is record
    monkeypatch.setitem(sys.modules, LESSONS, types.ModuleType(LESSONS))
    assert stage(record).facts[HOLDS_ONLY].value == "definitions"
