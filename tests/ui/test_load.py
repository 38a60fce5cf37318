"""The sidebar under load: what arrives never blocks the page, fits into its memory, and takes nobody's place.

How a task is judged: tests/ui/load.py.
"""

from __future__ import annotations

import re
import statistics
from datetime import datetime
from functools import partial
from math import inf
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.ui.load import TASK_LIMIT_MS, check_act, settle, wait_for_text
from tests.ui.tasks import heap, watching

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, WebSocket

    from tests.ui.conftest import Lab, Print

FRAME_LIMIT_MS = 20
MEMORY_LIMIT = 150 * 10**6
MESSAGES_A_SECOND = 20
TRIES = 5

LOAD = "%load_ext jupyter_mlgpu"

#: A view with records or lines in it, and what finds and sorts them.
LIST = ".jp-mlgpu-Records"

#: Records with ten lines each, put into the kernel's own store.
FILL = """
import dataclasses
from jupyter_mlgpu import kit
from jupyter_mlgpu.record import LogLine
from jupyter_mlgpu.testing import example_record

def line(cell, number):
    text = (f"2026-01-01 00:00:00.{number:06d}: I tensorflow/core/common_runtime/executor.cc:{number}] "
            f"line {number} of cell {cell} says that nothing is the matter")
    return LogLine(text, None, "unknown", None, None, {}, 1, "stderr", "2026-01-01T00:00:00.000000Z", False)

def record(cell):
    return dataclasses.replace(
        example_record(cell, name=f"step {cell}"), logs=tuple(line(cell, n) for n in range(10))
    )

store = kit.current().store
"""
FILL_IN_SILENCE = "store.extend(record(number) for number in range(7000))"
FILL_WITH_DELTAS = [
    f"for number in range({first}, {first + 1000}): store.add(record(number))" for first in (7000, 8000, 9000)
]


@pytest.mark.timeout(600)
def test_ten_thousand_records_and_a_hundred_thousand_lines_never_block_the_page(
    lab: Lab, chromium: Browser, tell: Print
) -> None:
    lab.page.set_default_timeout(120_000)
    held_before: list[int] = []
    names = iter(("load.ipynb", "load_2.ipynb", "load_3.ipynb"))

    def fill() -> None:
        name = next(names)
        lab.write(name, LOAD, FILL, FILL_IN_SILENCE, *FILL_WITH_DELTAS)
        lab.open(name)
        for index in range(3):
            lab.run_to_end(index)
        held_before.append(heap(lab.page))

    def take_in() -> None:
        ask_again(lab)
        wait_for_text(lab, "Cells 7,00")

    check_act("7,000 records by snapshot", take_in, chromium, lab.page, tell, before=fill)
    lab.show_logs()
    # A thousand and again a thousand: one of the three may be over the limit, as when a task is done again.
    held = []
    for index, cells in ((3, "8,00"), (4, "9,00"), (5, "10,00")):
        with watching(chromium, lab.page) as watched:
            lab.run_to_end(index)
            wait_for_text(lab, f"Cells {cells}[0-9]")
        longest = watched.tasks[0]
        tell(f"1,000 records as they are made: the longest task took {longest}; {watched.long()}")
        held.append(longest.cpu_ms <= TASK_LIMIT_MS)
    assert sum(held) >= 2

    tabs = lab.sidebar.get_by_role("tab").all()
    for tab, other in zip(tabs, [*tabs[1:], tabs[0]], strict=True):
        name = tab.inner_text()
        check_act(f"{name}: showing it", partial(show, lab, other, tab), chromium, lab.page, tell)
        if lab.sidebar.locator(LIST).count() == 0:
            continue
        what = f"{name}: sorting, filtering and searching"
        check_act(what, partial(use_every_control, lab), chromium, lab.page, tell)
        for scroller in lab.sidebar.locator(".jp-mlgpu-Scroller").all():
            scroll(lab, scroller, chromium, name, tell)
    more = heap(lab.page) - held_before[-1]
    tell(f"memory: {more / 1e6:.0f} MB more after garbage collection")
    assert more <= MEMORY_LIMIT
    lab.page.set_default_timeout(20_000)


def ask_again(lab: Lab) -> None:
    """Have the browser ask for a snapshot, as it does when its connection was lost for a while."""
    lab.page.evaluate("() => jupyterapp.shell.currentWidget.sessionContext.session.kernel.reconnect()")


def show(lab: Lab, *tabs: Locator) -> None:
    """Show one tab after the other."""
    for one in tabs:
        one.evaluate("tab => tab.click()")
        expect(one).to_have_attribute("aria-selected", "true")
        settle(lab)


def use_every_control(lab: Lab) -> None:
    """Choose, press and fill in whatever the view offers, and take it back."""
    panel = lab.sidebar.locator(LIST)
    for fold in panel.locator(".jp-mlgpu-CellControls-row button[aria-expanded=false]").all():
        fold.click()
        settle(lab)
    for choice in panel.locator("select:visible").all():
        values = choice.locator("option:not([disabled])").evaluate_all("all => all.map(one => one.value)")
        first = choice.input_value()
        for value in [*values[:8], first]:
            choice.select_option(value)
            settle(lab)
    # What one of them leaves decides which others there are meanwhile.
    for button in panel.locator("button[aria-pressed]:visible:not([disabled])").element_handles():
        for _ in range(2):
            button.click()
            settle(lab)
    for field in panel.get_by_role("searchbox").all():
        for text in ("step 99", "line 7 of cell 1234 ", "no such words", ""):
            field.fill(text)
            settle(lab)


SCROLL = """([scroller, step]) => new Promise(resolve => {
    const frames = [];
    let last = performance.now();
    const frame = () => {
        const now = performance.now();
        frames.push(now - last);
        last = now;
        scroller.scrollTop += step;
        if (frames.length < 90) {
            requestAnimationFrame(frame);
        } else {
            resolve(frames.slice(1));
        }
    };
    scroller.scrollTop = step < 0 ? scroller.scrollHeight : 0;
    requestAnimationFrame(frame);
})"""


def scroll(lab: Lab, scroller: Locator, chromium: Browser, name: str, tell: Print) -> None:
    """Scroll for 90 frames, 600 pixels each, up from the end and then down from the start.

    Frames are those of the best of several tries: the first runs code that the browser has not compiled yet,
    and what else the machine does can only add to the clock.
    """
    handle = scroller.element_handle()
    for where, step in (("up", -600), ("down", 600)):
        what = f"{name}: scrolling {where}"
        medians: list[float] = []

        def once(step: int = step, medians: list[float] = medians) -> None:
            medians.append(statistics.median(lab.page.evaluate(SCROLL, [handle, step])))

        while len(medians) < TRIES and min(medians, default=inf) > FRAME_LIMIT_MS:
            check_act(what, once, chromium, lab.page, tell)
        tries = " ".join(f"{one:.1f}" for one in medians)
        tell(f"{what}: a frame took {tries} ms by the clock (the median of each try)")
        assert min(medians) <= FRAME_LIMIT_MS


@pytest.mark.timeout(600)
def test_of_a_record_of_ten_megabytes_the_kernel_tells_a_part_that_does_not_block_the_page(
    lab: Lab, chromium: Browser, tell: Print
) -> None:
    lab.page.set_default_timeout(120_000)
    lab.write("large_live.ipynb", LOAD, FILL, *FILL_WITH_LARGE_ONES)
    lab.open("large_live.ipynb")
    for index in range(2):
        lab.run_to_end(index)
    cells = iter((2, 3, 4))

    def make_one_more() -> None:
        index = next(cells)
        lab.run_to_end(index)
        wait_for_text(lab, f"large record {index}")

    check_act("a record of 10 MB", make_one_more, chromium, lab.page, tell)
    lab.show_logs()
    expect(lab.sidebar).to_contain_text(re.compile("Lines left out here: [0-9],"))
    lab.page.set_default_timeout(20_000)


FILL_WITH_LARGE_ONES = [
    f"""
lines = tuple(dataclasses.replace(line(1, number), text="x" * 5000) for number in range(2000))
store.add(dataclasses.replace(example_record({5000 + index}, name="large record {index}"), logs=lines))
"""
    for index in (2, 3, 4)
]


def test_at_most_twenty_messages_a_second_are_sent_and_no_output_of_the_user_is_lost(
    lab: Lab, tell: Print
) -> None:
    """The kernel's own time stamps are counted: a busy machine may hand several messages over at once."""
    sent: list[float] = []
    bytes_: list[int] = []

    def listen(socket: WebSocket) -> None:
        socket.on("framereceived", note)

    def note(frame: str | bytes) -> None:
        text = frame.decode(errors="replace") if isinstance(frame, bytes) else frame
        if '"comm_msg"' in text and '"comm_id": "jupyter_mlgpu"' in text:
            stamp = re.search(r'"date": ?"([^"]+)"', text)
            assert stamp is not None
            sent.append(datetime.fromisoformat(stamp.group(1)).timestamp())
            bytes_.append(len(text))

    lab.page.on("websocket", listen)
    lab.write("stream.ipynb", LOAD, FILL, PRINT_WHILE_RECORDS_ARE_MADE)
    lab.open("stream.ipynb")
    for index in range(3):
        lab.run_to_end(index)
    expect(lab.sidebar.get_by_role("tab", name=re.compile("Cells 2,00"))).to_be_visible(timeout=60_000)
    lab.page.remove_listener("websocket", listen)
    # Several connections of the page hear each message.
    times = sorted(set(sent))
    most = max(sum(start <= time < start + 1 for time in times) for start in times)
    tell(f"{len(times)} messages, at most {most} in a second, of {max(bytes_) / 1000:.0f} kB at most")
    assert len(times) > MESSAGES_A_SECOND
    assert most <= MESSAGES_A_SECOND
    printed = lab.page.evaluate(
        """() => {
            const { outputs } = jupyterapp.shell.currentWidget.content.widgets[2].model;
            const streams = [...Array(outputs.length).keys()].map(index => outputs.get(index).toJSON());
            const printed = streams.filter(one => one.name === 'stdout').flatMap(one => one.text);
            return printed.join('');
        }"""
    )
    assert printed.split() == [str(number) for number in range(4000)]


#: 1,000 prints a second for 4 s, and 500 records a second.
PRINT_WHILE_RECORDS_ARE_MADE = """
import time

start = time.perf_counter()
for number in range(4000):
    print(number)
    if number % 2 == 0:
        store.add(record(number))
    time.sleep(max(0, start + number / 1000 - time.perf_counter()))
"""
