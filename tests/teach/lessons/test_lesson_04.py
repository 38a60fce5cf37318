"""Lesson 04: what its text says of the saved run is so, and its formulas are the ones that are drawn."""

import re
from pathlib import Path

import nbformat
import pytest

LESSONS = Path(__file__).resolve().parents[3] / "notebooks"
PLOTLY = "application/vnd.plotly.v1+json"


@pytest.fixture(scope="module")
def cells():
    return {one.id: one for one in nbformat.read(LESSONS / "04_how_fast_can_it_be.ipynb", 4).cells}


def lines(cell):
    """The lines of a saved chart that were measured in the run itself, by their names."""
    figure = next(one.data[PLOTLY] for one in cell.outputs if PLOTLY in one.get("data", {}))
    drawn = [one for one in figure["data"] if one["line"]["dash"] == "solid"]
    return {one["name"]: list(zip(one["x"], one["y"], strict=True)) for one in drawn}


def shown(cell):
    return "\n".join(one.get("text") or one.data["text/plain"] for one in cell.outputs)


def test_each_type_has_a_rate_for_several_sizes(cells):
    rates = lines(cells["sweep"])
    assert list(rates) == ["float32", "float16", "bfloat16", "float64"]
    assert all(len(points) >= 3 and all(rate > 0 for _, rate in points) for points in rates.values())


def test_the_smaller_types_have_the_larger_errors(cells):
    rows = [line.split() for line in shown(cells["types"]).splitlines()[1:5]]
    errors = {row[0]: 0.0 if "below" in row else float(row[5]) for row in rows}
    assert errors["float64"] < errors["float32"] < 1e-5 < errors["float16"] < errors["bfloat16"] < 0.1


def test_the_table_of_the_metal_plug_in_is_as_the_text_says(cells):
    assert "tensorflow-metal 1.2.0" in shown(cells["metal"])
    assert "['bfloat16', 'float16', 'float32']" in shown(cells["metal"])


def test_the_roof_is_made_of_the_best_product_and_the_best_step(cells):
    drawn = lines(cells["roofline"])
    roof = dict(drawn["the roof, float32"])
    peak = max(rate for _, rate in drawn["products [n, n], float32"])
    steps = [float(line.split("  ")[-3]) for line in re.findall(r"^.*$", bandwidth_table(cells), re.M)]
    assert max(roof.values()) == pytest.approx(peak)
    assert roof[1.0] == pytest.approx(max(steps) / 1000, rel=0.05)


def bandwidth_table(cells):
    rows = shown(cells["bandwidth"]).splitlines()[1:4]
    return "\n".join(re.sub(r" {2,}", "  ", row.strip()) for row in rows)


def test_products_stand_at_a_sixth_of_n_and_sums_at_a_twelfth(cells):
    drawn = lines(cells["roofline"])
    sizes = [n for n, _ in lines(cells["sweep"])["float32"]]
    assert [per_byte * 6 for per_byte, _ in drawn["products [n, n], float32"]] == pytest.approx(sizes)
    assert [per_byte for per_byte, _ in drawn["add; multiply and add"]] == pytest.approx([1 / 12, 1 / 8])
