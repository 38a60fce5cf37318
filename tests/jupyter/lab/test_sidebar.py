"""What a student sees in the sidebar while cells run, end, are reloaded and restarted."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from jupyter_mlgpu.record.files import save_records
from jupyter_mlgpu.testing import example_record

if TYPE_CHECKING:
    from tests.jupyter.lab.conftest import Gate, Lab

LOAD = "%load_ext jupyter_mlgpu"
SNAPSHOT_REQUEST = "jupyter_mlgpu_snapshot_request"


def test_loading_the_extension_opens_the_sidebar_and_leaves_the_keyboard_in_the_notebook(lab: Lab) -> None:
    lab.write("opens.ipynb", LOAD)
    lab.load("opens.ipynb")
    lab.wait_for_app()
    expect(lab.sidebar).to_be_hidden()
    lab.cell(0).click()
    lab.page.keyboard.press("Control+Enter")
    expect(lab.sidebar).to_contain_text("No receipts yet")
    assert lab.page.evaluate("() => document.activeElement.closest('.jp-Notebook') !== null")


def test_a_cell_is_shown_while_it_runs_and_its_record_when_it_has_ended(lab: Lab, gate: Gate) -> None:
    lab.write("live.ipynb", LOAD, gate.cell)
    lab.open("live.ipynb")
    lab.run_to_end(0)
    lab.run(1)
    expect(lab.running).to_contain_text("while not pathlib.Path")
    clock = lab.running.get_by_role("timer")
    expect(clock).not_to_have_text(clock.inner_text())
    expect(lab.records).to_have_count(0)
    gate.open()
    expect(lab.records).to_have_count(1)
    expect(lab.running).to_be_hidden()
    expect(lab.records.first.locator(".jp-mlgpu-Record-figure")).to_have_text(re.compile(r"^[\d.]+ m?s$"))


def test_the_newest_record_comes_first_and_opens_to_every_reading(lab: Lab) -> None:
    lab.write("details.ipynb", LOAD, "a = 1", "1 / 0")
    lab.open("details.ipynb")
    for index in range(3):
        lab.run_to_end(index)
    expect(lab.records.locator(".jp-mlgpu-Name")).to_have_text(["1 / 0", "a = 1"])
    expect(lab.records.first.get_by_role("img", name="error")).to_be_visible()
    lab.records.first.get_by_role("button", name="Details").click()
    page = lab.sidebar.get_by_role("region", name="Details")
    told = page.get_by_role("table", name="Readings")
    for quantity in ("Wall time", "CPU time", "Peak memory, process"):
        expect(told.get_by_role("rowheader", name=quantity, exact=True)).to_have_count(1)
    expect(told).to_contain_text("time.perf_counter_ns")
    page.get_by_text("Not measured (").click()
    for quantity in ("GPU busy time", "Energy"):
        expect(page).to_contain_text(quantity)


def test_a_reload_in_mid_cell_brings_the_running_cell_and_the_records_back(lab: Lab, gate: Gate) -> None:
    lines = "import jupyter_mlgpu\nprint([line.text for one in jupyter_mlgpu.records() for line in one.logs])"
    lab.write("reload.ipynb", LOAD, "before = 1", gate.cell, lines)
    lab.open("reload.ipynb")
    lab.run_to_end(0)
    lab.run_to_end(1)
    lab.run(2)
    lab.running.wait_for()
    lab.save()
    lab.wait_until_layout_is_kept()
    lab.reload()
    expect(lab.running).to_contain_text("while not pathlib.Path", timeout=60_000)
    expect(lab.records.locator(".jp-mlgpu-Name")).to_have_text(["before = 1"])
    gate.open()
    expect(lab.records).to_have_count(2)
    expect(lab.running).to_be_hidden()
    # Nor has the page left lines of the log in a cell, when it asked for what it shows.
    lab.run_to_end(3)
    expect(lab.cell(3).locator(".jp-OutputArea-output").first).to_have_text("[]")


@pytest.mark.slow
def test_the_busy_indicator_stays_busy_while_snapshots_are_asked_for(
    lab: Lab, new_tab: Callable[[], Lab], gate: Gate
) -> None:
    lab.write("busy.ipynb", LOAD, gate.cell)
    lab.open("busy.ipynb")
    lab.run_to_end(0)
    lab.run(1)
    lab.running.wait_for()
    lab.page.evaluate(
        """() => {
            const { kernel } = jupyterapp.shell.currentWidget.sessionContext.session;
            window.statuses = [];
            kernel.statusChanged.connect((_, status) => window.statuses.push(status));
        }"""
    )
    other = new_tab()
    other.open("busy.ipynb")
    other.running.wait_for()
    assert any(SNAPSHOT_REQUEST in frame for frame in other.sent)
    assert lab.page.evaluate("() => window.statuses") == []
    assert lab.kernel_status() == "busy"
    gate.open()
    expect(lab.running).to_be_hidden()
    lab.page.wait_for_function("window.statuses.at(-1) === 'idle'")


def test_after_a_restart_of_a_kernel_that_is_not_traced_the_sidebar_says_so(lab: Lab) -> None:
    lab.write("restart.ipynb", LOAD, "a = 1", "%mlc_trace off")
    lab.open("restart.ipynb")
    lab.run_to_end(0)
    lab.run_to_end(1)
    expect(lab.records).to_have_count(1)
    lab.run_to_end(2)
    expect(lab.page.locator(".jp-mlgpu-StatusItem")).to_have_text("Tracing: off")
    lab.restart_kernel()
    expect(lab.sidebar).to_contain_text("The kernel was restarted, and this notebook is not traced.")
    expect(lab.sidebar.get_by_role("button", name="Start tracing")).to_be_visible()
    expect(lab.sidebar.get_by_role("heading", name="From the saved notebook")).to_be_visible()
    lab.run_to_end(0)
    expect(lab.sidebar).not_to_contain_text("restarted")
    lab.run_to_end(1)
    expect(lab.sidebar.get_by_role("heading", name="Receipts 1")).to_be_visible()


@pytest.mark.slow
def test_a_restart_in_mid_cell_stops_the_clock(lab: Lab, gate: Gate) -> None:
    lab.write("restart_busy.ipynb", LOAD, gate.cell)
    lab.open("restart_busy.ipynb")
    lab.run_to_end(0)
    lab.run(1)
    lab.running.wait_for()
    lab.restart_kernel()
    expect(lab.running).to_be_hidden()
    expect(lab.sidebar).to_contain_text("No receipts yet")


def test_a_kernel_that_dies_in_mid_cell_leaves_no_running_cell_and_screen_readers_are_told(
    lab: Lab,
) -> None:
    lab.write("dies.ipynb", LOAD, "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
    lab.open("dies.ipynb")
    lab.run_to_end(0)
    expect(lab.sidebar).to_contain_text("No receipts yet")
    lab.run(1)
    # The server looks every few seconds whether its kernels live.
    expect(lab.sidebar.locator(".jp-mlgpu-Death")).to_contain_text("The kernel died in [2]", timeout=60_000)
    expect(lab.running).to_be_hidden()
    expect(lab.sidebar.get_by_role("status").filter(has_text="The kernel died in [2]")).to_have_count(1)


@pytest.mark.slow
def test_a_renamed_notebook_keeps_its_records_and_shows_its_new_name(lab: Lab) -> None:
    lab.write("old_name.ipynb", LOAD, "a = 1")
    lab.open("old_name.ipynb")
    lab.run_to_end(0)
    lab.run_to_end(1)
    expect(lab.records).to_have_count(1)
    lab.page.evaluate("() => jupyterapp.shell.currentWidget.context.rename('new_name.ipynb')")
    expect(lab.sidebar.get_by_role("heading", name="new_name.ipynb")).to_be_visible()
    expect(lab.records.locator(".jp-mlgpu-Name")).to_have_text(["a = 1"])


@pytest.mark.slow
def test_strange_messages_and_one_of_ten_megabytes_do_not_keep_the_next_record_away(lab: Lab) -> None:
    lab.write("strange.ipynb", LOAD, "a = 1", SEND_STRANGE_MESSAGES, "b = 2")
    lab.open("strange.ipynb")
    for index in range(4):
        lab.run_to_end(index)
    names = lab.records.locator(".jp-mlgpu-Name")
    expect(names.first).to_have_text("b = 2")
    expect(names.last).to_have_text("a = 1")
    expect(lab.records).to_have_count(3)
    expect(lab.running).to_be_hidden()
    assert lab.page.evaluate("() => jupyterapp.shell.currentWidget.context.isReady")


@pytest.mark.slow
def test_two_tabs_show_the_same_cell_and_the_same_records(
    lab: Lab, new_tab: Callable[[], Lab], gate: Gate
) -> None:
    lab.write("tabs.ipynb", LOAD, "a = 1", gate.cell)
    lab.open("tabs.ipynb")
    lab.run_to_end(0)
    lab.run_to_end(1)
    other = new_tab()
    other.open("tabs.ipynb")
    expect(other.records.locator(".jp-mlgpu-Name")).to_have_text(["a = 1"])
    lab.run(2)
    for tab in (lab, other):
        expect(tab.running).to_contain_text("while not pathlib")
    gate.open()
    for tab in (lab, other):
        expect(tab.records).to_have_count(2)
        expect(tab.running).to_be_hidden()


@pytest.mark.slow
def test_with_two_notebooks_the_sidebar_follows_the_one_in_focus(lab: Lab, gate: Gate) -> None:
    lab.write("first.ipynb", LOAD, "first = 1", gate.cell)
    lab.write("second.ipynb", LOAD, "second = 2")
    lab.open("first.ipynb")
    lab.run_to_end(0)
    lab.run_to_end(1)
    lab.run(2)
    lab.running.wait_for()
    lab.open("second.ipynb")
    expect(lab.sidebar).to_contain_text("This notebook is not traced.")
    expect(lab.running).to_be_hidden()
    lab.run_to_end(0)
    lab.run_to_end(1)
    expect(lab.records.locator(".jp-mlgpu-Name")).to_have_text(["second = 2"])
    gate.open()
    lab.focus("first.ipynb")
    expect(lab.sidebar.get_by_role("heading", name="first.ipynb")).to_be_visible()
    expect(lab.records).to_have_count(2)
    expect(lab.records.last).to_contain_text("first = 1")


@pytest.mark.slow
def test_a_kernel_without_the_extension_is_asked_the_standard_question_and_left_alone(lab: Lab) -> None:
    lab.write("bare.ipynb", "print('hello')")
    lab.open("bare.ipynb")
    expect(lab.sidebar).to_contain_text("This notebook is not traced.")
    before = len(lab.server.log())
    lab.run_to_end(0)
    expect(lab.cell(0).locator(".jp-OutputArea-output")).to_have_text(["hello"])
    assert not any(SNAPSHOT_REQUEST in frame for frame in lab.sent)
    assert "Traceback" not in lab.server.log()[before:]


@pytest.mark.slow
def test_a_kernel_of_another_language_is_asked_nothing(lab: Lab) -> None:
    lab.server.add_kernel("notpython", language="R")
    lab.write("r.ipynb", "x <- 1", kernel="notpython")
    lab.load("r.ipynb")
    lab.wait_for_app()
    lab.show_sidebar()
    expect(lab.sidebar).to_contain_text("This kernel does not run Python")
    assert not any(SNAPSHOT_REQUEST in frame for frame in lab.sent)
    assert not any('"target_name":"jupyter_mlgpu"' in frame.replace(" ", "") for frame in lab.sent)


@pytest.mark.slow
def test_unloading_the_extension_is_noticed(lab: Lab) -> None:
    lab.write("unload.ipynb", LOAD, "%unload_ext jupyter_mlgpu")
    lab.open("unload.ipynb")
    lab.run_to_end(0)
    expect(lab.sidebar).to_contain_text("No receipts yet")
    lab.run_to_end(1)
    expect(lab.sidebar).to_contain_text("This notebook is not traced.")


def test_a_click_and_the_enter_key_go_to_the_cell(lab: Lab) -> None:
    lab.write("go.ipynb", LOAD, "near = 1", *(f"filler_{n} = {n}" for n in range(60)), "far = 2")
    lab.open("go.ipynb")
    for index in (0, 1, 62):
        lab.run_to_end(index)
    expect(lab.records).to_have_count(2)
    lab.records.last.get_by_role("button", name="near = 1").click()
    assert lab.active_cell() == 1
    expect(lab.active).to_be_in_viewport()
    lab.records.first.get_by_role("button", name="far = 2").focus()
    lab.page.keyboard.press("Enter")
    assert lab.active_cell() == 62
    expect(lab.active).to_be_in_viewport()


@pytest.mark.slow
def test_a_cell_that_is_gone_is_said_to_be_gone(lab: Lab) -> None:
    lab.write("gone.ipynb", LOAD, "a = 1")
    lab.open("gone.ipynb")
    lab.run_to_end(0)
    lab.run_to_end(1)
    lab.page.evaluate("() => jupyterapp.commands.execute('notebook:delete-cell')")
    lab.records.first.get_by_role("button", name="a = 1").click()
    expect(lab.sidebar.locator(".jp-mlgpu-PointedRecord")).to_contain_text(
        "This cell is no longer in the notebook."
    )
    expect(lab.sidebar.get_by_role("status")).to_have_text("This cell is no longer in the notebook.")


@pytest.mark.slow
def test_arrow_keys_move_through_the_records(lab: Lab) -> None:
    lab.write("keys.ipynb", LOAD, "a = 1", "b = 2", "c = 3")
    lab.open("keys.ipynb")
    for index in range(4):
        lab.run_to_end(index)
    lab.records.first.get_by_role("button", name="c = 3").focus()
    lab.page.keyboard.press("ArrowDown")
    expect(lab.records.nth(1).get_by_role("button", name="b = 2")).to_be_focused()
    lab.page.keyboard.press("End")
    expect(lab.records.nth(2).get_by_role("button", name="a = 1")).to_be_focused()
    lab.page.keyboard.press("Tab")
    expect(lab.records.nth(2).get_by_role("button", name="Details")).to_be_focused()


@pytest.mark.slow
def test_records_that_come_in_above_do_not_move_what_is_being_read(lab: Lab) -> None:
    lab.write("reading.ipynb", LOAD, TRACE_50_BLOCKS, "new = 1")
    lab.open("reading.ipynb")
    lab.run_to_end(0)
    lab.run_to_end(1)
    expect(lab.records.first).to_contain_text("TRACED")
    read = lab.records.filter(has_text="step 20")
    lab.sidebar.locator(".jp-mlgpu-Scroller").hover()
    while read.count() == 0:
        lab.page.mouse.wheel(0, 300)
    read.scroll_into_view_if_needed()
    before = read.bounding_box()
    lab.run_to_end(2)
    expect(lab.sidebar.get_by_role("heading", name="Receipts 52")).to_be_visible()
    after = read.bounding_box()
    assert before is not None
    assert after is not None
    assert abs(after["y"] - before["y"]) < 30


@pytest.mark.slow
def test_of_a_loaded_file_all_records_are_shown(lab: Lab, tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    save_records(str(file), [example_record(number, name=f"step {number}") for number in range(600)])
    lab.write("loaded.ipynb", LOAD, f"%mlc_trace load {file}")
    lab.open("loaded.ipynb")
    lab.run_to_end(0)
    lab.run_to_end(1)
    expect(lab.records.first).to_contain_text("step 599")
    expect(lab.records.first).to_contain_text("loaded")
    expect(lab.sidebar.get_by_role("heading", name="Receipts 600")).to_be_visible()


@pytest.mark.slow
def test_five_thousand_records_are_in_the_list_and_few_of_them_in_the_page(lab: Lab) -> None:
    lab.write("many.ipynb", SEND_5_000_RECORDS)
    lab.open("many.ipynb")
    lab.run_to_end(0)
    expect(lab.sidebar.get_by_role("heading", name=re.compile("Receipts 5,000"))).to_be_visible()
    expect(lab.records.first).to_contain_text("step 4999")
    assert lab.records.count() < 60
    lab.records.first.get_by_role("button").first.focus()
    lab.page.keyboard.press("End")
    expect(lab.records.last).to_contain_text("step 0")
    assert lab.records.count() < 60


def test_code_that_looks_like_markup_is_shown_as_text(lab: Lab) -> None:
    code = "x = '<img src=x onerror=\"window.pwned = 1\"><b>bold</b>'"
    lab.write("markup.ipynb", LOAD, code)
    lab.open("markup.ipynb")
    lab.run_to_end(0)
    lab.run_to_end(1)
    expect(lab.records.first.locator(".jp-mlgpu-Name")).to_have_text(re.compile(re.escape("<b>bold</b>")))
    assert lab.sidebar.locator("img[src], b, script").count() == 0
    assert lab.page.evaluate("() => window.pwned") is None


def test_a_view_of_an_earlier_version_makes_room_for_cells(lab: Lab) -> None:
    lab.write("earlier.ipynb", "1")
    lab.open("earlier.ipynb")
    lab.page.evaluate("() => sessionStorage.setItem('jupyter-mlgpu:view:earlier.ipynb', 'figures')")
    lab.reload()
    lab.wait_for_app()
    lab.show_sidebar()
    expect(lab.sidebar.get_by_role("tabpanel")).to_have_accessible_name("Cells")


def test_no_tab_moves_when_a_cell_ends(lab: Lab) -> None:
    lab.write("tabs_stay.ipynb", LOAD, "import warnings; warnings.warn('x')")
    lab.open("tabs_stay.ipynb")
    lab.run_to_end(0)
    tabs = lab.sidebar.get_by_role("tab")
    with lab.sidebar_of(NARROWEST):
        before = [tab.bounding_box() for tab in tabs.all()]
        lab.page.evaluate(WATCH_SHIFTS)
        lab.run_to_end(1)
        expect(tabs).to_have_text([re.compile("^Now *$"), "Cells 1", "Messages 1"])
        assert [tab.bounding_box() for tab in tabs.all()] == before
        assert lab.page.evaluate("() => window.shifted") == []


def test_no_tab_is_cut_off(lab: Lab) -> None:
    expect_whole_tabs(lab, "Now", "Cells 10,000", "Messages 10,000")


@pytest.mark.slow
def test_no_chinese_tab_is_cut_off(lab: Lab, chinese: None) -> None:
    expect_whole_tabs(lab, "当前", "单元格 10,000", "消息 10,000")


def expect_whole_tabs(lab: Lab, *names: str) -> None:
    """Each tab has room for its name and its count, on one line with the others unless that is too narrow."""
    lab.write("many_tabs.ipynb", SEND_10_000_RECORDS)
    lab.open("many_tabs.ipynb")
    lab.run_to_end(0)
    expect(lab.sidebar.get_by_role("tab")).to_contain_text([*names])
    for width in (340, NARROWEST, 200):
        with lab.sidebar_of(width):
            tops, inside, counts = zip(*lab.sidebar.get_by_role("tablist").evaluate(WHOLE_TABS), strict=True)
        assert len(set(tops)) == 1, f"{width} pixels"
        assert set(inside) == {True}, f"{width} pixels"
        assert "cut off" not in counts, f"{width} pixels"
        assert width < 340 or counts == ("none", "all", "all")


@pytest.mark.slow
def test_a_chinese_jupyterlab_has_a_chinese_sidebar(lab: Lab, chinese: None) -> None:
    lab.write("chinese.ipynb", LOAD, "1 / 0")
    lab.load("chinese.ipynb")
    lab.wait_for_app()
    lab.run_to_end(0)
    lab.run_to_end(1)
    expect(lab.records.first).to_contain_text("出错")
    lab.sidebar.get_by_role("tab", name="当前").click()
    expect(lab.sidebar).to_contain_text("跟踪")
    expect(lab.sidebar.get_by_role("region", name="本机")).to_contain_text("内存")
    expect(lab.receipts.first).to_contain_text("出错")
    # Why a quantity is missing, which the kernel wrote in English.
    lab.receipts.first.get_by_role("button").click()
    lab.receipts.first.get_by_text("未测量").click()
    expect(lab.receipts.first).to_contain_text("没有载入 jupyter_mlgpu 认识的框架")


#: A kernel that speaks our protocol without the extension, so that 5,000 cells need not be run.
SEND_5_000_RECORDS = """
from jupyter_mlgpu.testing import example_record

kernel = get_ipython().kernel
for part in range(5):
    events = [
        {"type": "record", "record": example_record(number, name=f"step {number}").to_json()}
        for number in range(part * 1000, part * 1000 + 1000)
    ]
    delta = {"protocol": 1, "run": "0" * 32, "seq": part + 1, "prev": part, "events": events}
    content = {"comm_id": "jupyter_mlgpu", "data": delta}
    kernel.session.send(kernel.iopub_socket, "comm_msg", content, parent=None)
"""

#: The same by the thousand, with a line each.
SEND_10_000_RECORDS = """
from msgspec.structs import replace

from jupyter_mlgpu.record.record import LogLine
from jupyter_mlgpu.testing import example_record

line = LogLine("a line", None, "unknown", None, None, {}, 1, "stderr", "2026-01-01T00:00:00.000000Z", False)
kernel = get_ipython().kernel
for part in range(10):
    records = [replace(example_record(part * 1000 + n), logs=(line,)) for n in range(1000)]
    events = [{"type": "record", "record": record.to_json()} for record in records]
    delta = {"protocol": 1, "run": "0" * 32, "seq": part + 1, "prev": part, "events": events}
    content = {"comm_id": "jupyter_mlgpu", "data": delta}
    kernel.session.send(kernel.iopub_socket, "comm_msg", content, parent=None)
"""

#: JupyterLab's least width of a sidebar with ours in it.
NARROWEST = 250

#: Notes which tabs move by themselves.
WATCH_SHIFTS = """() => {
    window.shifted = [];
    const list = document.querySelector('#jupyter-mlgpu-sidebar [role=tablist]');
    new PerformanceObserver(seen => {
        for (const { node } of seen.getEntries().flatMap(({ sources }) => sources)) {
            if (list.contains(node)) {
                window.shifted.push(node.textContent);
            }
        }
    }).observe({ type: 'layout-shift' });
}"""

#: Where each tab begins, whether all of it is in its list, and whether its count is: all, or nothing of it.
WHOLE_TABS = """list => {
    const edge = list.getBoundingClientRect().right + 1;
    return [...list.querySelectorAll('[role=tab]')].map(one => {
        const { top, right } = one.getBoundingClientRect();
        const count = one.querySelector('.jp-mlgpu-Tab-count');
        if (count === null) {
            return [top, right <= edge, 'none'];
        }
        const box = count.getBoundingClientRect();
        const words = document.createRange();
        words.selectNodeContents(count);
        const { top: begin, right: end } = [...words.getClientRects()].at(-1);
        const seen = begin < box.bottom - 2 ? (end <= box.right + 1 ? 'all' : 'cut off') : 'none';
        return [top, right <= edge && count.offsetLeft >= one.offsetLeft, seen];
    });
}"""

#: A message that comes twice, one of a later protocol, a record of a later schema, rubbish, ten megabytes.
SEND_STRANGE_MESSAGES = """
kernel = get_ipython().kernel
channel = get_ipython()._jupyter_mlgpu.channel
def send(**changes):
    delta = {"protocol": 1, "run": channel.run, "seq": 1, "prev": 0, "events": [{"type": "cleared"}]}
    content = {"comm_id": "jupyter_mlgpu", "data": delta | changes}
    kernel.session.send(kernel.iopub_socket, "comm_msg", content, parent=None)
send()
send(protocol=2, seq=1000)
send(seq="one")
channel.push({"type": "record", "record": {"schema": 99}})
channel.push({"type": ["explode"], "data": {"a": None}})
channel.push({"type": "explode", "data": "x" * 10_000_000})
"""

TRACE_50_BLOCKS = """TRACED = 50
import jupyter_mlgpu
for number in range(TRACED):
    with jupyter_mlgpu.trace(f"step {number}"):
        pass
"""
