"""The dot of a cell is drawn under its roof with the benchmark's chart, and a table says the same."""

import json

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.record import decoding
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.record import WORKED_IN, Fact, Record
from jupyter_mlgpu.record.sentence import Sentence
from jupyter_mlgpu.record.translation import translated
from jupyter_mlgpu.show.page import view
from jupyter_mlgpu.show.page.rendering import page_of
from jupyter_mlgpu.show.receipts import roofline
from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE, NOTED_LIMIT, bundle
from jupyter_mlgpu.show.why.page import Reasons
from jupyter_mlgpu.testing import limited_record

pytestmark = pytest.mark.small
PLACE = {
    "flops": (2 * 10**12, "FLOP"),
    "bytes_moved": (10**10, "bytes"),
    "flop_rate": (2e13, "FLOP/s"),
    "peak_flop_rate": (5e13, "FLOP/s"),
    "flop_share": (0.4, "of the roof"),
    "peak_byte_rate": (1e12, "bytes/s"),
}


def record(mode="profiled", without=()) -> Record:
    told = {name: one for name, one in PLACE.items() if name not in without}
    readings = tuple(Reading(name, value, unit, "cell", "clock", 3) for name, (value, unit) in told.items())
    where = Fact({"framework": "torch", "device": "gpu:0", "type": "bfloat16"}, Sentence("fake profiler"))
    found = limited_record()
    return replace(found, mode=mode, readings=(*found.readings, *readings), facts={WORKED_IN: where})


def test_the_dot_stands_at_its_flop_a_byte_and_its_rate_under_a_roof_of_two_lines():
    chart = roofline.chart(record())
    dot, roof = chart.series
    assert [(one.x, one.y) for one in dot.points] == [(200.0, 20.0)]
    assert dot.points[0].label == "20 TFLOP/s at 200 FLOP per byte"
    assert (roof.mark, roof.name) == ("roof", "roof of PyTorch gpu:0 bfloat16")
    assert [(one.x, one.y) for one in roof.points][1] == (50.0, 50.0)


@pytest.mark.parametrize("without", ["flops", "bytes_moved", "flop_rate", "peak_flop_rate", "peak_byte_rate"])
def test_without_one_of_its_figures_there_is_no_dot_and_the_table_has_the_others(without):
    found = record(without=[without])
    assert roofline.chart(found) is None
    assert len(roofline.table(found).rows) == len(PLACE) - 1


@pytest.mark.parametrize("name", list(PLACE))
@pytest.mark.parametrize("value", [1e-300, 1e-15, 1e18, 2**63 - 1])
def test_a_strangers_figures_are_drawn_or_left_out_and_break_nothing(name, value):
    found = record()
    changed = tuple(replace(one, value=value) if one.quantity == name else one for one in found.readings)
    found = replace(found, readings=changed)
    assert bundle(found)["text/plain"]
    assert repr(Reasons(found))
    json.dumps(decoding.to_json(view.data(page_of(Reasons(found)))), allow_nan=False)


def test_a_record_that_was_not_placed_has_neither():
    assert roofline.chart(limited_record()) is None
    assert roofline.table(limited_record()) is None


def test_the_page_of_why_has_the_chart_and_the_table_once():
    page = page_of(Reasons(record()))
    assert len(page.charts) == 1
    said = repr(Reasons(record()))
    assert said.count("Arithmetic, share of the roof") == 1
    assert "20 TFLOP/s" in said
    assert view.data(page).charts[0].series[0].name == "this cell"


def test_an_opened_receipt_of_a_profiled_cell_draws_it_and_a_light_one_stays_small():
    assert "data:image/svg+xml" in bundle(record())["text/html"]
    light = bundle(record("light"))
    assert "data:image/svg+xml" not in light["text/html"]
    told = {one["quantity"] for one in light[MIME_TYPE]["readings"]}
    assert {"flop_rate", "flop_share"} <= told
    assert not {"flops", "bytes_moved", "peak_flop_rate", "peak_byte_rate"} & told
    assert sum(len(str(one)) for one in light.values()) < NOTED_LIMIT


def test_it_is_said_in_chinese_too():
    chart = roofline.chart(record())
    for said in (chart.series[0].name, chart.series[0].points[0].label, roofline.table(record()).caption):
        assert not translated(said, "zh").isascii()
