"""What a student sees of what limits a cell: an answer in its line, and the lines of code that lead there."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from playwright.sync_api import expect

from jupyter_mlgpu.record.record import Run
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.show.receipts.bundle import bundle
from jupyter_mlgpu.testing import example_record, limited_record
from tests.jupyter.lab.listed import open_with

if TYPE_CHECKING:
    from tests.jupyter.lab.conftest import Lab

LOADER = "import time\ndef batches():\n    yield 1\n"
LOOP = "model = 1\n\nfor epoch in range(2):\n    x, y = next(batches)\n    model.train_on_batch(x, y)"


def open_saved(lab: Lab, name: str) -> None:
    """A saved notebook of two cells: [3] has a line of the limited cell [4] below it."""
    record = limited_record(4, confidence="likely")
    cell = replace(record.cell, id="cell-1", execution_count=4)
    lab.write_with_receipts(name, bundle(example_record(3)), bundle(replace(record, cell=cell)))
    path = lab.server.root / name
    notebook = json.loads(path.read_text())
    for cell, code, count in zip(notebook["cells"], (LOADER, LOOP), (3, 4), strict=True):
        cell["source"], cell["execution_count"] = code, count
    path.write_text(json.dumps(notebook))
    lab.open_without_kernel(name)


def cursor(lab: Lab) -> tuple[int, int, int]:
    """The index of the active cell, and the line and column of its cursor, from 0 on."""
    index, line, column = lab.page.evaluate(
        """() => {
            const { content } = jupyterapp.shell.currentWidget;
            const { line, column } = content.activeCell.editor.getCursorPosition();
            return [content.activeCellIndex, line, column];
        }"""
    )
    return index, line, column


def test_a_receipt_has_the_limit_in_its_line_and_opened_what_to_do_and_the_lines(lab: Lab) -> None:
    open_saved(lab, "limited.ipynb")
    receipt = lab.receipts.nth(1)
    line = receipt.get_by_role("button")
    expect(line).to_have_text("14.7 s · about 90 % preparing input · ran on cpu:0 · peak memory 512 MiB")
    expect(lab.receipts.first).not_to_contain_text("preparing")
    line.click()
    limit = receipt.get_by_role("group", name="What limits it")
    expect(limit).to_contain_text("Waited 86 % of the time: the GPU had 2.0 s of work in 14.7 s.")
    expect(limit.locator(".jp-mlgpu-LineToCopy code")).to_have_text("%%mlc_trace --ops")
    expect(limit.get_by_role("button", name="Copy")).to_be_visible()
    lines = receipt.get_by_role("table", name="Lines of code")
    expect(lines.get_by_role("columnheader")).to_have_text(["Line", "Share", "Samples", "Called most"])
    first = lines.get_by_role("row").nth(1)
    expect(first.get_by_role("rowheader")).to_have_text("line 4 x, y = next(batches)", use_inner_text=True)
    expect(first.get_by_role("cell")).to_have_text(["82 %", "41", "next(batches)"])
    expect(first.get_by_title("95 % interval: 69 % to 90 %")).to_be_visible()
    track, share = (
        box.bounding_box() or {"x": 0.0, "width": 0.0}
        for box in (first.locator(".jp-mlgpu-HotLine-bar"), first.locator(".jp-mlgpu-HotLine-bar > span"))
    )
    assert abs(share["width"] / track["width"] - 0.82) < 0.01
    receipt.get_by_text("Evidence", exact=True).click()
    expect(receipt).to_contain_text("This is likely: the evidence supports it but does not rule out")
    evidence = receipt.get_by_role("table", name="Evidence")
    expect(evidence.get_by_role("row").nth(1)).to_contain_text(
        "Share of the samples82 %, 95 % interval 69 % to 90 %"
    )
    expect(line.get_by_title("This is likely: the evidence")).to_have_text(" · about 90 % preparing input")


def bars(lab: Lab, cell: int) -> list[tuple[str, float]]:
    """The figures on hover of the marks in a cell's gutter, and each mark's height in lines."""
    found = (
        lab.cell(cell)
        .locator(".jp-mlgpu-Heat-bar")
        .evaluate_all(
            "bars => bars.map(bar => [bar.title, bar.offsetHeight / bar.parentElement.offsetHeight])"
        )
    )
    return [(title, height) for title, height in found]


def test_hot_lines_are_marked_in_the_gutter_also_of_a_cell_whose_function_was_called(lab: Lab) -> None:
    open_saved(lab, "gutter.ipynb")
    own, called = lab.cell(1).locator(".jp-mlgpu-Heat-bar"), lab.cell(0).locator(".jp-mlgpu-Heat-bar")
    expect(own).to_have_count(2)
    expect(called).to_have_count(1)
    (first, height), _ = bars(lab, 1)
    assert first == "82 % of the samples of this cell\u2019s last run (95 % interval: 69 % to 90 %)"
    assert abs(height - 0.82) < 0.05
    ((other, _),) = bars(lab, 0)
    assert other.startswith("6 % of the samples of [4], which called this")
    marked = lab.cell(1).locator(".cm-line").nth(3).bounding_box() or {"y": 0}
    assert abs((own.first.bounding_box() or {"y": 0})["y"] - marked["y"]) < 8, "it is beside its line"


def test_the_marks_take_no_room_and_go_when_the_code_is_edited(lab: Lab) -> None:
    open_saved(lab, "gutter_gone.ipynb")
    own = lab.cell(1).locator(".jp-mlgpu-Heat-bar")
    expect(own).to_have_count(2)
    before = lab.cell(1).locator(".cm-line").first.bounding_box()
    lab.cell(1).locator(".cm-line").first.click()
    lab.page.keyboard.type("#")
    expect(own).to_have_count(0)
    assert lab.cell(1).locator(".cm-line").first.bounding_box() == before
    expect(lab.cell(0).locator(".jp-mlgpu-Heat-bar")).to_have_count(1)


def test_no_line_is_marked_where_the_setting_says_so(lab: Lab, our_settings: Callable[..., None]) -> None:
    our_settings(lineHeat=False)
    open_saved(lab, "gutter_off.ipynb")
    expect(lab.receipts).to_have_count(2)
    expect(lab.page.locator(".jp-mlgpu-Heat-bar")).to_have_count(0)
    assert "jp-mlgpu-Heat" not in (lab.server.root / "gutter_off.ipynb").read_text()


def test_cells_are_filtered_by_what_they_spent_their_time_on(lab: Lab) -> None:
    open_saved(lab, "filtered.ipynb")
    expect(lab.records).to_have_count(2)
    lab.sidebar.get_by_role("button", name="Filters").click()
    lab.sidebar.get_by_role("combobox", name="Spent its time on").select_option("preparing input")
    expect(lab.records).to_have_count(1)
    expect(lab.records.first).to_contain_text("14.7 s")


def test_a_line_leads_to_its_place_with_a_click_or_with_enter_also_in_another_cell(lab: Lab) -> None:
    open_saved(lab, "lines.ipynb")
    receipt = lab.receipts.nth(1)
    receipt.get_by_role("button").click()
    receipt.get_by_role("button", name="line 4", exact=True).click()
    lab.page.wait_for_function("() => jupyterapp.shell.currentWidget.content.mode === 'edit'")
    assert cursor(lab) == (1, 3, 4)
    receipt.get_by_role("button", name="[3] line 2", exact=True).focus()
    lab.page.keyboard.press("Enter")
    lab.page.wait_for_function("() => jupyterapp.shell.currentWidget.content.activeCellIndex === 0")
    expect(lab.cell(0).locator(".cm-content")).to_be_focused()
    assert cursor(lab) == (0, 1, 0)
    lab.page.keyboard.type("# ")
    expect(lab.cell(0)).to_contain_text("# def batches():")


def test_the_sidebar_has_the_kind_in_its_list_and_the_rest_on_the_cells_page(lab: Lab) -> None:
    open_saved(lab, "listed_limit.ipynb")
    row = lab.records.first
    cause = row.locator(".jp-mlgpu-Cause")
    expect(cause).to_have_text("preparing input")
    expect(cause).to_have_attribute("title", "about 90 % preparing input")
    expect(row.locator(".jp-mlgpu-Record-facts")).to_have_text("ran on cpu:0 · peak memory 512 MiB")
    expect(lab.sidebar.locator(".jp-mlgpu-NotebookAnswer")).to_have_text(
        re.compile(r"^About \d+ % of 15\.\d s was preparing input")
    )
    row.get_by_role("button", name="Details").click()
    page = lab.sidebar.locator(".jp-mlgpu-Page")
    expect(page.get_by_role("group", name="What limits it")).to_contain_text("Waited 86 %")
    expect(page.get_by_role("rowheader", name="[3] line 2")).to_contain_text("def batches():")
    # Edited, a cell has other lines: the page leads there, and shows none of them.
    lab.page.evaluate(
        "() => jupyterapp.shell.currentWidget.content.widgets[1].model.sharedModel.setSource('a')"
    )
    page.get_by_role("button", name="Back to the cells").click()
    row.get_by_role("button", name="Details").click()
    expect(page.get_by_role("rowheader", name="line 4")).to_contain_text(
        "has since been run again or changed"
    )
    page.get_by_role("button", name="line 4", exact=True).click()
    expect(lab.cell(1).locator(".cm-content")).to_be_focused()


def test_where_the_limit_is_not_known_the_opened_receipt_says_why(lab: Lab) -> None:
    why = say("The cell took {time}, which is too short to tell.", time="12 ms")
    lab.write_with_receipts("no_limit.ipynb", bundle(replace(example_record(), why_no_limit=why)))
    lab.open_without_kernel("no_limit.ipynb")
    line = lab.receipts.first.get_by_role("button")
    expect(line).to_have_text("500 ms · ran on cpu:0 · peak memory 512 MiB")
    line.click()
    lab.receipts.first.get_by_text("Not measured (5)").click()
    expect(lab.receipts.first).to_contain_text(
        "What limits this cell is not known. The cell took 12 ms, which is too short to tell."
    )
    expect(lab.receipts.first.get_by_role("table", name="Lines of code")).to_have_count(0)


@pytest.mark.slow
def test_why_shows_the_whole_reasoning_under_its_cell(lab: Lab, tmp_path: Path) -> None:
    other = Run("f" * 32, "other.ipynb", "0" * 12)
    open_with(lab, "why.ipynb", [replace(limited_record(7), run=other)], tmp_path, "%mlc_trace why 7")
    lab.run_to_end(2)
    page = lab.cell(2).get_by_role("group", name="Why cell [7] took 14.7 s")
    expect(page.locator("p").first).to_have_text(
        "Waited 86 % of the time: the GPU had 2.0 s of work in 14.7 s."
    )
    expect(page.get_by_role("table")).to_have_count(2)
    page.get_by_text("What else is known").click()
    expect(page.get_by_role("row").filter(has_text="Energy")).to_contain_text("Not measured here.")


@pytest.mark.slow
def test_a_chinese_jupyterlab_says_the_limit_in_chinese(lab: Lab, chinese: None) -> None:
    lab.write_with_receipts("chinese_limit.ipynb", bundle(limited_record(confidence="likely")))
    lab.load("chinese_limit.ipynb")
    lab.page.get_by_role("dialog").get_by_role("button").first.click()
    lab.wait_for_notebook()
    line = lab.receipts.first.get_by_role("button").first
    expect(line).to_contain_text("· 约 90 % 准备输入 ·")
    line.click()
    expect(lab.receipts.first.get_by_role("table", name="代码行")).to_contain_text("第 4 行")
