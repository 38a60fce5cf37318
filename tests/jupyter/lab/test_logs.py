"""What a student sees of libraries' messages: under the cell, and in the sidebar."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace
from playwright.sync_api import expect

from jupyter_mlgpu.record.record import Fact, LogLine, Record
from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE, bundle
from jupyter_mlgpu.testing import example_record

if TYPE_CHECKING:
    from tests.jupyter.lab.conftest import Gate, Lab

METAL = LogLine(
    "Metal device set to: Apple M1 Max",
    "metal-device-set",
    "info",
    "This Mac's GPU, Apple M1 Max, is the one TensorFlow will use.",
    "Nothing to do.",
    {"device": "Apple M1 Max"},
    1,
    "stderr",
    "2026-01-01T00:00:00.000000Z",
    False,
)
OUT_OF_MEMORY = replace(
    METAL,
    text="OOM when allocating tensor with shape[4096,4096]\n  hint: 16 GB in use",
    id="out-of-memory-of-a-test",
    verdict="action",
    meaning="The GPU has no memory left.",
    advice="Make the batch smaller.",
    fields={},
    count=37,
    late=True,
)
NOT_KNOWN = replace(
    METAL, text="frobnicating 7 gadgets", id=None, verdict="unknown", meaning=None, advice=None, fields={}
)
LOAD = "%load_ext jupyter_mlgpu"
WRITE_METAL = r"""import os; _ = os.write(2, b"Metal device set to: Apple M1 Max\n")"""
MARKUP = "<img src=x onerror='window.pwned = 1'><script>window.pwned = 1</script>"


def with_logs(*lines: LogLine, number: int = 1, name: str = "model.fit(x, y)", **changes: Any) -> Record:
    return replace(example_record(number, name=name), logs=lines, **changes)


def test_a_receipt_counts_its_notes_and_opens_to_each_with_its_explanation(lab: Lab) -> None:
    facts = {"gpu_name": Fact("Apple M1 Max", "log message metal-device-set")}
    lab.write_with_receipts("notes.ipynb", bundle(with_logs(METAL, NOT_KNOWN, OUT_OF_MEMORY, facts=facts)))
    lab.open_without_kernel("notes.ipynb")
    receipt = lab.receipts.first
    expect(receipt).to_contain_text("1 unknown message · 1 after the cell had ended: 1 to act on")
    receipt.get_by_role("button").click()
    receipt.get_by_text("Other messages (2)").click()
    notes = receipt.get_by_role("group", name="Messages").get_by_role("listitem")
    expect(notes).to_have_count(3)
    for shown in ("To act on", "37", "arrived after the cell had ended", "The GPU has no memory left."):
        expect(notes.first).to_contain_text(shown)
    expect(notes.first).to_contain_text("Make the batch smaller.")
    assert notes.first.locator("pre").inner_text() == OUT_OF_MEMORY.text
    expect(notes.nth(1)).to_contain_text("Information")
    expect(notes.nth(2)).to_contain_text("Not known")
    receipt.get_by_text("How it was measured").click()
    expect(receipt.get_by_role("table", name="Facts")).to_contain_text("Apple M1 Max")
    expect(receipt.get_by_role("table", name="Facts")).to_contain_text("log message metal-device-set")


def test_a_native_line_is_explained_under_the_cell_that_brought_it(lab: Lab) -> None:
    lab.write("native.ipynb", LOAD, WRITE_METAL, "quiet = 1")
    lab.open("native.ipynb")
    for index in range(3):
        lab.run_to_end(index)
    receipt = lab.cell(1).locator(".jp-mlgpu-Receipt")
    receipt.get_by_role("button").click()
    receipt.get_by_text("Messages (1)").click()
    note = receipt.get_by_role("group", name="Messages").get_by_role("listitem")
    expect(note).to_contain_text("This Mac's GPU, Apple M1 Max")
    expect(note.locator("pre")).to_have_text("Metal device set to: Apple M1 Max")
    expect(receipt.get_by_role("table", name="Facts")).to_contain_text("Apple M1 Max")
    expect(lab.cell(2).locator(".jp-mlgpu-Receipt")).not_to_contain_text("note")


def test_lines_are_in_the_log_while_their_cell_runs(lab: Lab, gate: Gate) -> None:
    lab.write("live_lines.ipynb", LOAD, f"{WRITE_METAL}\n{gate.cell}")
    lab.open("live_lines.ipynb")
    lab.run_to_end(0)
    lab.show_logs()
    expect(lab.sidebar).to_contain_text("No messages yet.")
    lab.run(1)
    expect(lab.log).to_have_count(1)
    expect(lab.log.first).to_contain_text("This Mac's GPU, Apple M1 Max")
    expect(lab.log.first).to_contain_text("[*]")
    expect(lab.running).to_be_visible()
    gate.open()
    expect(lab.running).to_be_hidden()
    expect(lab.log.first).to_contain_text("[2]")
    expect(lab.log).to_have_count(1)


@pytest.mark.slow
def test_a_page_loaded_in_mid_cell_has_the_lines_so_far(lab: Lab, gate: Gate) -> None:
    lab.write("reloaded_lines.ipynb", LOAD, f"{WRITE_METAL}\n{gate.cell}")
    lab.open("reloaded_lines.ipynb")
    lab.run_to_end(0)
    lab.run(1)
    lab.show_logs()
    expect(lab.log).to_have_count(1)
    lab.save()
    lab.reload()
    lab.wait_for_app()
    lab.show_sidebar()
    lab.show_logs()
    expect(lab.log).to_have_count(1)
    expect(lab.log.first).to_contain_text("[*]")
    gate.open()
    expect(lab.log.first).to_contain_text("[2]")


@pytest.mark.slow
def test_a_line_that_comes_after_its_cell_is_shown_as_late(lab: Lab, gate: Gate) -> None:
    waits = f"while [ ! -e {gate.path} ]; do sleep 0.01; done; echo from a child >&2"
    lab.write("late.ipynb", LOAD, f"import subprocess\nchild = subprocess.Popen({waits!r}, shell=True)")
    lab.open("late.ipynb")
    lab.run_to_end(0)
    lab.run_to_end(1)
    lab.show_logs()
    gate.open()
    expect(lab.log).to_have_count(1)
    expect(lab.log.first).to_contain_text("from a child")
    expect(lab.log.first).to_contain_text("arrived after the cell had ended")


@pytest.mark.slow
def test_a_hostile_line_of_a_running_kernel_is_text(lab: Lab) -> None:
    printed = f"{MARKUP}\n".encode()
    lab.write("hostile_line.ipynb", LOAD, f"import os\n_ = os.write(2, {printed!r})")
    lab.open("hostile_line.ipynb")
    lab.run_to_end(0)
    lab.run_to_end(1)
    receipt = lab.cell(1).locator(".jp-mlgpu-Receipt")
    expect(receipt).to_contain_text("1 unknown message")
    receipt.get_by_role("button").click()
    receipt.get_by_text("Messages (1)").click()
    expect(receipt.locator("pre")).to_contain_text(MARKUP)
    lab.show_logs()
    expect(lab.log.locator("pre")).to_contain_text(MARKUP)
    for place in (receipt, lab.sidebar):
        assert place.locator("img[src], script").count() == 0
    assert lab.page.evaluate("() => window.pwned") is None


def test_a_receipt_without_lines_says_nothing_of_notes(lab: Lab) -> None:
    lab.write_with_receipts("quiet.ipynb", bundle(example_record()))
    lab.open_without_kernel("quiet.ipynb")
    expect(lab.receipts).to_have_count(1)
    expect(lab.receipts.first).not_to_contain_text("message")
    lab.show_logs()
    expect(lab.sidebar).to_contain_text("The receipts in this notebook hold no messages.")


def test_hostile_lines_are_text_under_the_cell_and_in_the_sidebar(lab: Lab) -> None:
    hostile = replace(
        METAL,
        text=f"{MARKUP}\u202egnp.exe\x1b[31m",
        verdict="action",
        meaning=MARKUP,
        advice=MARKUP,
        fields={"device": MARKUP},
    )
    long = replace(NOT_KNOWN, text="very long " * 100_000)
    data = with_logs(hostile, long, facts={MARKUP: Fact(MARKUP, MARKUP)}).to_json()
    data["logs"] += [None, 7, {"text": 7}, {"text": "odd", "verdict": {}, "fields": [], "count": "many"}]
    lab.write_with_receipts("hostile_logs.ipynb", {MIME_TYPE: data})
    lab.open_without_kernel("hostile_logs.ipynb")
    lab.receipts.first.get_by_role("button").click()
    # No server reads what is no record; messages are drawn all the same.
    expect(lab.receipts.first).to_contain_text("no Jupyter server with jupyter_mlgpu could open this receipt")
    raw = lab.receipts.first.locator("pre").first
    expect(raw).to_have_text(f"{MARKUP}\\u202egnp.exe\\u001b[31m")
    expect(lab.receipts.first).to_contain_text("8,000 of 1,000,000 characters shown")
    lab.show_logs()
    expect(lab.log).to_have_count(3)
    lab.log.first.get_by_role("button", name="Details").click()
    expect(lab.log.first.locator("pre")).to_have_text(f"{MARKUP}\\u202egnp.exe\\u001b[31m")
    for place in (lab.receipts.first, lab.sidebar):
        assert place.locator("img[src], script").count() == 0
    assert lab.page.evaluate("() => window.pwned") is None
    assert len(lab.sidebar.inner_text()) < 50_000


def test_the_log_is_filtered_by_verdict_by_cell_and_by_text(lab: Lab) -> None:
    lab.write_with_receipts(
        "filters.ipynb",
        bundle(with_logs(METAL, NOT_KNOWN, name="first()")),
        bundle(with_logs(OUT_OF_MEMORY, METAL, number=2, name="second()")),
    )
    lab.open_without_kernel("filters.ipynb")
    lab.show_logs()
    expect(lab.log).to_have_count(4)
    act = lab.sidebar.get_by_role("button", name="To act on 1")
    act.click()
    expect(act).to_have_attribute("aria-pressed", "true")
    expect(lab.log).to_have_count(1)
    expect(lab.log.first).to_contain_text("The GPU has no memory left.")
    expect(lab.sidebar).to_contain_text("1 of 4 messages")
    lab.sidebar.get_by_role("button", name="Clear the filters").click()
    expect(lab.log).to_have_count(4)
    cells = lab.sidebar.get_by_role("combobox", name="Cell")
    cells.select_option(label="[1] first()")
    expect(lab.log).to_have_count(2)
    expect(lab.log.last).to_contain_text("frobnicating 7 gadgets")
    cells.select_option(label="All cells")
    search = lab.sidebar.get_by_role("searchbox", name="Find in the messages")
    search.fill("BATCH smaller")
    expect(lab.log).to_have_count(1)
    search.fill("no such words")
    expect(lab.sidebar).to_contain_text("No messages match.")
    expect(lab.log).to_have_count(0)


def test_lines_are_shown_explained_or_as_they_were_printed(lab: Lab) -> None:
    lab.write_with_receipts("raw.ipynb", bundle(with_logs(METAL)))
    lab.open_without_kernel("raw.ipynb")
    lab.show_logs()
    expect(lab.log.first).to_contain_text("is the one TensorFlow will use.")
    expect(lab.log.first.locator("pre")).to_have_count(0)
    raw = lab.sidebar.get_by_role("button", name="Raw")
    raw.click()
    expect(raw).to_have_attribute("aria-pressed", "true")
    expect(lab.log.first.locator("pre")).to_have_text("Metal device set to: Apple M1 Max")
    expect(lab.log.first).not_to_contain_text("is the one TensorFlow will use.")


def test_a_line_leads_to_its_cell_and_a_record_to_its_lines(lab: Lab) -> None:
    lab.write_with_receipts(
        "leads.ipynb", bundle(with_logs(METAL)), bundle(with_logs(OUT_OF_MEMORY, number=2))
    )
    lab.open_without_kernel("leads.ipynb")
    lab.records.first.get_by_role(
        "button", name="1 after the cell had ended: 1 to act on", exact=True
    ).click()
    expect(lab.sidebar.get_by_role("tab", name="Messages")).to_have_attribute("aria-selected", "true")
    expect(lab.log).to_have_count(1)
    lab.log.first.locator(".jp-mlgpu-Go").click()
    expect(lab.active).to_have_count(1)
    assert lab.active_cell() == 1


def test_what_was_chosen_is_found_again_when_the_sidebar_was_hidden(lab: Lab) -> None:
    lab.write_with_receipts("hidden.ipynb", bundle(with_logs(METAL, NOT_KNOWN)))
    lab.open_without_kernel("hidden.ipynb")
    lab.show_logs()
    lab.sidebar.get_by_role("searchbox").fill("gadgets")
    lab.page.evaluate("() => jupyterapp.shell.collapseRight()")
    expect(lab.sidebar).to_be_hidden()
    lab.show_sidebar()
    expect(lab.sidebar.get_by_role("searchbox")).to_have_value("gadgets")
    expect(lab.log).to_have_count(1)


def test_keys_choose_the_tab_and_move_through_the_lines(lab: Lab) -> None:
    lab.write_with_receipts("keys_logs.ipynb", bundle(with_logs(METAL, NOT_KNOWN, OUT_OF_MEMORY)))
    lab.open_without_kernel("keys_logs.ipynb")
    lab.sidebar.get_by_role("tab", name="Cells").focus()
    lab.page.keyboard.press("ArrowRight")
    expect(lab.sidebar.get_by_role("tab", name="Messages")).to_be_focused()
    expect(lab.sidebar.get_by_role("tabpanel", name="Messages")).to_be_visible()
    lab.log.first.locator(".jp-mlgpu-Go").focus()
    lab.page.keyboard.press("End")
    expect(lab.log.last.locator(".jp-mlgpu-Go")).to_be_focused()
    lab.page.keyboard.press("ArrowUp")
    expect(lab.log.nth(1).locator(".jp-mlgpu-Go")).to_be_focused()
    lab.page.keyboard.press("Enter")
    assert lab.active_cell() == 0


@pytest.mark.slow
def test_a_chinese_jupyterlab_explains_in_chinese_what_it_can(lab: Lab, chinese: None) -> None:
    lab.write_with_receipts("chinese_logs.ipynb", bundle(with_logs(METAL, OUT_OF_MEMORY)))
    lab.load("chinese_logs.ipynb")
    lab.page.get_by_role("dialog").get_by_role("button").first.click()
    lab.wait_for_notebook()
    expect(lab.receipts.first).to_contain_text(re.compile("1 条在单元格结束之后到达.1 条需处理"))
    lab.receipts.first.get_by_role("button").click()
    lab.receipts.first.get_by_text("其他消息").click()
    notes = lab.receipts.first.get_by_role("listitem")
    expect(notes.first).to_contain_text("需处理")
    expect(notes.first).to_contain_text("The GPU has no memory left.")
    expect(notes.nth(1)).to_contain_text(
        re.compile(r"[\u4e00-\u9fff].*Apple M1 Max|Apple M1 Max.*[\u4e00-\u9fff]")
    )
    expect(notes.nth(1)).not_to_contain_text("is the one TensorFlow will use.")
    lab.show_sidebar()
    lab.sidebar.get_by_role("tab", name="消息").click()
    expect(lab.sidebar).to_contain_text("2 条消息中的 2 条")


@pytest.mark.slow
def test_an_english_jupyterlab_does_not_load_what_is_chinese(lab: Lab) -> None:
    loaded: list[str] = []
    lab.page.on("request", lambda request: loaded.append(request.url))
    lab.write_with_receipts("english_logs.ipynb", bundle(with_logs(METAL)))
    lab.load("english_logs.ipynb")
    lab.page.get_by_role("dialog").get_by_role("button", name="No Kernel").click()
    expect(lab.receipts).to_have_count(1)
    assert any("remoteEntry" in url and "jupyter-mlgpu" in url for url in loaded)
    assert not any(re.search("jupyter-mlgpu/(texts|messages)/", url) for url in loaded)


@pytest.mark.slow
def test_the_newest_line_is_followed_until_the_reader_scrolls_away_and_again_at_a_button(lab: Lab) -> None:
    lab.write("follow.ipynb", send_lines(0, 60), send_lines(1, 5), send_lines(2, 3))
    lab.open("follow.ipynb")
    lab.show_logs()
    lab.run_to_end(0)
    newest = lab.sidebar.get_by_role("button", name="To the newest message")
    expect(lab.log.last).to_contain_text("line 59 of cell 0")
    expect(newest).to_be_hidden()
    lab.run_to_end(1)
    expect(lab.log.last).to_contain_text("line 4 of cell 1")
    lab.log.last.locator(".jp-mlgpu-Go").focus()
    lab.page.keyboard.press("Home")
    expect(lab.log.first).to_contain_text("line 0 of cell 0")
    expect(newest).to_be_visible()
    lab.run_to_end(2)
    expect(lab.sidebar).to_contain_text("68 of 68 messages")
    expect(lab.log.first).to_be_in_viewport()
    newest.click()
    expect(lab.log.last).to_contain_text("line 2 of cell 2")
    expect(lab.log.last).to_be_in_viewport()
    expect(lab.log.last.locator(".jp-mlgpu-Go")).to_be_focused()
    expect(newest).to_be_hidden()


def test_in_a_narrow_sidebar_lines_and_filters_are_whole(lab: Lab) -> None:
    word = "a_very_long_word_without_any_blank_" * 6
    long = replace(OUT_OF_MEMORY, text=word, meaning=word, advice=word)
    lab.write_with_receipts("narrow_logs.ipynb", bundle(with_logs(long, METAL, NOT_KNOWN, name=word)))
    lab.open_without_kernel("narrow_logs.ipynb")
    lab.show_logs()
    expect(lab.log).to_have_count(3)
    lab.sidebar.evaluate("panel => { panel.style.minWidth = '0'; panel.style.width = '240px'; }")
    lab.log.first.get_by_role("button", name="Details").click()
    expect(lab.log.first.locator("pre")).to_be_visible()
    outside = lab.sidebar.evaluate(
        """panel => {
            const view = panel.querySelector('.jp-mlgpu-TabPanel');
            const edge = view.getBoundingClientRect().right + 1;
            return [...view.querySelectorAll('*')]
                .filter(one => one.getBoundingClientRect().right > edge)
                .map(one => `${one.tagName} ${one.className}`);
        }"""
    )
    assert outside == []


@pytest.mark.slow
def test_twenty_thousand_lines_are_in_the_log_and_few_of_them_in_the_page(lab: Lab) -> None:
    lab.write("many_lines.ipynb", SEND_20_000_LINES)
    lab.open("many_lines.ipynb")
    lab.show_logs()
    lab.run_to_end(0)
    expect(lab.sidebar).to_contain_text("20,000 of 20,000 messages")
    expect(lab.log.last).to_contain_text("line 999 of cell 19")
    assert lab.log.count() < 60
    lab.log.last.locator(".jp-mlgpu-Go").focus()
    lab.page.keyboard.press("Home")
    expect(lab.log.first).to_contain_text("line 0 of cell 0")
    assert lab.log.count() < 60
    lab.sidebar.get_by_role("searchbox").fill("line 500 of cell 7")
    expect(lab.log).to_have_count(1)


#: A kernel that speaks our protocol without the extension, so that 20,000 lines need not be printed.
SEND_LINES = """
from jupyter_mlgpu.testing import example_record

def line(text):
    return {"text": text, "id": None, "verdict": "unknown", "meaning": None, "advice": None,
            "fields": {}, "count": 1, "stream": "stderr", "time": None, "late": False}

def send(part, lines):
    kernel = get_ipython().kernel
    logs = [line(f"line {number} of cell {part}") for number in range(lines)]
    record = {**example_record(part).to_json(), "logs": logs}
    delta = {"protocol": 1, "run": "0" * 32, "seq": part + 1, "prev": part,
             "events": [{"type": "record", "record": record}]}
    content = {"comm_id": "jupyter_mlgpu", "data": delta}
    kernel.session.send(kernel.iopub_socket, "comm_msg", content, parent=None)
"""
SEND_20_000_LINES = f"{SEND_LINES}\nfor part in range(20):\n    send(part, 1000)"


def send_lines(part: int, lines: int) -> str:
    return f"{SEND_LINES}\nsend({part}, {lines})"
