"""Charts and tables of lessons: for plotly, as an image and a table, and beside another machine's."""

import json
import re

import pytest
from tracked import tracked

from jupyter_mlgpu.record.errors import RecordError, UsageError
from jupyter_mlgpu.show.page.chart import Point
from jupyter_mlgpu.show.page.scales import Scale, around, written
from jupyter_mlgpu.teach.lessons import chart, figures, machine, recordings
from jupyter_mlgpu.teach.lessons.machine import Machine

CPU = Machine("cpu:0", "Some processor", "Keras 3 on TensorFlow 2")
GPU = Machine("gpu:0", "NVIDIA H200", "Keras 3 on JAX 0.10")
LINES = {"matmul": [(1, 0.5), (10, 2.0), (100, 30.0)]}


@pytest.fixture
def on(monkeypatch, tmp_path):
    """Be on a machine, with a folder of recordings of its own."""
    monkeypatch.setattr(recordings, "FOLDER", tmp_path)

    def be(one):
        monkeypatch.setattr(recordings, "here", lambda: one)

    be(CPU)
    return be


def bundle(one):
    return {**one._repr_mimebundle_(), "text/html": one._repr_html_(), "text/plain": repr(one)}


def test_a_chart_is_for_plotly_an_image_a_table_and_words_in_one_bundle(on):
    shown = bundle(chart("race", x="size", y="seconds", lines=LINES))
    assert list(shown) == ["application/vnd.plotly.v1+json", "text/html", "text/plain"]
    (trace,) = shown["application/vnd.plotly.v1+json"]["data"]
    assert (trace["x"], trace["y"]) == ([1.0, 10.0, 100.0], [0.5, 2.0, 30.0])
    assert json.dumps(shown)
    assert shown["text/html"].startswith('<div><img src="data:image/svg+xml;base64,')
    assert "<details><summary>The figures</summary><table>" in shown["text/html"]
    assert shown["text/plain"].splitlines() == [
        "A chart of seconds over size: matmul.",
        "size  matmul",
        "   1     0.5",
        "  10       2",
        " 100      30",
    ]


def test_what_a_line_is_called_is_escaped_in_every_form(on):
    drawn = chart("race", x="<b>", y="<i>", lines={"<script>": [(1, 2), (2, 3)]})
    shown = bundle(drawn)
    assert "<script>" not in shown["text/html"]
    assert "<script>" not in json.dumps(drawn.figure())
    assert "<script>" not in drawn.svg()


def test_points_that_cannot_be_drawn_are_left_out_and_counted(on):
    lines = {"a": [(0, 1), (1, float("nan")), (10, -1), (100, 5)]}
    drawn = chart("race", x="n", y="s", lines=lines, log_x=True, log_y=True)
    assert drawn.drawn.series[0].points == (Point(100.0, 5.0),)
    assert drawn.drawn.notes == ("3 of the points cannot be drawn on these axes and are left out.",)
    assert "nan" not in drawn.svg()


def test_a_chart_with_nothing_to_draw_is_still_one(on):
    assert "nothing" in repr(chart("race", x="n", y="s", lines={}))
    assert "<svg" in chart("race", x="n", y="s", lines={"a": []}, log_x=True).svg()


def test_a_recording_is_written_where_asked_and_replayed_dashed_on_a_machine_without_gpu(
    on, monkeypatch, tmp_path
):
    on(GPU)
    monkeypatch.setenv("JUPYTER_MLGPU_RECORD_LESSONS", str(tmp_path))
    chart("race", x="size", y="seconds", lines=LINES)
    monkeypatch.delenv("JUPYTER_MLGPU_RECORD_LESSONS")
    assert len(chart("race", x="size", y="seconds", lines=LINES).drawn.series) == 1  # it has a GPU of its own
    on(CPU)
    drawn = chart("race", x="size", y="seconds", lines={"matmul": [(1, 9.0)]})
    own, replayed = drawn.drawn.series
    assert (own.name, own.dashed) == ("matmul", False)
    assert (replayed.name, replayed.dashed) == ("matmul (replayed: NVIDIA H200)", True)
    assert replayed.points == (Point(1.0, 0.5), Point(10.0, 2.0), Point(100.0, 30.0))
    (note,) = drawn.drawn.notes
    assert re.fullmatch(
        r"Replayed, not measured here: NVIDIA H200, with Keras 3 on JAX 0.10, on \d{4}-\d\d-\d\d\.", note
    )
    assert "stroke-dasharray" in drawn.svg()
    assert note in bundle(drawn)["text/html"]
    assert drawn.figure()["data"][1]["line"]["dash"] == "dash"
    assert note in json.dumps(drawn.figure())


def test_lines_that_the_lesson_does_not_measure_on_a_gpu_are_replayed_on_one_too(on, monkeypatch, tmp_path):
    on(GPU)
    monkeypatch.setenv("JUPYTER_MLGPU_RECORD_LESSONS", str(tmp_path))
    chart("race", x="size", y="seconds", lines=LINES)
    monkeypatch.delenv("JUPYTER_MLGPU_RECORD_LESSONS")
    drawn = chart("race", x="size", y="seconds", lines=LINES, on_gpus=True)
    assert [one.dashed for one in drawn.drawn.series] == [False, True]


def test_nothing_is_recorded_unasked(on, tmp_path):
    chart("race", x="size", y="seconds", lines=LINES)
    figures("table", [{"a": 1}])
    assert list(tmp_path.iterdir()) == []


def test_a_table_has_a_column_for_each_key_and_says_what_was_not_measured(on):
    table = figures("table", [{"model": "<CNN>", "images/s": 1234.5}, {"model": "MLP", "watts": None}])
    assert repr(table).splitlines() == [
        "model  images/s      watts",
        "<CNN>  1,234         not measured",
        "MLP    not measured  not measured",
    ]
    assert "&lt;CNN&gt;" in table._repr_html_()


def test_a_recorded_table_stands_below_the_own_one(on, monkeypatch, tmp_path):
    on(GPU)
    monkeypatch.setenv("JUPYTER_MLGPU_RECORD_LESSONS", str(tmp_path))
    figures("table", [{"model": "CNN", "images/s": 9999}])
    monkeypatch.delenv("JUPYTER_MLGPU_RECORD_LESSONS")
    on(CPU)
    lines = repr(figures("table", [{"model": "CNN", "images/s": 10}])).splitlines()
    assert lines[1] == "CNN    10"
    assert lines[2].startswith("Replayed, not measured here: NVIDIA H200")
    assert lines[4] == "CNN    9,999"


def test_where_nothing_could_be_measured_a_machine_with_a_gpu_shows_the_recording_too(
    on, monkeypatch, tmp_path
):
    on(GPU)
    monkeypatch.setenv("JUPYTER_MLGPU_RECORD_LESSONS", str(tmp_path))
    figures("table", [{"model": "CNN", "images/s": 9999}])
    monkeypatch.delenv("JUPYTER_MLGPU_RECORD_LESSONS")
    assert "Replayed" not in repr(figures("table", [{"model": "CNN", "images/s": 10}]))
    lines = repr(figures("table", [])).splitlines()
    assert lines[0].startswith("Replayed, not measured here: NVIDIA H200")
    assert lines[2] == "CNN    9,999"


@pytest.mark.parametrize("here", [CPU, GPU], ids=["without a GPU", "with a GPU"])
def test_of_a_table_by_a_column_only_the_rows_that_are_missing_here_stand_below(
    here, on, monkeypatch, tmp_path
):
    on(CPU)
    monkeypatch.setattr(machine, "frameworks", lambda: "TensorFlow 2, JAX 0.10")
    monkeypatch.setenv("JUPYTER_MLGPU_RECORD_LESSONS", str(tmp_path))
    figures("table", [{"way": "tf.function", "ms": 2}, {"way": "jax.jit", "ms": 3}], by="way")
    monkeypatch.delenv("JUPYTER_MLGPU_RECORD_LESSONS")
    on(here)
    head, own, note, _, *replayed = repr(
        figures("table", [{"way": "tf.function", "ms": 1}], by="way")
    ).splitlines()
    assert head.split() == ["way", "ms"]
    assert own.split() == ["tf.function", "1"]
    assert note.startswith("Replayed, not measured here: Some processor, with TensorFlow 2, JAX 0.10, on ")
    assert [line.split() for line in replayed] == [["jax.jit", "3"]]
    everything = figures("table", [{"way": "tf.function", "ms": 1}, {"way": "jax.jit", "ms": 1}], by="way")
    assert "Replayed" not in repr(everything)


@pytest.mark.parametrize("name", ["../race", "a b", "", "a/b"])
def test_a_name_that_is_no_name_of_a_file_is_refused(on, name):
    with pytest.raises(UsageError, match="is not a chart name"):
        chart(name, x="n", y="s", lines=LINES)


def test_a_recording_of_a_later_version_is_refused(tmp_path):
    path = tmp_path / "race.json"
    path.write_text('{"schema": 99}')
    with pytest.raises(UsageError, match="schema 99"):
        recordings.read(path)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"[" * 100_000,
        b'{"schema": 1}',
        b'{"schema": []}',
        b'{"schema": 1, "machine": 5, "framework": "", "date": "", "data": {}}',
    ],
)
def test_what_is_no_recording_is_one_sentence(tmp_path, data):
    path = tmp_path / "03_race.json"
    path.write_bytes(data)
    with pytest.raises(UsageError, match=r"^03_race.json is (not a|a) recording"):
        recordings.read(path)


def test_a_recording_takes_the_place_of_an_older_one_in_one_step(on, monkeypatch, tmp_path):
    on(GPU)
    monkeypatch.setenv(recordings.VARIABLE, str(tmp_path / "recorded"))
    recordings.record("03_race", {"a": 1})
    monkeypatch.setattr("os.fsync", lambda handle: (_ for _ in ()).throw(OSError(28, "No space left")))
    with pytest.raises(RecordError, match="cannot be written"):
        recordings.record("03_race", {"a": 2})
    assert recordings.read(tmp_path / "recorded" / "03_race.json").data == {"a": 1}


def test_the_recordings_that_the_package_brings_can_all_be_read():
    for path in tracked(recordings.FOLDER, "*.json"):
        one = recordings.read(path)
        assert {"lines", "rows", "cells"} & {*one.data}
        assert one.machine
        assert one.date


@pytest.mark.parametrize(
    ("low", "high", "log", "ticks"),
    [
        (0, 10, False, [0, 2, 4, 6, 8, 10]),
        (0, 0.5, False, [0, 0.1, 0.2, 0.3, 0.4, 0.5]),
        (-3, 3, False, [-3, -2, -1, 0, 1, 2, 3]),
        (1, 1000, True, [1, 10, 100, 1000]),
        (1e-9, 1e3, True, [1e-9, 1e-7, 1e-5, 1e-3, 1e-1, 1e1, 1e3]),
    ],
)
def test_an_axis_writes_round_numbers(low, high, log, ticks):
    assert Scale(low, high, 0, 100, log).ticks() == pytest.approx(ticks, abs=1e-12)


def test_an_axis_holds_all_its_values_and_begins_at_zero_where_asked():
    axis = around([3, 9], 0, 100, log=False, zero=True)
    assert axis.low == 0
    assert 0 < axis.place(3) < axis.place(9) < 100
    axis = around([5, 5], 0, 100, log=False)
    assert axis.place(5) == pytest.approx(50)
    axis = around([3, 9000], 0, 100, log=True)
    assert 2 < axis.low < 3
    narrow = around([94, 97], 0, 100, log=True)
    assert [one for one in narrow.ticks() if 90 < one < 100]
    assert 9000 < axis.high < 15_000
    assert axis.ticks() == [10, 100, 1000, 10000]
    assert axis.place(27_000**0.5) == pytest.approx(50)
    axis = around([3, 30], 0, 100, log=True)
    assert 2 < axis.low < 3
    assert 30 < axis.high < 40
    assert axis.ticks() == [5, 10, 20]
    one_place = around([100], 0, 100, log=True)
    assert one_place.low < 100 < one_place.high


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (1234, "1,234"),
        (0.25, "0.25"),
        (1e7, "10,000,000"),
        (1e12, "1e12"),
        (2.5e-6, "2.5e-6"),
        (12345.6, "12,346"),
        (-3, "-3"),
    ],
)
def test_numbers_are_written_as_people_write_them(value, text):
    assert written(value) == text


def test_a_machine_is_told_in_a_sentence():
    assert GPU.sentence() == "gpu:0, NVIDIA H200, with Keras 3 on JAX 0.10."
    assert Machine("cpu:0", None, "PyTorch 2").sentence() == "cpu:0, with PyTorch 2."


def test_without_a_framework_no_device_computes(monkeypatch):
    monkeypatch.setattr(machine, "_framework", lambda: (None, None))
    assert machine.device() == "No framework is loaded yet, so no device is in use here."
