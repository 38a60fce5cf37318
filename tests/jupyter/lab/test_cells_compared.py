"""Runs of one cell beside each other, and two records compared, with a kernel and without one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Locator, expect

from tests.jupyter.lab.listed import LOAD, open_saved, record, some_records

if TYPE_CHECKING:
    from tests.jupyter.lab.conftest import Lab

# -- runs of one cell -------------------------------------------------------------------------------


def test_runs_of_a_cell_form_a_trend_that_is_told_of_the_record_pointed_at(lab: Lab) -> None:
    lab.write("cells_trend.ipynb", LOAD, "n = n + 1 if 'n' in globals() else 0\nassert n != 1")
    lab.open("cells_trend.ipynb")
    for index in (0, 1, 1, 1):
        lab.run_to_end(index)
    expect(lab.records).to_have_count(3)
    lab.records.first.hover()
    trend = lab.sidebar.locator(".jp-mlgpu-Trend")
    expect(trend).to_contain_text("3 runs")
    expect(trend).to_contain_text("failed: 1")
    picture = trend.get_by_role("img", name="Wall times of the runs, oldest first")
    expect(picture).to_have_accessible_name(re.compile(r"first: [^,]+, [^,]+ \(error\), [^,(]+$"))
    expect(picture.locator("rect")).to_have_count(3)
    expect(picture.locator("rect[data-kind=error]")).to_have_count(1)
    lab.records.first.get_by_role("button", name="Details").click()
    expect(lab.sidebar.locator(".jp-mlgpu-Page .jp-mlgpu-Trend")).to_contain_text("3 runs")


def test_profiled_runs_are_in_no_trend(lab: Lab) -> None:
    records = [
        record(1, "fit()", wall=1.0, code="a"),
        record(2, "fit()", wall=1.5, code="a"),
        record(3, "fit()", wall=99.0, code="a", mode="profiled"),
    ]
    open_saved(lab, "cells_trend_saved.ipynb", records)
    lab.records.nth(0).hover()
    expect(lab.sidebar.locator(".jp-mlgpu-Trend")).to_contain_text("2 runs · 1 s to 1.5 s")
    expect(lab.records.nth(0).locator(".jp-mlgpu-Record-figure")).to_have_text("profiled")
    expect(lab.sidebar.locator(".jp-mlgpu-PointedRecord")).to_contain_text("1 min 39 s, with the profiler on")


# -- comparing --------------------------------------------------------------------------------------


def test_two_cells_are_compared_as_the_magic_compares_them(lab: Lab) -> None:
    lab.write(
        "cells_compare.ipynb", LOAD, "a = sum(range(1000))", "b = sum(range(2000))", "%mlc_trace compare 2 6"
    )
    lab.open("cells_compare.ipynb")
    lab.run_to_end(0)
    for index in (1, 1, 1, 1, 2, 2, 2, 2):
        lab.run_to_end(index)
    expect(lab.records).to_have_count(8)
    lab.records.last.get_by_role("checkbox").check()
    expect(lab.sidebar.get_by_text("1 selected: select another")).to_be_visible()
    lab.records.first.get_by_role("checkbox").check()
    lab.sidebar.get_by_role("button", name="Compare").click()
    page = lab.sidebar.get_by_role("region", name="Comparison")
    expect(page.get_by_role("listitem").first).to_contain_text("a = sum(range(1000))")
    # The quicker of the two comes first.
    table = page.get_by_role("table", name=re.compile(r"^\w = sum\(range\(\d000\)\) . \w = sum"))
    expect(table).to_contain_text("4 runs")
    told = page.locator(".jp-mlgpu-Comparison-headline")
    expect(told).to_have_text(re.compile(r"^(It is unclear if )?\[\d+\] (took|and).*4 and 4 runs"))
    cut = "cells => cells.filter(one => one.scrollWidth > one.clientWidth).map(one => one.textContent)"
    assert table.get_by_role("cell").evaluate_all(cut) == []
    shown = wall_time(table)
    lab.run_to_end(3)
    assert wall_time(lab.page.locator(".jp-OutputArea table")) == shown
    ratio = r"[0-9.,]+ \[[0-9.,]+ to [0-9.,]+\]"
    assert re.fullmatch(ratio, shown[2]) or "approximate" in shown[3]
    page.get_by_role("button", name="Back to the list").click()
    expect(lab.records.first.get_by_role("checkbox")).to_be_checked()


def wall_time(table: Locator) -> list[str]:
    """What a comparison's first row says: both sides, the ratio, and the verdict."""
    row = table.get_by_role("row").nth(1)
    assert row.get_by_role("rowheader").inner_text() == "Wall time"
    return row.get_by_role("cell").all_inner_texts()


@pytest.mark.slow
def test_two_runs_of_one_cell_are_judged_approximately_and_newer_runs_are_asked_for_at_the_users_wish(
    lab: Lab,
) -> None:
    lab.write("cells_two_runs.ipynb", LOAD, "a = 1", "b = 2")
    lab.open("cells_two_runs.ipynb")
    for index in (0, 1, 2):
        lab.run_to_end(index)
    expect(lab.records).to_have_count(2)
    for row in (lab.records.nth(0), lab.records.nth(1)):
        row.get_by_role("checkbox").check()
    lab.sidebar.get_by_role("button", name="Compare").click()
    page = lab.sidebar.get_by_role("region", name="Comparison")
    expect(page.get_by_role("table")).to_contain_text("approximate")
    expect(page).to_contain_text(re.compile("one run each, so this is approximate."))
    expect(page).to_contain_text(re.compile(r"about [0-9.]+"))
    for index in (1, 2, 1, 2, 1, 2):
        lab.run_to_end(index)
    expect(page).to_contain_text("There are newer runs.")
    expect(lab.sidebar.get_by_role("tab", name="Cells 8")).to_be_visible()
    expect(page.get_by_role("table")).to_contain_text("approximate")
    page.get_by_role("button", name="Compare again").click()
    expect(page).to_contain_text("4 runs")
    expect(page).not_to_contain_text("There are newer runs.")


@pytest.mark.slow
def test_two_cells_are_run_more_often_at_a_click_and_compared_again(lab: Lab) -> None:
    lab.write("cells_again.ipynb", LOAD, "a = sum(range(1000))", "b = sum(range(200_000))")
    lab.open("cells_again.ipynb")
    for index in (0, 1, 2):
        lab.run_to_end(index)
    page = compare(lab)
    told = page.locator(".jp-mlgpu-Comparison-headline")
    expect(told).to_have_text(re.compile(r"times as long as \[\d\]; one run each, so this is approximate.$"))
    page.get_by_role("button", name="Run 4 more times").click()
    expect(told).to_have_text(re.compile("5 and 5 runs"), timeout=30_000)
    expect(lab.sidebar.get_by_role("tab", name="Cells 10")).to_be_visible()
    expect(page).not_to_contain_text("There are newer runs.")
    expect(page.get_by_role("button", name="Run 4 more times")).to_be_visible()


@pytest.mark.slow
def test_a_cell_that_is_not_there_as_it_ran_is_not_run_again(lab: Lab) -> None:
    lab.write("cells_changed.ipynb", LOAD, "a = sum(range(1000))", "b = sum(range(2000))")
    lab.open("cells_changed.ipynb")
    for index in (0, 1, 2):
        lab.run_to_end(index)
    page = compare(lab)
    again = page.get_by_role("button", name="Run 4 more times")
    expect(again).to_be_visible()
    lab.page.evaluate(
        "() => jupyterapp.shell.currentWidget.content.widgets[1].model.sharedModel.setSource('a = 2')"
    )
    again.click()
    expect(page).to_contain_text("These cells cannot be run again from here")
    expect(again).to_have_count(0)
    expect(lab.records).to_have_count(0)
    assert (
        lab.page.evaluate("() => jupyterapp.shell.currentWidget.content.widgets[2].model.executionCount") == 3
    )


def compare(lab: Lab) -> Locator:
    """Have the two records of the list compared."""
    expect(lab.records).to_have_count(2)
    for row in (lab.records.nth(0), lab.records.nth(1)):
        row.get_by_role("checkbox").check()
    lab.sidebar.get_by_role("button", name="Compare").click()
    return lab.sidebar.get_by_role("region", name="Comparison")


def test_without_a_kernel_records_are_compared_as_their_kernel_would(lab: Lab) -> None:
    open_saved(lab, "cells_side_by_side.ipynb", some_records())
    lab.records.nth(1).get_by_role("checkbox").check()
    lab.records.nth(2).get_by_role("checkbox").check()
    lab.sidebar.get_by_role("button", name="Compare").click()
    page = lab.sidebar.get_by_role("region", name="Comparison")
    expect(page.locator(".jp-mlgpu-Comparison-headline")).to_have_text(
        "The times of [2] and [3] cannot be compared."
    )
    wall = page.get_by_role("row").filter(has_text="Wall time")
    expect(wall).to_contain_text("3 s (1 run)")
    expect(wall).to_contain_text("not measured")
    expect(page).to_contain_text("One side has no successful light run, so it has no timing.")
    expect(wall.get_by_role("cell").nth(2)).to_have_text("")
    expect(page.get_by_role("button", name="Run 4 more times")).to_have_count(0)


def test_without_a_kernel_the_ratio_is_told_too(lab: Lab) -> None:
    open_saved(lab, "cells_ratio.ipynb", [record(1, "a()", wall=0.01), record(2, "b()", wall=2.41)])
    told = compare(lab).locator(".jp-mlgpu-Comparison-headline")
    expect(told).to_have_text("[2] took 241 times as long as [1]; one run each, so this is approximate.")


@pytest.mark.slow
def test_records_that_are_cleared_while_they_are_compared_lead_back_to_the_list(lab: Lab) -> None:
    lab.write("cells_cleared.ipynb", LOAD, "a = 1", "b = 2", "%mlc_trace clear")
    lab.open("cells_cleared.ipynb")
    for index in (0, 1, 2):
        lab.run_to_end(index)
    expect(lab.records).to_have_count(2)
    for row in (lab.records.nth(0), lab.records.nth(1)):
        row.get_by_role("checkbox").check()
    lab.sidebar.get_by_role("button", name="Compare").click()
    expect(lab.sidebar.get_by_role("region", name="Comparison")).to_contain_text("approximate")
    lab.run_to_end(3)
    expect(lab.sidebar.get_by_role("region", name="Comparison")).to_have_count(0)
