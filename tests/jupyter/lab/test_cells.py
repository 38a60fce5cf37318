"""The list of records: finding, sorting and grouping them, with a kernel and without one."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace
from playwright.sync_api import FloatRect, Locator, expect

from jupyter_mlgpu.record.record import DeviceUse, RanOn
from jupyter_mlgpu.show.receipts.bundle import bundle
from tests.jupyter.lab.listed import (
    FILTERS,
    LOAD,
    group,
    names,
    open_saved,
    open_with,
    record,
    some_records,
    sort,
    unfold,
)

if TYPE_CHECKING:
    from tests.jupyter.lab.conftest import Lab

MARKED = re.compile("jp-mlgpu-MarkedCell")
MARKUP = '<img src=x onerror="window.pwned = 1"><b>bold</b>'


@pytest.fixture(params=[pytest.param("live kernel", marks=pytest.mark.slow), "no kernel"])
def with_records(request: pytest.FixtureRequest, lab: Lab, tmp_path: Path) -> Lab:
    """The same records from a live kernel and from a saved notebook without one."""
    if request.param == "live kernel":
        open_with(lab, "cells_live.ipynb", some_records(), tmp_path)
    else:
        open_saved(lab, "cells_saved.ipynb", some_records())
    expect(names(lab)).to_have_text(["plot()", "model.predict(x)", "model.fit(x, y)", "load()"])
    return lab


# -- the list -------------------------------------------------------------------------------------


FACTS = "GPU busy 67 % · ran on gpu:0 · peak memory 700 MiB"


def test_a_record_is_one_line_with_its_count_its_title_and_its_time(with_records: Lab) -> None:
    lab = with_records
    fit = lab.records.nth(2)
    expect(fit.locator(".jp-mlgpu-Count")).to_have_text(re.compile(r"\[\d+\]"))
    expect(fit.locator(".jp-mlgpu-Record-figure")).to_have_text("3 s")
    expect(lab.sidebar.get_by_role("tabpanel")).not_to_contain_text("not measured")
    heights = {box(row)["height"] for row in lab.records.all()}
    assert len(heights) == 1
    assert 24 <= heights.pop() <= 28


def test_where_it_ran_and_its_memory_are_told_of_the_record_under_the_pointer(with_records: Lab) -> None:
    lab = with_records
    lab.records.nth(2).hover()
    expect(told(lab)).to_contain_text(FACTS)
    before = told(lab).bounding_box()
    lab.records.first.hover()
    expect(told(lab)).to_contain_text("Memory grows.")
    assert told(lab).bounding_box() == before


def test_what_a_line_has_no_room_for_is_told_to_the_keyboard_and_to_who_listens(with_records: Lab) -> None:
    lab = with_records
    button = lab.records.nth(2).get_by_role("button", name="model.fit(x, y)")
    expect(button).to_have_accessible_name(re.compile(rf"model\.fit\(x, y\) .*{re.escape(FACTS)} 3 s"))
    lab.records.nth(1).get_by_role("button", name="model.predict(x)").focus()
    lab.page.keyboard.press("ArrowDown")
    expect(button).to_be_focused()
    expect(told(lab)).to_contain_text(FACTS)


def test_where_the_sidebar_is_wide_the_line_has_room_for_it(with_records: Lab) -> None:
    lab = with_records
    facts = lab.records.nth(2).locator(".jp-mlgpu-Record-facts")
    assert box(facts)["width"] <= 1
    with lab.sidebar_of(900):
        expect(facts).to_have_css("position", "static")
        assert box(facts)["width"] > 100


def test_where_the_sidebar_is_wide_all_bars_begin_at_one_place_whatever_is_marked(with_records: Lab) -> None:
    lab = with_records
    bars = lab.records.locator(".jp-mlgpu-Record-bar")
    with lab.sidebar_of(900):
        expect(bars.first).to_have_css("width", "72px")
        lefts = {round(box(bar)["x"]) for bar in bars.all()}
    marked = lab.records.locator(".jp-mlgpu-Record-marks > *")
    assert 0 < marked.count() < bars.count(), "all are marked alike"
    assert len(lefts) == 1, lefts


def box(one: Locator) -> FloatRect:
    """Where it is in the page; it has to be there."""
    found = one.bounding_box()
    assert found is not None
    return found


def told(lab: Lab) -> Locator:
    """Where the sidebar says more of the record that is pointed at or in focus."""
    return lab.sidebar.locator(".jp-mlgpu-PointedRecord")


def test_twenty_records_fit_where_seven_cards_did(lab: Lab) -> None:
    open_saved(lab, "cells_twenty.ipynb", (record(number, f"step({number})") for number in range(1, 31)))
    last_of_twenty = lab.records.nth(19)
    expect(last_of_twenty).to_be_visible()
    first, last = box(lab.records.first), box(last_of_twenty)
    height = last["y"] + last["height"] - first["y"]
    assert height < 7 * 111
    assert height < box(lab.sidebar)["height"]


def test_the_bars_of_all_records_have_one_scale_which_is_that_of_the_figure_they_are_sorted_by(
    with_records: Lab,
) -> None:
    lab = with_records
    expect(lab.sidebar).to_contain_text("Scale: 3 s")
    assert bars(lab) == pytest.approx([100 / 30, 100 / 3, 100, 200 / 30], rel=0.01)
    sort(lab, "Peak memory")
    expect(lab.sidebar).to_contain_text("Scale: 900 MiB")
    expect(lab.records.first.locator(".jp-mlgpu-Record-figure")).to_have_text("900 MiB")
    assert bars(lab)[0] == 100
    sort(lab, "GPU busy time")
    expect(lab.records.last.locator(".jp-mlgpu-Record-figure")).to_have_text("not measured")
    assert bars(lab)[-1] == 0


def bars(lab: Lab) -> list[float]:
    """How long the bar of each record is, of 100."""
    found: list[float] = lab.sidebar.locator(".jp-mlgpu-Record-bar").evaluate_all(
        "bars => bars.map(bar => parseFloat(bar.style.backgroundSize))"
    )
    return found


def test_records_are_sorted_by_a_figure_and_those_without_it_stand_last(with_records: Lab) -> None:
    lab = with_records
    sort(lab, "Wall time")
    expect(names(lab)).to_have_text(["model.fit(x, y)", "model.predict(x)", "load()", "plot()"])
    sort(lab, "Peak memory")
    expect(names(lab)).to_have_text(["load()", "model.predict(x)", "model.fit(x, y)", "plot()"])
    sort(lab, "GPU busy time")
    expect(names(lab)).to_have_text(["model.fit(x, y)", "load()", "plot()", "model.predict(x)"])
    expect(lab.sidebar).to_contain_text("Not measured, listed last: 2")
    sort(lab, "Energy")
    expect(names(lab).first).to_have_text("model.predict(x)")
    sort(lab, "Oldest")
    expect(names(lab).first).to_have_text("load()")
    expect(lab.sidebar).not_to_contain_text("so last")


def test_filters_are_folded_away_until_asked_for(with_records: Lab) -> None:
    lab = with_records
    button = lab.sidebar.get_by_role("button", name=FILTERS)
    expect(button).to_have_attribute("aria-expanded", "false")
    expect(lab.sidebar.get_by_label("Device it ran on")).to_have_count(0)
    button.click()
    lab.sidebar.get_by_label("Device it ran on").select_option("gpu:0")
    expect(names(lab)).to_have_text(["model.predict(x)", "model.fit(x, y)"])
    lab.sidebar.get_by_role("button", name="error 1").click()
    expect(names(lab)).to_have_text(["model.predict(x)"])
    expect(lab.sidebar).to_contain_text("1 of 4 receipts")
    button.click()
    expect(button).to_have_accessible_name("Filters and groups: 2 set")
    expect(names(lab)).to_have_text(["model.predict(x)"])
    lab.sidebar.get_by_role("button", name="Clear the filters").click()
    expect(lab.records).to_have_count(4)


def test_records_with_notes_alone_can_be_shown(with_records: Lab) -> None:
    unfold(with_records)
    with_records.sidebar.get_by_role("button", name="With messages").click()
    expect(names(with_records)).to_have_text(["plot()"])


def test_titles_are_searched_while_one_types(with_records: Lab) -> None:
    lab = with_records
    lab.sidebar.get_by_label("Find a cell").press_sequentially("MODEL.")
    expect(names(lab)).to_have_text(["model.predict(x)", "model.fit(x, y)"])
    lab.page.keyboard.type("nothing")
    expect(lab.sidebar).to_contain_text("No receipts match.")
    expect(lab.sidebar.get_by_label("Find a cell")).to_be_focused()


@pytest.mark.slow
def test_profiled_records_can_be_left_out(lab: Lab, tmp_path: Path) -> None:
    records = [record(1, "a()"), record(2, "b()", wall=9.0, mode="profiled")]
    open_with(lab, "cells_profiled.ipynb", records, tmp_path)
    expect(lab.sidebar).to_contain_text("Scale: 500 ms")
    unfold(lab)
    lab.sidebar.get_by_label("With or without a profiler").select_option("Not profiled")
    expect(names(lab)).to_have_text(["a()"])
    lab.sidebar.get_by_label("With or without a profiler").select_option("Profiled")
    expect(names(lab)).to_have_text(["b()"])


def test_what_was_chosen_is_still_there_when_the_sidebar_comes_back(with_records: Lab) -> None:
    lab = with_records
    sort(lab, "Wall time")
    lab.page.evaluate("() => jupyterapp.shell.collapseRight()")
    expect(lab.sidebar).to_be_hidden()
    lab.show_sidebar()
    expect(lab.sidebar.get_by_label("Sort by")).to_have_value("wall")
    expect(names(lab).first).to_have_text("model.fit(x, y)")


# -- groups ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_runs_of_the_kernel_are_groups_that_can_be_closed(lab: Lab, tmp_path: Path) -> None:
    open_with(lab, "cells_groups.ipynb", some_records(), tmp_path, "own = 1")
    lab.run_to_end(2)
    unfold(lab)
    group(lab, "Group by run")
    headings = lab.sidebar.get_by_role("heading", level=4)
    expect(headings).to_have_count(2)
    expect(headings.first).to_contain_text("this kernel")
    expect(headings.last).to_contain_text("loaded from a file · lesson.ipynb")
    loaded = headings.last.get_by_role("button")
    loaded.click()
    expect(loaded).to_have_attribute("aria-expanded", "false")
    expect(names(lab).filter(has_text="plot()")).to_have_count(0)
    loaded.press("Enter")
    expect(names(lab).filter(has_text="plot()")).to_have_count(1)


def test_runs_of_one_cell_are_a_group_with_their_trend(lab: Lab, tmp_path: Path) -> None:
    records = [
        record(1, "fit()", wall=1.0, code="a"),
        record(2, "plot()"),
        record(3, "fit()", wall=2.0, code="a"),
    ]
    open_saved(lab, "cells_by_cell.ipynb", records)
    unfold(lab)
    group(lab, "Group by cell")
    expect(names(lab)).to_have_text(["fit()", "fit()", "plot()"])
    heading = lab.sidebar.locator(".jp-mlgpu-HeadingRow").first
    expect(heading.get_by_role("button")).to_contain_text("fit()")
    expect(heading).to_contain_text("2 runs · 1 s to 2 s")
    assert box(heading)["height"] == box(lab.records.first)["height"]


# -- between the notebook and the list --------------------------------------------------------------


def test_a_cell_under_the_pointer_marks_its_record_and_a_record_its_cell(lab: Lab) -> None:
    open_saved(lab, "cells_pointer.ipynb", some_records())
    lab.cell(1).hover()
    marked = lab.sidebar.locator(".jp-mlgpu-Record[aria-current]")
    expect(marked.locator(".jp-mlgpu-Name")).to_have_text(["model.fit(x, y)"])
    lab.records.last.hover()
    expect(lab.cell(0)).to_have_class(MARKED)
    expect(lab.cell(1)).not_to_have_class(MARKED)
    lab.sidebar.get_by_label("Sort by").hover()
    expect(lab.page.locator(".jp-mlgpu-MarkedCell")).to_have_count(0)


def test_the_cell_with_the_cursor_marks_its_record(lab: Lab) -> None:
    lab.write("cells_cursor.ipynb", LOAD, "a = 1", "b = 2")
    lab.open("cells_cursor.ipynb")
    for index in range(3):
        lab.run_to_end(index)
    current = lab.sidebar.locator(".jp-mlgpu-Record[aria-current]")
    lab.cell(1).locator(".cm-content").click()
    lab.sidebar.get_by_role("heading", name="Receipts 2").hover()
    expect(current.locator(".jp-mlgpu-Name")).to_have_text(["a = 1"])
    lab.page.keyboard.press("Escape")
    lab.page.keyboard.press("ArrowDown")
    expect(current.locator(".jp-mlgpu-Name")).to_have_text(["b = 2"])


@pytest.mark.slow
def test_a_record_in_focus_marks_its_cell_and_a_hidden_sidebar_marks_nothing(lab: Lab) -> None:
    lab.write("cells_marks.ipynb", LOAD, "a = 1", "b = 2")
    lab.open("cells_marks.ipynb")
    for index in range(3):
        lab.run_to_end(index)
    expect(lab.records).to_have_count(2)
    lab.records.first.get_by_role("button", name="b = 2").focus()
    expect(lab.cell(2)).to_have_class(MARKED)
    lab.page.keyboard.press("ArrowDown")
    expect(lab.cell(1)).to_have_class(MARKED)
    expect(lab.cell(2)).not_to_have_class(MARKED)
    lab.page.evaluate("() => jupyterapp.shell.collapseRight()")
    expect(lab.page.locator(".jp-mlgpu-MarkedCell")).to_have_count(0)


def test_a_notebook_that_is_closed_under_the_pointer_breaks_nothing(lab: Lab) -> None:
    open_saved(lab, "cells_closing.ipynb", some_records())
    broken: list[str] = []
    lab.page.on("pageerror", lambda error: broken.append(str(error)))
    lab.cell(1).hover()
    expect(lab.sidebar.locator("[aria-current]")).to_have_count(1)
    lab.page.evaluate("() => jupyterapp.shell.currentWidget.dispose()")
    expect(lab.sidebar).to_contain_text("Open a notebook")
    assert broken == []


def test_a_third_record_takes_the_place_of_the_first_selected(with_records: Lab) -> None:
    boxes = with_records.sidebar.get_by_role("checkbox")
    for index in (0, 1, 2):
        boxes.nth(index).check()
    expect(with_records.sidebar.get_by_role("checkbox", checked=True)).to_have_count(2)
    expect(boxes.nth(0)).not_to_be_checked()
    with_records.sidebar.get_by_role("button", name="Clear selection").click()
    expect(with_records.sidebar.get_by_role("checkbox", checked=True)).to_have_count(0)


# -- people and strangers ---------------------------------------------------------------------------


def test_with_the_keyboard_alone_one_sorts_moves_selects_compares_and_comes_back(with_records: Lab) -> None:
    lab = with_records
    press = lab.page.keyboard.press
    lab.sidebar.get_by_label("Find a cell").focus()
    press("Tab")
    expect(lab.sidebar.get_by_label("Sort by")).to_be_focused()
    press("Tab")
    expect(lab.sidebar.get_by_role("button", name=FILTERS)).to_be_focused()
    press("Tab")
    expect(lab.records.first.get_by_role("checkbox")).to_be_focused()
    press("ArrowDown")
    expect(lab.records.nth(1).get_by_role("button", name="model.predict(x)")).to_be_focused()
    press("Space")
    press("ArrowDown")
    press("Space")
    expect(lab.sidebar.get_by_role("checkbox", checked=True)).to_have_count(2)
    expect(lab.records.nth(2).get_by_role("button", name="model.fit(x, y)")).to_be_focused()
    lab.sidebar.get_by_role("button", name="Compare").focus()
    press("Enter")
    expect(lab.sidebar.get_by_role("button", name="Back to the list")).to_be_focused()
    press("Enter")
    expect(lab.records.nth(1).get_by_role("button", name="model.predict(x)")).to_be_focused()


def test_strangers_names_are_text_wherever_they_are_shown(lab: Lab) -> None:
    hostile = DeviceUse({MARKUP: MARKUP}, (RanOn(MARKUP, MARKUP, MARKUP, MARKUP, 1, 1.0),))
    records = [
        replace(record(number, MARKUP, code="a"), device=hostile, versions={MARKUP: str(number)})
        for number in (1, 2)
    ]
    open_saved(lab, "cells_hostile.ipynb", records)
    unfold(lab)
    lab.sidebar.get_by_label("Device it ran on").select_option(MARKUP)
    group(lab, "Group by cell")
    boxes = lab.sidebar.get_by_role("checkbox")
    expect(boxes).to_have_count(2)
    for box in boxes.all():
        box.check()
    lab.sidebar.get_by_role("button", name="Compare").click()
    expect(lab.sidebar.get_by_role("region", name="Comparison").get_by_role("table")).to_contain_text(
        "<b>bold</b>"
    )
    assert lab.sidebar.locator("img[src], b:has-text('bold'), script").count() == 0
    assert lab.page.evaluate("() => window.pwned") is None


def test_a_notebook_that_holds_a_receipt_twice_shows_it_once(lab: Lab) -> None:
    path_bundle = bundle(record(1, "twice()"))
    lab.write_with_receipts("cells_twice.ipynb", path_bundle, bundle(record(2, "once()")))
    add_outputs(lab.server.root / "cells_twice.ipynb", path_bundle)
    lab.open_without_kernel("cells_twice.ipynb")
    expect(lab.sidebar.get_by_role("heading", name="From the saved notebook 2")).to_be_visible()
    expect(names(lab)).to_have_text(["once()", "twice()"])


@pytest.mark.parametrize("page_shown", ["list", "filters", "comparison"])
def test_nothing_is_cut_off_where_the_sidebar_is_240_pixels_wide(with_records: Lab, page_shown: str) -> None:
    lab = with_records
    lab.sidebar.evaluate("panel => { panel.style.minWidth = '0'; panel.style.width = '240px'; }")
    if page_shown != "list":
        unfold(lab)
    if page_shown == "comparison":
        for index in (1, 2):
            lab.sidebar.get_by_role("checkbox").nth(index).check()
        lab.sidebar.get_by_role("button", name="Compare").click()
        # The kernel's own page has a table for each part, the sidebar's one alone.
        compared = lab.sidebar.get_by_role("region", name="Comparison")
        expect(compared.get_by_role("table").first).to_be_visible()
    assert lab.sidebar.evaluate(OVERFLOWING) == []


#: Parts of the panel that are wider than the room they have, but for texts that end in three dots.
OVERFLOWING = """
panel => {
    const room = panel.getBoundingClientRect();
    return [...panel.querySelectorAll('*')]
        .filter(one => {
            const box = one.getBoundingClientRect();
            return box.width > 1 && (box.right > room.left + 240.5 || box.left < room.left - 0.5);
        })
        .map(one => one.className || one.tagName);
}
"""


def add_outputs(path: Path, data: dict[str, Any]) -> None:
    """The same output a second time in the first cell."""
    notebook = json.loads(path.read_text())
    notebook["cells"][0]["outputs"].append({"output_type": "display_data", "metadata": {}, "data": data})
    path.write_text(json.dumps(notebook))


@pytest.mark.slow
def test_two_thousand_records_are_sorted_and_few_of_them_in_the_page(lab: Lab) -> None:
    lab.write("cells_many.ipynb", SEND_2_000_RECORDS)
    lab.open("cells_many.ipynb")
    lab.run_to_end(0)
    expect(lab.sidebar.get_by_role("heading", name="Receipts 2,000")).to_be_visible()
    sort(lab, "Wall time")
    expect(names(lab).first).to_have_text("step 1999")
    unfold(lab)
    group(lab, "Group by cell")
    expect(lab.sidebar.locator(".jp-mlgpu-HeadingRow").first).to_be_visible()
    lab.sidebar.get_by_label("Find a cell").press_sequentially("step 42")
    expect(lab.sidebar).to_contain_text("11 of 2,000 receipts")
    assert lab.records.count() < 60
    with lab.sidebar_of(240):
        heights = {box(tab)["height"] for tab in lab.sidebar.get_by_role("tab").all()}
    assert len(heights) == 1, "a badge stands below its tab's name"
    assert heights.pop() < 36


#: A kernel that speaks our protocol without the extension, so that 2,000 cells need not be run.
SEND_2_000_RECORDS = """
from msgspec.structs import replace

from jupyter_mlgpu.record.record import Reading
from jupyter_mlgpu.testing import example_record

def made(number):
    record = example_record(number, name=f"step {number}")
    wall = Reading("wall_time", number / 1000, "s", "cell", "simulated", 1, detail="fake clock")
    cell = replace(record.cell, source_digest=f"{number % 500:016x}")
    return replace(record, cell=cell, readings=(wall, *record.readings[1:])).to_json()

kernel = get_ipython().kernel
for part in range(2):
    events = [
        {"type": "record", "record": made(number)} for number in range(part * 1000, part * 1000 + 1000)
    ]
    delta = {"protocol": 1, "run": "0" * 32, "seq": part + 1, "prev": part, "events": events}
    content = {"comm_id": "jupyter_mlgpu", "data": delta}
    kernel.session.send(kernel.iopub_socket, "comm_msg", content, parent=None)
"""
