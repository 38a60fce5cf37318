"""Lesson 08: what its text says of the saved run's memory is so."""

import re

import pytest

from jupyter_mlgpu.teach.lessons.exercises.lesson_08 import activation_bytes


@pytest.fixture(scope="module")
def lesson(saved_lesson):
    return saved_lesson("08")


def figures(text):
    """The numbers of a text; commas stand between thousands."""
    return [float(one.replace(",", "")) for one in re.findall(r"-?[\d,]*\d(?:\.\d+)?", text)]


def rows(text, columns):
    """The rows of a table that begin with so many numbers; what is replayed has its own below."""
    found = [line.split() for line in text.partition("\nReplayed, ")[0].splitlines()]
    return [figures(" ".join(row)) for row in found if len(row) >= columns and len(figures(row[0])) == 1]


def test_each_of_the_three_peaks_is_a_figure_or_says_why_not(lesson):
    shown = lesson.shown("three").partition("\nReplayed, ")[0].splitlines()[1:]
    told = {line.split()[0]: line for line in shown}
    assert set(told) == {"process", "allocator", "device"}
    assert re.match(r"process +\d+ +VmHWM", told["process"])
    for name in ("allocator", "device"):
        assert re.match(rf"{name} +(\d+ |not measured .*\.$)", told[name])


def test_the_bytes_are_those_of_the_network_and_one_picture_takes_more_than_all_weights(lesson):
    first, *others = lesson.shown("counted").splitlines()
    weights, with_all = figures(first)
    shapes = [[64, 64, 16]] * 6 + [[16], [8]]
    assert weights == 4 * (3 * 9 * 16 + 5 * 16 * 9 * 16 + 6 * 16 + 16 * 8 + 8)
    assert with_all == 4 * weights
    counted = dict(map(figures, others))
    assert counted == {batch: activation_bytes(shapes, int(batch)) for batch in (1, 64, 128, 256)}
    assert counted[1] > with_all


def test_the_leak_is_in_its_receipt_and_in_the_table_and_is_as_large_as_the_text_says(lesson):
    (note,) = lesson.receipt("leak").notes
    grew = re.search(
        r"^Over the last 7 runs of the block 'keeps maps', .* grew by ([\d.]+) MiB per run \[.* MiB\]", note
    )
    assert grew, note
    assert float(grew[1]) == pytest.approx(2 * 16 * 64 * 64 * 16 * 4 / 2**20, abs=1)
    table = lesson.shown("growth").splitlines()
    assert re.search(r" growing +keeps maps$", table[-1])
    assert any("5 more runs needed" in line for line in table)


def test_the_mended_code_does_not_grow(lesson):
    assert lesson.receipt("mended").notes == ()
    grown = rows(lesson.shown("mended"), 3)
    assert [row[0] for row in grown] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert grown[-1][1] > 40
    assert abs(grown[-1][2]) < 8


def test_twice_the_batch_is_not_twice_the_peak_and_the_line_foretells_the_third(lesson):
    small, large = (lesson.receipt(name).reading("peak_memory_process").value for name in ("small", "large"))
    assert small < large < 2 * small
    told, ratio = lesson.shown("third").splitlines()[0], figures(lesson.shown("third"))[-1]
    _, foretold, measured = figures(told)
    assert foretold == pytest.approx(measured, rel=0.15)
    assert 1 < ratio < 4
    assert re.match(r"Batch size 256 needs about .*: it fits\.", lesson.shown("fits"))


def test_memory_rises_and_falls_within_a_step_and_its_top_comes_before_the_end(lesson):
    begins, top, ends = (
        figures(line) for line in lesson.shown("within-moments").partition("\nReplayed, ")[0].splitlines()[1:]
    )
    assert begins[0] == 0 < top[0] < ends[0]
    rise, counted = top[2], activation_bytes([[64, 64, 16]] * 6 + [[16], [8]], 256) / 2**20
    assert counted < rise < 4 * counted
    assert ends[2] < rise / 4


def test_the_curve_of_a_step_is_drawn_from_as_many_samples_as_are_told(lesson):
    told = lesson.shown("within").splitlines()[0]
    samples = int(re.match(r"(\d+) samples, reported by \S+", told)[1])
    figure = next(
        one.data["application/vnd.plotly.v1+json"]
        for one in lesson.cells["within"].outputs
        if "application/vnd.plotly.v1+json" in one.get("data", {})
    )
    measured, counted = figure["data"]
    assert len(measured["x"]) == len(measured["y"]) == samples > 50
    assert measured["x"] == sorted(measured["x"])
    assert counted["y"] == [counted["y"][0]] * 2
    percent = int(re.search(r"It was (\d+)\.", lesson.shown("within"))[1])
    top = measured["x"][measured["y"].index(max(measured["y"]))]
    assert percent == round(100 * top / measured["x"][-1])


def test_the_line_is_steeper_than_the_counted_activations(lesson):
    at = {row[0]: row[1:] for row in rows(lesson.shown("chart"), 3)}
    (_, line_start, counted_start), (_, line_end, counted_end) = at[64], at[256]
    assert line_end - line_start > counted_end - counted_start


def test_a_batch_that_cannot_fit_is_asked_about_and_not_run(lesson):
    assert re.search(
        r"Batch size 100,000 needs about .*: it does not fit; try [\d,]+\.", lesson.shown("break")
    )


def test_arrays_kept_outside_the_framework_are_a_leak_as_well(lesson):
    assert lesson.shown("break-arrays") == "64 MiB in 16 arrays\n"
    (note,) = lesson.receipt("break-arrays").notes
    assert "of the block 'keeps arrays', process memory grew by" in note


def test_the_line_within_a_step_is_of_the_counter_that_the_first_table_left_out_and_the_text_says_why(lesson):
    counter = "tf.config.experimental.get_memory_info('CPU:0')"
    assert re.search(rf"^allocator +not measured +{re.escape(counter)}", lesson.shown("three"), re.MULTILINE)
    assert f"reported by {counter}" in lesson.shown("within")
    assert "the counter that the table at the beginning left out" in lesson.prose("within-read")
