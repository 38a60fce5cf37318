"""A page as the browser gets it: bounded, and every figure that of the result."""

import dataclasses
import json
import re

import pytest
import readers

from jupyter_mlgpu.experiment.race.result import Lane, RaceResult, Timing
from jupyter_mlgpu.record import decoding
from jupyter_mlgpu.show.page import view
from jupyter_mlgpu.show.page.chart import COLOURS, Axis, Chart, Point, Series
from jupyter_mlgpu.show.page.model import Page, Table
from jupyter_mlgpu.show.page.shown import bundle_of, page_of
from tests.support.reading import as_read


def samples(middle):
    return tuple(middle * (1 + place / 100) for place in range(-5, 6))


def lane(device, *timings, **more):
    return Lane(device, device.split(":")[0], None, timings, **more)


def race(*lanes, variable="n", **more):
    values = {
        "cell": "x @ x",
        "framework": "torch",
        "repeats": 11,
        "fresh": False,
        "outcome": "ok",
        "started_at": "2026-01-01T00:00:00.000000Z",
        "clock": "fake clock",
    }
    return RaceResult(**(values | more), variable=variable, lanes=lanes)


CPU = lane("cpu:0", *(Timing(size, samples(1e-9 * size**3), 2, True) for size in (10, 100, 1000)))
GPU = lane("gpu:0", *(Timing(size, samples(1e-4), 2, size != 10) for size in (10, 100, 1000)))


def data_of(page):
    return json.loads(json.dumps(decoding.to_json(view.data(page)), allow_nan=False))


def raced(*lanes, **more):
    """What the browser gets of a race, sentences as texts."""
    return as_read(data_of(page_of(race(*lanes, **more))))


def test_each_size_is_a_point_with_its_spread_on_each_device():
    (chart,) = raced(CPU, GPU)["charts"]
    assert [one["name"] for one in chart["series"]] == ["cpu:0", "gpu:0"]
    low, high = GPU.timings[0].interval
    assert chart["series"][1]["points"][0] == [10, 1e-4, low, high, "gpu:0: 100 µs (96 µs to 104 µs)"]
    assert [one["mark"] for one in chart["series"]] == ["line", "line"]
    assert chart["series"][0]["colour"] != chart["series"][1]["colour"]


def test_axes_end_just_around_their_points_and_their_ticks_are_written_out():
    (chart,) = raced(CPU, GPU)["charts"]
    assert chart["x"]["log"]
    assert 5 < chart["x"]["low"] < 10
    assert 1000 < chart["x"]["high"] < 2000
    assert chart["x"]["ticks"] == [[n, f"{n:,}"] for n in (10, 20, 50, 100, 200, 500, 1000)]
    assert chart["y"]["ticks"][0][1] == "1 µs"


def test_the_crossover_is_a_rule_and_the_sentence_about_it_that_of_the_result():
    data = raced(CPU, GPU)
    (rule,) = data["charts"][0]["rules"]
    assert (round(rule["at"]), rule["low"], rule["high"]) == (46, 10, 100)
    assert rule["label"] == "gpu:0 faster from about n = 46"
    assert "gpu:0 becomes faster than cpu:0 at about n = 46 (between 10 and 100)." in data["notes"]


def test_the_headline_says_from_which_measured_size_on_the_winner_is_faster_and_by_how_much():
    assert (
        raced(CPU, GPU)["headline"] == "gpu:0 is faster from n = 100 on: 10,000 times as fast at n = 1,000."
    )


def test_without_sizes_there_is_a_bar_a_device_from_nothing_on():
    alone = [lane(one.device, dataclasses.replace(one.timings[0], size=None)) for one in (CPU, GPU)]
    (chart,) = raced(*alone, variable=None)["charts"]
    assert [(number, place, start) for number, place, _, start, _ in chart["bars"]] == [(0, 0, 0), (1, 1, 0)]
    assert [end for *_, end in chart["bars"]] == [one.timings[0].median for one in alone]
    assert (chart["x"]["low"], chart["x"]["high"]) == (-0.5, 1.5)
    assert chart["x"]["ticks"] == [[0, "cpu:0: 1 µs"], [1, "gpu:0: 100 µs"]]


def test_a_table_has_its_first_rows_and_says_how_many_there_are_more():
    rows = tuple((f"row {number}", "1") for number in range(view.ROWS + 3))
    (table,) = data_of(Page((Table(("name", "count"), rows, ("count",)),)))["parts"]
    assert (len(table["rows"]), table["figures"]) == (view.ROWS, [1])
    assert table["below"]["text"] == "3 more rows are not shown."
    assert data_of(Page((Table(("name",), ()),)))["parts"] == []


def test_a_point_that_a_logarithmic_axis_has_no_place_for_is_left_out():
    series = Series("a", (Point(0, 1), Point(10, 0), Point(10, 1, low=0, high=2)), 0)
    chart = Chart(("t",), Axis("x", log=True), Axis("y", log=True), (series,), "words")
    (drawn,) = data_of(Page((), charts=(chart,)))["charts"]
    assert drawn["series"][0]["points"] == [[10, 1, None, None, ""]]


@pytest.mark.parametrize(
    "strange",
    [
        pytest.param("<script>alert(1)</script>" + "\U0001f600" * 100_000, marks=pytest.mark.slow),
        "\udcff" * 1000,
    ],
)
def test_a_long_race_with_hostile_names_is_cut_and_says_so(strange):
    timings = tuple(Timing(float(size), samples(1e-3), 2, False) for size in range(1, 301))
    many = tuple(Lane(f"{place}{strange}", strange, strange, timings, None, strange) for place in range(30))
    made = data_of(page_of(race(*many, cell=strange, variable=strange, notes=(strange,) * 200)))
    assert len(json.dumps(made, indent=1, ensure_ascii=False).encode()) < 800_000
    told = [one["text"] for one in made["notes"] if isinstance(one, dict) and "text" in one]
    assert any(re.fullmatch(r"[\d,]+ more notes are not shown.", one) for one in told)
    assert any(re.fullmatch(r"\d+ more lines are not drawn.", one) for one in told)
    assert [one["below"]["text"] for one in made["parts"] if "rows" in one] == [
        "200 more rows are not shown."
    ]


def test_the_data_is_always_the_same_and_sentences_are_in_it_once():
    assert bundle_of(race(CPU, GPU)) == bundle_of(race(CPU, GPU))
    assert '"text"' not in json.dumps(bundle_of(race(CPU, GPU)))


def test_the_browsers_colours_are_those_of_every_other_drawing():
    sheet = (readers.BROWSER.parent / "style" / "plan.css").read_text()
    assert re.findall(r"--jp-mlgpu-series: (#\w+)", sheet) == list(COLOURS)
