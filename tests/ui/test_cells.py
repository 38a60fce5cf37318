"""The list of records: finding, sorting, grouping and comparing them, with a kernel and without one."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Locator, expect

from jupyter_mlgpu.files import save_records
from jupyter_mlgpu.record import DeviceUse, Outcome, RanOn, Reading, Record
from jupyter_mlgpu.render.bundle import bundle
from jupyter_mlgpu.testing import example_record

if TYPE_CHECKING:
    from tests.ui.conftest import Lab

LOAD = "%load_ext jupyter_mlgpu"
FILTERS = re.compile("^Filters")
MARKED = re.compile("jp-mlgpu-MarkedCell")
TIMES = "\N{MULTIPLICATION SIGN}"
MARKUP = '<img src=x onerror="window.pwned = 1"><b>bold</b>'


def record(
    number: int,
    name: str,
    *,
    wall: float = 0.5,
    device: float | None = None,
    memory: int = 512,
    energy: float | None = None,
    ran_on: str = "cpu:0",
    code: str | None = None,
    **changes: Any,
) -> Record:
    """A record with the figures that the list shows; `memory` in MiB. Each has a code of its own."""
    made = example_record(number, name=name)
    figures = {
        "wall_time": Reading("wall_time", wall, "s", "cell", "fake clock", 1),
        "peak_memory_process": Reading(
            "peak_memory_process", memory * 1024**2, "bytes", "process", "fake probe", 1
        ),
    }
    if device is not None:
        figures["device_time"] = Reading("device_time", device, "s", "device", "fake profiler", 1)
    if energy is not None:
        figures["energy"] = Reading("energy", energy, "J", "device", "fake counter", 2)
    kind = "cpu" if ran_on.startswith("cpu") else "cuda"
    cell = dataclasses.replace(made.cell, source_digest=code or f"{number:016x}")
    return dataclasses.replace(
        made,
        cell=cell,
        started_at=f"2026-01-01T00:00:{number:02d}.000000Z",
        device=DeviceUse(None, (RanOn("tensorflow", ran_on, kind, None, 5, 1.0),)),
        readings=tuple(figures.get(one.quantity, one) for one in made.readings),
        **changes,
    )


def some_records() -> list[Record]:
    failed: Outcome = "error"
    return [
        record(1, "load()", wall=0.2, device=0.1, memory=900),
        record(2, "model.fit(x, y)", wall=3.0, device=2.0, memory=700, energy=40.0, ran_on="gpu:0"),
        record(3, "model.predict(x)", wall=1.0, memory=800, energy=90.0, ran_on="gpu:0", outcome=failed),
        record(4, "plot()", wall=0.1, memory=100, notes=("Memory grows.",)),
    ]


def open_with(lab: Lab, name: str, records: Iterable[Record], folder: Path, *codes: str) -> None:
    """A live kernel that has loaded some records; cells with `codes` stand below."""
    file = folder / "records.jsonl"
    save_records(str(file), records)
    lab.write(name, LOAD, f"%mlc_trace load {file}", *codes)
    lab.open(name)
    lab.run_to_end(0)
    lab.run_to_end(1)
    expect(lab.records.first).to_be_visible()


def open_saved(lab: Lab, name: str, records: Iterable[Record]) -> None:
    """A notebook with receipts and no kernel."""
    lab.write_with_receipts(name, *map(bundle, records))
    lab.open_without_kernel(name)
    expect(lab.records.first).to_be_visible()


def names(lab: Lab) -> Locator:
    return lab.records.locator(".jp-mlgpu-Name")


def sort(lab: Lab, by: str) -> None:
    lab.sidebar.get_by_label("Sort by").select_option(label=by)


def unfold(lab: Lab) -> None:
    lab.sidebar.get_by_role("button", name=FILTERS).click()


def group(lab: Lab, by: str) -> None:
    lab.sidebar.get_by_label("Group by").select_option(label=by)


@pytest.fixture(params=["live kernel", "no kernel"])
def with_records(request: pytest.FixtureRequest, lab: Lab, tmp_path: Path) -> Lab:
    """The same records from a live kernel and from a saved notebook without one."""
    if request.param == "live kernel":
        open_with(lab, "cells_live.ipynb", some_records(), tmp_path)
    else:
        open_saved(lab, "cells_saved.ipynb", some_records())
    expect(names(lab)).to_have_text(["plot()", "model.predict(x)", "model.fit(x, y)", "load()"])
    return lab


# -- the list -------------------------------------------------------------------------------------


def test_a_row_tells_both_times_the_place_the_memory_the_energy_and_the_notes(with_records: Lab) -> None:
    fit = with_records.records.nth(2)
    expect(fit.locator("[data-quantity=wall_time]")).to_contain_text("3 s")
    expect(fit.locator("[data-quantity=device_time]")).to_contain_text("2 s")
    expect(fit).to_contain_text("ran on gpu:0 · peak memory 700 MiB · GPU energy 40 J")
    expect(with_records.records.first).to_contain_text("Memory grows.")
    expect(with_records.records.first.locator("[data-quantity=device_time]")).to_contain_text("not measured")


def test_bars_of_all_records_have_one_scale(with_records: Lab) -> None:
    expect(with_records.sidebar).to_contain_text("Full bar: 3 s")
    bars = with_records.sidebar.locator(".jp-mlgpu-Bar")
    full, third = (bars.nth(index).evaluate("bar => parseFloat(bar.style.width)") for index in (2, 1))
    assert full == 100
    assert third == pytest.approx(100 / 3, rel=0.01)


def test_records_are_sorted_by_a_figure_and_those_without_it_stand_last(with_records: Lab) -> None:
    lab = with_records
    sort(lab, "Wall time")
    expect(names(lab)).to_have_text(["model.fit(x, y)", "model.predict(x)", "load()", "plot()"])
    sort(lab, "Peak memory")
    expect(names(lab)).to_have_text(["load()", "model.predict(x)", "model.fit(x, y)", "plot()"])
    sort(lab, "Device time")
    expect(names(lab)).to_have_text(["model.fit(x, y)", "load()", "plot()", "model.predict(x)"])
    expect(lab.sidebar).to_contain_text("Not measured, and so last: 2")
    sort(lab, "Energy")
    expect(names(lab).first).to_have_text("model.predict(x)")
    sort(lab, "Oldest first")
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
    expect(lab.sidebar).to_contain_text("1 of 4 records")
    button.click()
    expect(button).to_have_accessible_name("Filters and groups: 2 set")
    expect(names(lab)).to_have_text(["model.predict(x)"])
    lab.sidebar.get_by_role("button", name="Clear the filters").click()
    expect(lab.records).to_have_count(4)


def test_records_with_notes_alone_can_be_shown(with_records: Lab) -> None:
    unfold(with_records)
    with_records.sidebar.get_by_role("button", name="With notes").click()
    expect(names(with_records)).to_have_text(["plot()"])


def test_the_first_lines_are_searched_while_one_types(with_records: Lab) -> None:
    lab = with_records
    lab.sidebar.get_by_label("Find a cell").press_sequentially("MODEL.")
    expect(names(lab)).to_have_text(["model.predict(x)", "model.fit(x, y)"])
    lab.page.keyboard.type("nothing")
    expect(lab.sidebar).to_contain_text("No record matches.")
    expect(lab.sidebar.get_by_label("Find a cell")).to_be_focused()


def test_profiled_records_can_be_left_out(lab: Lab, tmp_path: Path) -> None:
    records = [record(1, "a()"), record(2, "b()", wall=9.0, mode="profiled")]
    open_with(lab, "cells_profiled.ipynb", records, tmp_path)
    expect(lab.sidebar).to_contain_text("Full bar: 500 ms")
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
    expect(lab.records.locator(".jp-mlgpu-Trend")).to_have_count(0)


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
    lab.sidebar.get_by_role("heading", name="Records 2").hover()
    expect(current.locator(".jp-mlgpu-Name")).to_have_text(["a = 1"])
    lab.page.keyboard.press("Escape")
    lab.page.keyboard.press("ArrowDown")
    expect(current.locator(".jp-mlgpu-Name")).to_have_text(["b = 2"])


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


# -- runs of one cell -------------------------------------------------------------------------------


def test_runs_of_a_cell_form_a_trend_that_its_newest_record_tells(lab: Lab) -> None:
    lab.write("cells_trend.ipynb", LOAD, "n = n + 1 if 'n' in globals() else 0\nassert n != 1")
    lab.open("cells_trend.ipynb")
    for index in (0, 1, 1, 1):
        lab.run_to_end(index)
    expect(lab.records).to_have_count(3)
    expect(lab.sidebar.locator(".jp-mlgpu-Trend")).to_have_count(1)
    newest = lab.records.first
    expect(newest).to_contain_text("3 runs")
    expect(newest).to_contain_text("failed: 1")
    picture = newest.get_by_role("img", name="Wall times of the runs, oldest first")
    expect(picture).to_have_accessible_name(re.compile(r"first: [^,]+, [^,]+ \(error\), [^,(]+$"))
    expect(picture.locator("rect")).to_have_count(3)
    expect(picture.locator("rect[data-outcome=error]")).to_have_count(1)


def test_profiled_runs_are_in_no_trend(lab: Lab) -> None:
    records = [
        record(1, "fit()", wall=1.0, code="a"),
        record(2, "fit()", wall=1.5, code="a"),
        record(3, "fit()", wall=99.0, code="a", mode="profiled"),
    ]
    open_saved(lab, "cells_trend_saved.ipynb", records)
    expect(lab.records.nth(0).locator(".jp-mlgpu-Trend")).to_have_count(0)
    expect(lab.records.nth(1)).to_contain_text("2 runs · 1 s to 1.5 s")


# -- comparing --------------------------------------------------------------------------------------


def test_two_cells_are_compared_as_the_magic_compares_them(lab: Lab) -> None:
    lab.write(
        "cells_compare.ipynb", LOAD, "a = sum(range(1000))", "b = sum(range(2000))", "%mlc_trace compare 1 5"
    )
    lab.open("cells_compare.ipynb")
    lab.run_to_end(0)
    for index in (1, 1, 1, 1, 2, 2, 2, 2):
        lab.run_to_end(index)
    expect(lab.records).to_have_count(8)
    lab.records.last.get_by_role("checkbox").check()
    expect(lab.sidebar.get_by_text("1 selected: select another one")).to_be_visible()
    lab.records.first.get_by_role("checkbox").check()
    lab.sidebar.get_by_role("button", name="Compare").click()
    page = lab.sidebar.get_by_role("region", name="Comparison")
    expect(page.get_by_role("listitem").first).to_contain_text("a = sum(range(1000))")
    table = page.get_by_role("table", name="Comparison")
    expect(table).to_contain_text("4 runs")
    shown = table.inner_text()
    lab.run_to_end(3)
    magic = lab.page.locator(".jp-OutputArea table")
    wall = magic.get_by_role("row").nth(1).get_by_role("cell").all_inner_texts()
    assert wall[0] == "Wall time"
    for side in wall[1:3]:
        median, spread = re.fullmatch(r"(.*) \((.*)\)", side).groups()  # type: ignore[union-attr]
        assert median in shown
        assert spread in shown
    times = re.sub(r"\[(.*)\]", r"(\1)", wall[3])
    assert times == "" or f"{TIMES} {times}" in shown
    page.get_by_role("button", name="Back to the list").click()
    expect(lab.records.first.get_by_role("checkbox")).to_be_checked()


def test_two_runs_of_one_cell_cannot_be_judged_and_newer_runs_are_asked_for_at_the_users_wish(
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
    expect(page).to_contain_text("cannot judge: one run each")
    for index in (1, 2, 1, 2, 1, 2):
        lab.run_to_end(index)
    expect(page).to_contain_text("There are newer runs.")
    expect(lab.sidebar.get_by_role("tab", name="Cells 8")).to_be_visible()
    expect(page).to_contain_text("cannot judge: one run each")
    page.get_by_role("button", name="Compare again").click()
    expect(page).to_contain_text("4 runs")
    expect(page).not_to_contain_text("There are newer runs.")


def test_without_a_kernel_both_readings_stand_side_by_side_and_nothing_is_judged(lab: Lab) -> None:
    open_saved(lab, "cells_side_by_side.ipynb", some_records())
    lab.records.nth(1).get_by_role("checkbox").check()
    lab.records.nth(2).get_by_role("checkbox").check()
    lab.sidebar.get_by_role("button", name="Compare").click()
    page = lab.sidebar.get_by_role("region", name="Comparison")
    expect(page).to_contain_text("Nothing is judged here: these come from the saved notebook")
    table = page.get_by_role("table", name="Comparison")
    expect(table).to_contain_text("3 s")
    expect(table).to_contain_text("1 s")
    expect(table).to_contain_text("not measured: Light tracing runs without a profiler.")
    expect(table).to_contain_text("error")
    expect(table).not_to_contain_text(TIMES)


def test_a_third_record_takes_the_place_of_the_first_selected(with_records: Lab) -> None:
    boxes = with_records.sidebar.get_by_role("checkbox")
    for index in (0, 1, 2):
        boxes.nth(index).check()
    expect(with_records.sidebar.get_by_role("checkbox", checked=True)).to_have_count(2)
    expect(boxes.nth(0)).not_to_be_checked()
    with_records.sidebar.get_by_role("button", name="Clear selection").click()
    expect(with_records.sidebar.get_by_role("checkbox", checked=True)).to_have_count(0)


def test_records_that_are_cleared_while_they_are_compared_lead_back_to_the_list(lab: Lab) -> None:
    lab.write("cells_cleared.ipynb", LOAD, "a = 1", "b = 2", "%mlc_trace clear")
    lab.open("cells_cleared.ipynb")
    for index in (0, 1, 2):
        lab.run_to_end(index)
    expect(lab.records).to_have_count(2)
    for row in (lab.records.nth(0), lab.records.nth(1)):
        row.get_by_role("checkbox").check()
    lab.sidebar.get_by_role("button", name="Compare").click()
    expect(lab.sidebar.get_by_role("region", name="Comparison")).to_contain_text("cannot judge")
    lab.run_to_end(3)
    expect(lab.sidebar.get_by_role("region", name="Comparison")).to_have_count(0)


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
    hostile = DeviceUse(MARKUP, (RanOn(MARKUP, MARKUP, MARKUP, MARKUP, 1, 1.0),))
    records = [
        dataclasses.replace(record(number, MARKUP, code="a"), device=hostile, versions={MARKUP: str(number)})
        for number in (1, 2)
    ]
    open_saved(lab, "cells_hostile.ipynb", records)
    unfold(lab)
    lab.sidebar.get_by_label("Device it ran on").select_option(MARKUP)
    group(lab, "Group by cell")
    for box in lab.sidebar.get_by_role("checkbox").all():
        box.check()
    lab.sidebar.get_by_role("button", name="Compare").click()
    expect(lab.sidebar.get_by_role("table", name="Comparison")).to_contain_text("<b>bold</b>")
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
        expect(lab.sidebar.get_by_role("table", name="Comparison")).to_be_visible()
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


def test_ten_thousand_records_are_sorted_and_few_of_them_in_the_page(
    lab: Lab, capsys: pytest.CaptureFixture[str]
) -> None:
    lab.write("cells_many.ipynb", SEND_10_000_RECORDS)
    lab.open("cells_many.ipynb")
    lab.run_to_end(0)
    expect(lab.sidebar.get_by_role("heading", name="Records 10,000")).to_be_visible()
    lab.page.evaluate(
        """() => {
            window.longest = 0;
            new PerformanceObserver(list => {
                const durations = list.getEntries().map(task => task.duration);
                window.longest = Math.max(window.longest, ...durations);
            }).observe({ entryTypes: ['longtask'] });
        }"""
    )
    sort(lab, "Wall time")
    expect(names(lab).first).to_have_text("step 9999")
    unfold(lab)
    group(lab, "Group by cell")
    expect(lab.sidebar.locator(".jp-mlgpu-HeadingRow").first).to_be_visible()
    lab.sidebar.get_by_label("Find a cell").press_sequentially("step 42")
    expect(lab.sidebar).to_contain_text("111 of 10,000 records")
    assert lab.records.count() < 60
    longest = lab.page.evaluate("() => window.longest")
    with capsys.disabled():
        print(f"\\n    10,000 records sorted, grouped and searched: blocked for {longest:.0f} ms at most")


#: A kernel that speaks our protocol without the extension, so that 10,000 cells need not be run.
SEND_10_000_RECORDS = """
import dataclasses
from jupyter_mlgpu.record import Reading
from jupyter_mlgpu.testing import example_record

def made(number):
    record = example_record(number, name=f"step {number}")
    wall = Reading("wall_time", number / 1000, "s", "cell", "fake clock", 1)
    cell = dataclasses.replace(record.cell, source_digest=f"{number % 500:016x}")
    return dataclasses.replace(record, cell=cell, readings=(wall, *record.readings[1:])).to_json()

kernel = get_ipython().kernel
for part in range(10):
    events = [
        {"type": "record", "record": made(number)} for number in range(part * 1000, part * 1000 + 1000)
    ]
    delta = {"protocol": 1, "run": "0" * 32, "seq": part + 1, "prev": part, "events": events}
    content = {"comm_id": "jupyter_mlgpu", "data": delta}
    kernel.session.send(kernel.iopub_socket, "comm_msg", content, parent=None)
"""
