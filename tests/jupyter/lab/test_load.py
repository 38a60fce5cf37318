"""The sidebar under load: what arrives comes in parts, is drawn in parts, and takes nobody's place.

What is counted does not depend on the machine; how long it takes, `python -m benchmarks sidebar` measures.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.jupyter.lab.load import COUNT_ROWS, FILL, Heard, count_slices, settle, slices, wait_for_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Locator

    from tests.jupyter.lab.conftest import Lab

LOAD = "%load_ext jupyter_mlgpu"

#: Bytes of one of our messages: 200 kB of records, and what is around them.
MESSAGE = 210_000
#: Bytes of a message with a record that is larger: it is told alone, and in part.
LARGEST_MESSAGE = 1_010_000
MESSAGES_A_SECOND = 20
#: Rows in the page, of however many there are.
FEW_ROWS = 60
#: Rows made in one go: of rows with text a task makes three, and of those that are there it may move some.
FEW_AT_ONCE = 8
#: The same for rows that are one line of a few elements each.
FEW_LINES_AT_ONCE = 10

#: A view with records or lines in it, and what finds and sorts them.
LIST = ".jp-mlgpu-Records"

FILL_IN_SILENCE = "store.extend(record(number) for number in range(300))"
FILL_WITH_DELTAS = "for number in range(300, 500): store.add(record(number))"


@pytest.fixture
def heard(lab: Lab) -> Iterator[Heard]:
    """What the page receives of our messages, from the test's beginning on."""
    heard = Heard()
    lab.page.on("websocket", heard.listen)
    yield heard
    lab.page.remove_listener("websocket", heard.listen)


@pytest.mark.slow
def test_hundreds_of_records_and_thousands_of_lines_arrive_in_messages_of_a_bounded_size(
    lab: Lab, heard: Heard
) -> None:
    fill(lab, "load.ipynb")
    broadcasts = len(heard.broadcasts)
    ask_again(lab)
    wait_for_text(lab, "Cells 30[0-9]")
    assert max(heard.answers) <= MESSAGE
    assert len(heard.answers) >= sum(heard.answers) / MESSAGE
    assert sum(heard.answers) > 5 * MESSAGE, "fewer bytes than these records have"
    lab.run_to_end(3)
    wait_for_text(lab, "Cells 50[0-9]", "Messages 5,00")
    assert max(heard.broadcasts) <= MESSAGE
    assert sum(heard.broadcasts[broadcasts:]) > 3 * MESSAGE, "fewer bytes than these records have"


@pytest.mark.slow
def test_of_thousands_of_lines_few_rows_are_in_the_page_and_few_are_made_at_once(
    lab: Lab,
) -> None:
    fill(lab, "rows.ipynb")
    ask_again(lab)
    lab.run_to_end(3)
    wait_for_text(lab, "Cells 50[0-9]", "Messages 5,00")
    lab.page.evaluate(COUNT_ROWS)
    for tab in lab.sidebar.get_by_role("tab").all():
        show(lab, tab)
        if lab.sidebar.locator(LIST).count() == 0:
            continue
        use_every_control(lab)
        for scroller in lab.sidebar.locator(".jp-mlgpu-Scroller").all():
            scroll(lab, scroller)
        lines = lab.sidebar.locator(".jp-mlgpu-Alike").count() > 0
        assert lab.page.evaluate("() => window.mostRows") <= (FEW_LINES_AT_ONCE if lines else FEW_AT_ONCE)
        lab.page.evaluate("() => { window.mostRows = 0; }")
    assert lab.page.evaluate("() => window.allRows") > FEW_ROWS
    show(lab, lab.sidebar.get_by_role("tab", name=re.compile("Cells 50[0-9]")))
    expect(lab.sidebar.get_by_role("tab", name=re.compile("Messages 5,00"))).to_be_visible()


@pytest.mark.slow
def test_many_lines_are_searched_in_slices_between_which_the_page_answers(
    new_tab: Callable[[], Lab],
) -> None:
    lab = new_tab()
    fill(lab, "slices.ipynb")
    ask_again(lab)
    wait_for_text(lab, "Messages 3,00")
    lab.show_logs()
    expect(lab.log.last).to_be_visible(timeout=60_000)
    count_slices(lab.page)
    lab.sidebar.get_by_role("searchbox").fill("line 7 of cell 123 ")
    expect(lab.log).to_have_count(1, timeout=60_000)
    # At a clock that is always over the time, a slice for each record with lines.
    assert slices(lab.page) >= 300


def fill(lab: Lab, name: str) -> None:
    """A kernel with 300 records of which the browser has not heard; a further cell makes 200."""
    lab.write(name, LOAD, FILL, FILL_IN_SILENCE, FILL_WITH_DELTAS)
    lab.open(name)
    for index in range(3):
        lab.run_to_end(index)


def ask_again(lab: Lab) -> None:
    """Have the browser ask for a snapshot, as it does when its connection was lost for a while."""
    lab.page.evaluate("() => jupyterapp.shell.currentWidget.sessionContext.session.kernel.reconnect()")


def show(lab: Lab, tab: Locator) -> None:
    tab.evaluate("tab => tab.click()")
    expect(tab).to_have_attribute("aria-selected", "true")
    settle(lab)
    assert rows(lab).count() < FEW_ROWS


def rows(lab: Lab) -> Locator:
    return lab.sidebar.locator(".jp-mlgpu-Scroller [data-index]")


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
            assert rows(lab).count() < FEW_ROWS
    # What one of them leaves decides which others there are meanwhile.
    for button in panel.locator("button[aria-pressed]:visible:not([disabled])").element_handles():
        for _ in range(2):
            button.click()
            settle(lab)
            assert rows(lab).count() < FEW_ROWS
    for field in panel.get_by_role("searchbox").all():
        for text in ("step 99", "line 7 of cell 123 ", "no such words", ""):
            field.fill(text)
            settle(lab)
            assert rows(lab).count() < FEW_ROWS


def scroll(lab: Lab, scroller: Locator) -> None:
    """Up from the end and down from the start, in steps of more than a page."""
    for start, step in (("scroller.scrollHeight", -600), ("0", 600)):
        scroller.evaluate(
            f"""async scroller => {{
                scroller.scrollTop = {start};
                for (let frame = 0; frame < 10; frame++) {{
                    await new Promise(requestAnimationFrame);
                    scroller.scrollTop += {step};
                }}
            }}"""
        )
        settle(lab)
        assert 0 < rows(lab).count() < FEW_ROWS


@pytest.mark.slow
def test_of_a_record_of_ten_megabytes_the_kernel_tells_a_part_and_says_what_is_left_out(
    lab: Lab, heard: Heard
) -> None:
    lab.write("large_live.ipynb", LOAD, FILL, FILL_WITH_A_LARGE_ONE)
    lab.open("large_live.ipynb")
    for index in range(3):
        lab.run_to_end(index)
    wait_for_text(lab, "large record")
    assert max(heard.broadcasts) <= LARGEST_MESSAGE
    lab.show_logs()
    expect(lab.sidebar).to_contain_text(re.compile("Messages left out here: [0-9],"))


FILL_WITH_A_LARGE_ONE = """
from msgspec.structs import replace
lines = tuple(replace(line(1, number), text="x" * 5000) for number in range(2000))
store.add(replace(example_record(5000, name="large record"), logs=lines))
"""


@pytest.mark.slow
def test_at_most_twenty_messages_a_second_are_sent_and_no_output_of_the_user_is_lost(
    lab: Lab, heard: Heard
) -> None:
    """The kernel's own time stamps are counted: a busy machine may hand several messages over at once."""
    lab.write("stream.ipynb", LOAD, FILL, PRINT_WHILE_RECORDS_ARE_MADE)
    lab.open("stream.ipynb")
    for index in range(3):
        lab.run_to_end(index)
    wait_for_text(lab, "Cells 2,00")
    most = max(sum(start <= time < start + 1 for time in heard.times) for start in heard.times)
    assert len(heard.times) > MESSAGES_A_SECOND
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


PRINT_WHILE_RECORDS_ARE_MADE = """
for number in range(4000):
    print(number)
    if number % 2 == 0:
        store.add(record(number))
"""
