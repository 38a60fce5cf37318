"""Lesson 04: what its text says of the saved run is so, and its formulas are the ones that are drawn."""

import re
from pathlib import Path

import nbformat
import pytest

from jupyter_mlgpu.explain.limits.roofline import NEAR
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE
from jupyter_mlgpu.teach.lessons.exercises.lesson_04 import rows_at_the_ridge
from jupyter_mlgpu.teach.lessons.recordings import FOLDER, read
from tests.support import lesson_figures

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
    own = shown(cells["types"]).partition("Replayed")[0]
    rows = [line.split() for line in re.findall(r"^b?float\d\d .*$", own, re.MULTILINE)]
    errors = {row[0]: 0.0 if "below" in row else float(row[5]) for row in rows}
    assert errors["float64"] < errors["float32"] < 1e-5 < errors["float16"] < errors["bfloat16"] < 0.1


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


def profiled_network(cells) -> Record:
    outputs = cells["network-profiled"].outputs
    return Record.from_json(next(one.data[MIME_TYPE] for one in outputs if MIME_TYPE in one.get("data", {})))


def test_the_receipt_counts_the_operations_and_the_bytes_that_the_lesson_counts(cells):
    operations, gigabytes = re.match(r"([\d.]+) GFLOP, ([\d.]+) GB", shown(cells["network"])).groups()
    record = profiled_network(cells)
    assert float(operations) == round(record.reading("flops").value / 1e9, 1)
    assert float(gigabytes) == round(record.reading("bytes_moved").value / 1e9, 2)


def test_what_the_roof_allows_is_the_longer_of_the_two_times_of_the_lesson_s_own_roof(cells):
    peak, bandwidth = map(
        float, re.search(r"peak (\S+) TFLOP/s, memory (\S+) TB/s", shown(cells["roofline"])).groups()
    )
    record = profiled_network(cells)
    times = (record.reading("flops").value / peak, record.reading("bytes_moved").value / bandwidth)
    allowed = float(re.search(r"allows (\S+) s", shown(cells["network"]))[1])
    assert allowed == pytest.approx(max(times) / 1e12, rel=0.01)


def test_the_receipt_judges_by_its_own_light_run_and_roof(cells):
    record = profiled_network(cells)
    told = shown(cells["network-judge"])
    seconds = record.reading("flops").value / record.reading("flop_rate").value
    assert f"The light runs took {units.seconds(seconds)}." in told
    assert f"reached {record.reading('flop_share').value:.0%}".replace("%", " %") in told
    assert record.limit is None or str(record.limit.said) in told


def test_the_rate_that_nobody_waited_for_is_the_one_that_was_measured_on_an_h200(cells):
    folder = LESSONS.parent / "docs" / "measurements" / "2026-11-21-h200-lessons"
    lesson = (folder / "README.md").read_text(encoding="utf-8").partition("## 04")[2]
    hasty = float(re.search(r"^not waited for +(\S+)$", lesson, re.MULTILINE)[1])
    told = lesson_figures.without_marks(cells["break-strips-read"].source)
    assert f"{hasty:,.0f} TFLOP/s in float32, a thousand times the 67 promised" in told
    assert hasty > 1000 * 67


def test_with_one_row_a_run_is_bound_by_the_reading_of_the_parameters(cells):
    rows = re.findall(r"^(512|1) +(\S+) +(\S+) +(\S+) +(\S+)$", shown(cells["break"]), re.MULTILINE)
    many, few = ([float(one.replace(",", "")) for one in row] for row in rows)
    assert (many[1], few[1]) == (205, 0.5)
    assert "half an operation per byte" in cells["break-why"].source
    assert 1 < many[2] / few[2] < 512 / 2
    assert few[3] < many[3]
    assert few[4] > many[4]
    told = int(re.search(r"It was (\d+)\.", shown(cells["break"]))[1])
    assert told == pytest.approx(many[2] / few[2], rel=0.05)


def test_a_layer_with_the_rows_of_the_ridge_does_as_many_operations_a_byte():
    width, peak, bandwidth = 4096, 50.0, 4.0
    rows = rows_at_the_ridge(width, peak, bandwidth)
    assert 2 * rows * width**2 / (4 * (width**2 + 2 * rows * width)) == pytest.approx(peak / bandwidth)


def test_the_receipt_judges_the_memory_by_the_best_day_as_the_text_says(cells):
    kept = profiled_network(cells).reading("peak_byte_rate")
    told = cells["network-judge-read"].source
    judged = float(re.search(r"the receipt judged by ([\d.]+) GB/s, of an earlier day", told)[1])
    assert judged == round(kept.value / 1e9, 1)
    reached, today = re.search(r"([\d.]+) GB/s[.;].*\n.*, (\S+), quick", shown(cells["bench"])).groups()
    assert float(reached) < judged
    assert kept.detail.fields["date"] < today


def test_float32_products_of_the_h200_are_not_rounded_to_tf32(cells):
    """PyTorch rounds the numbers of convolutions unasked, and those of products not."""
    assert "PyTorch allows it in convolutions, but not in matrix products" in cells["types-read"].source
    replayed = shown(cells["types"]).partition("Replayed")[2]
    assert float(re.search(r"^float32 .* (\S+) +gpu:0$", replayed, re.MULTILINE)[1]) < 1e-5


def prose(cell):
    return lesson_figures.without_marks(cell.source)


def test_with_all_its_arrays_counted_multiply_and_add_moves_about_as_much_as_add(cells):
    add, _, both = (float(line.split("  ")[1]) for line in bandwidth_table(cells).splitlines())
    assert both * 6 / 4 == pytest.approx(add, rel=0.15)
    told = f"the saved {both} GB/s are {both} · 6/4 = {both * 6 / 4:.0f}, about as much as *add*"
    assert told in prose(cells["bandwidth-read"])


def test_the_processor_of_the_saved_run_has_no_instructions_for_float16(cells):
    noted = re.findall(r"no instructions for products of (\w+):", shown(cells["bench"]))
    assert noted == ["float16"]
    best = {name: max(rate for _, rate in line) for name, line in lines(cells["sweep"]).items()}
    assert best["float16"] < best["float32"] < best["bfloat16"]
    told = prose(cells["types-read"])
    assert "has some for bfloat16" in told
    assert "none for float16" in told


def test_the_receipt_calls_the_roof_the_limit_from_where_the_text_says(cells):
    assert f"From {NEAR * 100:.0f} % on" in cells["network-judge-read"].source


def test_one_row_reads_the_parameters_at_nearly_the_speed_of_the_memory(cells):
    parameters = 4 * 4 * 4096**2
    seconds = (
        int(re.search(r"replayed: (\d+) ms .* memory \+", shown(cells["break-strips"]))[1]) / 1e3 / 10_000
    )
    told = prose(cells["break-strips-read"])
    assert f"are {parameters / 1e6:.0f} MB in float32" in told
    assert f"about {round(parameters / seconds / 1e9, -2):,.0f} GB/s" in told


def test_what_the_h200_gave_of_what_its_data_sheet_promises(cells):
    told = re.findall(
        r"^\| ([^,|]+?)(?:, [^|]+)? \| (\S+) \S+ \| (\S+) \S+ \| (\d+) % \|$",
        prose(cells["break-strips-read"]),
        re.MULTILINE,
    )
    types = read(FOLDER / "04_types.json").data["rows"]
    reached = {row["type"]: float(row["TFLOP/s, median"]) for row in types}
    reached["memory"] = max(row["GB/s, median"] for row in read(FOLDER / "04_bandwidth.json").data["rows"])
    assert [name for name, *_ in told] == ["float32", "float64", "bfloat16", "memory"]
    for name, measured, promised, share in told:
        assert float(measured.replace(",", "")) == pytest.approx(reached[name], abs=0.5)
        assert int(share) == round(100 * reached[name] / float(promised.replace(",", "")))
