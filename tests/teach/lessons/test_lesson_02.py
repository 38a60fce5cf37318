"""Lesson 02: what its text says of the receipts is true, and its blank can be filled."""

import lessons  # scripts/lessons.py, which runs them
import nbformat
import numpy as np
import pytest

from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE
from jupyter_mlgpu.teach.lessons import check, recordings
from jupyter_mlgpu.teach.lessons.exercises.lesson_02 import add_in_halves, add_three


@pytest.fixture
def learner(first_lesson):
    return nbformat.read(first_lesson, 4)


def cell(notebook, name):
    return next(cell for cell in notebook.cells if cell.id == name)


def record(notebook, name):
    return Record.from_json(cell(notebook, name).outputs[-1].data[MIME_TYPE])


def operations(notebook, name):
    return [place.operations for place in record(notebook, name).device.ran_on]


def test_the_sum_is_the_one_of_the_article_at_once_and_from_the_graph(learner):
    assert cell(learner, "at-once").outputs[0].text == "[1.  2.1 3.2 4.3 5.4 6.5]\n"
    assert cell(learner, "run").outputs[0].text == "[1.  2.1 3.2 4.3 5.4 6.5]\n"


def test_the_digits_that_the_lesson_tells_of_are_those_of_float32(learner):
    two, tenth = np.float32(2), np.float32(0.1)
    told = cell(learner, "at-once-says").source
    assert f"stored as {np.float32(2.1):.7f}" in told
    assert f"comes out as {two + np.float32(0.2) - tenth:.7f}" in told


def test_the_receipts_say_what_the_lesson_says_they_say(learner):
    assert operations(learner, "at-once") == [2]
    assert operations(learner, "run") == [1]
    for without_operations in ("import", "describe", "compile"):
        assert operations(learner, without_operations) == []


def test_the_profiler_lists_two_additions_for_two_plus_signs_and_one_for_all_three_in_the_graph(learner):
    def additions(name):
        return {one.type: one.count for one in record(learner, name).ops if one.type.startswith("Add")}

    found = {name: additions(name) for name in ("ops-at-once", "ops-graph", "ops-add-n")}
    assert found == {"ops-at-once": {"AddV2": 2}, "ops-graph": {"AddN": 1}, "ops-add-n": {"AddN": 1}}
    told = cell(learner, "ops-listed").outputs[0].text.splitlines()
    assert told == [f"{name:<9} {one}" for name, one in zip(
        ("a + b + c", "the graph", "tf.add_n"), found.values(), strict=True)]  # fmt: skip


def test_a_sum_in_halves_takes_as_many_rounds_as_the_count_can_be_halved():
    for count in range(1, 40):
        assert add_in_halves(list(range(count))) == (sum(range(count)), (count - 1).bit_length())


def test_the_blank_is_shown_as_open_and_the_cells_below_go_on(learner):
    verdict = cell(learner, "check").outputs[0].data["text/plain"]
    assert verdict.startswith("○ Still open.")
    assert "Until it is right, the cells below use the reference answer." in verdict


@pytest.mark.slow
def test_a_learner_who_fills_the_blanks_is_told_so_and_sees_the_guess_again(learner, first_lesson):
    describe = cell(learner, "describe")
    describe.source = describe.source.replace("return ...", "return x + y + z")
    predict = cell(learner, "predict")
    predict.source = predict.source.replace("...)", "2)")
    done = lessons.run(learner, first_lesson)
    assert cell(done, "check").outputs[0].data["text/plain"].startswith("✓ Right.")
    assert "You predicted 2; it was 1: 2 times too high." in cell(done, "run-count").outputs[0].text
    assert cell(done, "run").outputs[0].text == "[1.  2.1 3.2 4.3 5.4 6.5]\n"


def test_checking_again_and_again_makes_tensorflow_warn_of_nothing(caplog):
    import tensorflow as tf

    tf.get_logger().addHandler(caplog.handler)
    try:
        assert {check("add_three", add_three).state for _ in range(12)} == {"right"}
    finally:
        tf.get_logger().removeHandler(caplog.handler)
    assert caplog.messages == []


def test_tensorflow_already_uses_fast_instructions_as_the_receipts_note_says(saved_lesson):
    loaded = saved_lesson("02")
    (meaning,) = [one.meaning for one in loaded.receipt("import").logs if one.id == "cpu-instructions-used"]
    assert meaning.startswith("The heavy routines already use this CPU's fast instructions.")
    assert "heavy routines already use the processor's fast instructions" in loaded.prose("load-says")


def test_mlx_has_noted_two_additions_down_and_computes_at_eval_as_the_replayed_lines_say():
    kept = recordings.read(recordings.FOLDER / "02_mlx.json")
    assert kept.framework.startswith("MLX ")
    found = [tuple(row.values()) for row in kept.data["rows"]]
    assert found == [
        ("written", "Add Add", 0),
        ("after mx.eval", "nothing", 4 * 4_194_304 / 2**20),
        ("written, with mx.compile", "CompiledAddAdd", 0),
    ]


def test_where_mlx_is_installed_the_cell_finds_what_was_recorded(learner, monkeypatch):
    pytest.importorskip("mlx.core", reason="MLX is not installed")
    shown = []
    monkeypatch.setattr(
        "jupyter_mlgpu.lessons.figures", lambda name, rows: shown.append((name, rows)), raising=False
    )
    exec(cell(learner, "mlx").source, {"checked": check("add_three", add_three)})
    kept = recordings.read(recordings.FOLDER / "02_mlx.json")
    assert shown == [("02_mlx", kept.data["rows"])]


def test_where_mlx_is_missing_the_reader_is_told_so_and_sees_the_recorded_lines(learner):
    told, table, *_ = cell(learner, "mlx").outputs
    assert told.text.startswith("MLX is not installed here")
    assert table.data["text/plain"].startswith(str(recordings.read(recordings.FOLDER / "02_mlx.json")))
