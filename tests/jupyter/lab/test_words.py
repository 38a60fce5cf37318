"""What a student reads has one style: proper names, code drawn as code, numbers in one piece."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from playwright.sync_api import Locator, expect

from jupyter_mlgpu.experiment.race.result import Lane, RaceResult, Timing
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.show.page import plotly
from jupyter_mlgpu.show.page.rendering import bundle_of, page_of
from jupyter_mlgpu.show.receipts.bundle import bundle
from jupyter_mlgpu.testing import example_record

if TYPE_CHECKING:
    from tests.jupyter.lab.conftest import Lab


def raced(*sizes: float) -> dict[str, Any]:
    """A race's chart as the magic puts it into a notebook."""
    timings = tuple(Timing(one, (0.9e-9 * one, 1e-9 * one, 1.1e-9 * one), 2, True) for one in sizes)
    lanes = (Lane("cpu:0", "cpu", "a CPU", timings), Lane("gpu:0", "cuda", None, timings))
    made = RaceResult("x @ x", "torch", "n", 3, False, lanes, "ok", "2026-01-01T00:00:00.000000Z", "a clock")
    return {**bundle_of(made), plotly.MIME_TYPE: plotly.figure(*page_of(made).charts)}


def opened(lab: Lab, name: str, record: object) -> Locator:
    lab.write_with_receipts(name, bundle(record))  # type: ignore[arg-type]
    lab.open_without_kernel(name)
    lab.receipts.first.get_by_role("button").first.click()
    return lab.receipts.first


def test_code_in_a_sentence_is_drawn_as_code(lab: Lab) -> None:
    note = say("Run `%mlc_trace save <file>` in a cell.")
    receipt = opened(lab, "code.ipynb", replace(example_record(), notes=(note,)))
    expect(receipt.locator(".jp-mlgpu-Note code")).to_have_text("%mlc_trace save <file>")
    expect(receipt.locator(".jp-mlgpu-Note")).to_have_text("Run %mlc_trace save <file> in a cell.")


def test_frameworks_and_libraries_have_their_own_names(lab: Lab) -> None:
    versions = {"tensorflow": "2.19.1", "keras": "3.11.3", "numpy": "2.1"}
    receipt = opened(lab, "names.ipynb", replace(example_record(), versions=versions))
    expect(receipt).to_contain_text("Keras 3.11.3, NumPy 2.1, TensorFlow 2.19.1")
    receipt.get_by_text("Where it ran").click()
    expect(receipt).to_contain_text("cpu:0 (TensorFlow, cpu)")


def test_in_a_narrow_table_a_number_and_its_unit_stay_on_one_line_in_one_style(lab: Lab) -> None:
    lab.write_with_receipts("race.ipynb", raced(1e5, 1e6))
    lab.open_without_kernel("race.ipynb")
    page = lab.open_result()
    page.get_by_text("The figures as a table").click()
    heads = page.get_by_role("table").get_by_role("rowheader")
    expect(heads).to_have_text(["100,000", "1,000,000"])
    ticks = page.locator("svg[role=img]")
    expect(ticks).to_contain_text("100,000")
    expect(ticks).not_to_contain_text("1e")
    figures = page.locator("td[data-figure]")
    expect(figures.first).to_be_visible()
    lines = """cells => cells.map(one => {
        const range = document.createRange();
        range.selectNodeContents(one);
        return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size;
    })"""
    assert set(figures.evaluate_all(lines)) == {1}
    expect(page.locator(".jp-mlgpu-Figure code").first).to_have_text("x @ x")
