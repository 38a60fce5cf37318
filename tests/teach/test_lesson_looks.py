"""How what lessons draw looks: palettes, frames, one colour a name, axes that fit, no title twice."""

import base64
import re
from html import unescape
from pathlib import Path

import nbformat
import pytest
from tracked import tracked

from jupyter_mlgpu.teach.lessons import chart, images, palettes, recordings
from jupyter_mlgpu.teach.lessons.heatmaps import Panel, draw
from jupyter_mlgpu.teach.lessons.machine import Machine
from jupyter_mlgpu.teach.lessons.wordmaps import word_map

np = pytest.importorskip("numpy", reason="NumPy is not installed here")

LESSONS = Path(__file__).resolve().parents[2] / "notebooks"
WHITE, BLACK = "#ffffff", "#000000"


def fills(svg):
    """The colours of the squares, in their order."""
    return re.findall(r'<rect[^>]* fill="(#\w+)"', str(svg))


def picture_of(*arrays):
    """The colours of yours, and of the difference where there is one."""
    panels = [Panel(*one) for one in zip(("yours", "difference"), map(np.array, arrays), strict=False)]
    return fills(draw(panels, "words"))


def test_numbers_from_0_to_1_go_from_light_to_dark():
    drawn = picture_of([[0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]])
    from_white = [palettes.contrast(one, WHITE) for one in drawn]
    assert from_white == sorted(from_white)
    assert len(set(drawn)) == 11
    assert from_white[0] < 1.2
    assert from_white[-1] > 7
    assert (drawn[0], drawn[-1]) == (palettes.SEQUENTIAL[0], palettes.SEQUENTIAL[-1])


def test_numbers_on_both_sides_of_zero_go_through_white_at_zero():
    low, middle, high = picture_of([[-1, 0, 4]])
    assert middle == palettes.DIVERGING[1]
    assert high == palettes.DIVERGING[2]
    # As far on either side: -1 is a quarter of the way to the blue, for 4 is the whole way to the orange.
    assert low == palettes.colour(palettes.DIVERGING, 0.375)
    *_, same, differs = picture_of([[0, 4]], [[0, -3]])
    assert (same, differs) == (palettes.DIVERGING[1], palettes.DIVERGING[0])


def test_a_word_map_s_colours_are_those_of_0_to_1_whatever_numbers_it_has():
    assert fills(word_map([[0.25, 0.75]], ["it"], ["cat", "mat"]).svg) == [
        palettes.colour(palettes.SEQUENTIAL, one) for one in (0.25, 0.75)
    ]


@pytest.mark.parametrize("share", [one / 20 for one in range(21)])
def test_the_number_on_a_square_can_be_read(share):
    svg = word_map([[share]], ["it"], ["cat"]).svg
    (ground,) = fills(svg)
    (text,) = re.findall(r'class="number" style="fill:(#\w+)"', svg)
    assert palettes.contrast(text, ground) > 4.5


def test_a_picture_has_a_frame_that_is_seen_on_white_and_on_black():
    html = images({"kernel": [[0, 0], [1, 1]], "map": np.eye(2)})._repr_html_()
    frames = re.findall(r"<img [^>]*border:1px solid (#\w+)", html)
    assert len(frames) == 2
    assert all(palettes.contrast(frame, page) > 3 for frame in frames for page in (WHITE, BLACK))


@pytest.fixture
def replayed(monkeypatch, tmp_path):
    """Write lines down as if on a GPU, so that they are replayed here."""
    monkeypatch.setattr(recordings, "FOLDER", tmp_path)

    def record(name, lines):
        monkeypatch.setattr(recordings, "here", lambda: Machine("gpu:0", "NVIDIA H200", "Keras 3"))
        monkeypatch.setenv(recordings.VARIABLE, str(tmp_path))
        chart(name, x="n", y="s", lines=lines)
        monkeypatch.delenv(recordings.VARIABLE)
        monkeypatch.setattr(recordings, "here", lambda: Machine("cpu:0", "Some processor", "Keras 3"))

    return record


def test_a_replayed_line_has_the_colour_of_the_own_one_and_is_dashed_with_hollow_marks(replayed):
    replayed("types", {"float16": [(1, 2)], "float32": [(1, 1), (2, 2)]})
    drawn = chart("types", x="n", y="s", lines={"float32": [(1, 1)], "float64": [(1, 3)]})
    own32, own64, replayed16, replayed32 = drawn.drawn.series
    assert own32.hue == replayed32.hue
    assert len({own32.hue, own64.hue, replayed16.hue}) == 3
    assert [one.dashed for one in drawn.drawn.series] == [False, False, True, True]
    assert len(re.findall(rf'<circle [^>]*fill="#ffffff" stroke="{replayed16.hue}"', drawn.svg())) == 1
    symbols = [trace["marker"].get("symbol") for trace in drawn.figure()["data"]]
    assert symbols == [None, None, "circle-open", "circle-open"]


def test_two_replayed_lines_are_told_apart_by_name_and_colour(replayed):
    replayed("race", {"cpu:0": [(1, 1), (2, 3)], "gpu:0": [(1, 2), (2, 2)]})
    drawn = chart("race", x="n", y="s", lines={"cpu:0": [(1, 1)]})
    own, processor, gpu = drawn.drawn.series
    assert [processor.name, gpu.name] == ["cpu:0 (replayed: NVIDIA H200)", "gpu:0 (replayed: NVIDIA H200)"]
    assert [own.dashed, processor.dashed, gpu.dashed] == [False, True, True]
    assert own.hue == processor.hue != gpu.hue


@pytest.mark.parametrize(
    ("heights", "from_zero"),
    [((0.2, 0.9), True), ((0, 60), True), ((4.2, 8.0), False), ((0.91, 0.97), False)],
)
def test_an_axis_begins_at_zero_where_its_numbers_come_near_it_and_else_around_them(heights, from_zero):
    drawn = chart("fitted", x="n", y="s", lines={"a": list(enumerate(heights))})
    assert drawn.drawn.y.zero == from_zero
    assert (drawn.figure()["layout"]["yaxis"].get("rangemode") == "tozero") == from_zero


def titles(html):
    """The bold first line of each chart in an output's HTML."""
    for data in re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', html):
        svg = base64.b64decode(data).decode()
        yield from (unescape(one) for one in re.findall(r'<text class="left bold"[^>]*>([^<]*)</text>', svg))


def test_no_chart_of_a_saved_lesson_says_again_what_stands_above_it():
    charts = 0
    for path in tracked(LESSONS, "*.ipynb"):
        for cell in nbformat.read(path, 4).cells:
            for html in (one.get("data", {}).get("text/html", "") for one in cell.get("outputs", [])):
                charts += "data:image/svg" in html
                above = unescape(re.sub(r"<[^>]+>", "\n", html)).splitlines()
                assert [one for one in titles(html) if one in above] == [], f"{path.name}, {cell.id}"
    assert charts > 10
