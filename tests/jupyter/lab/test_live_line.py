"""While a cell runs, a line under it says what it is at; one that ended where nobody saw it is told of."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Locator, Page, expect

if TYPE_CHECKING:
    from tests.jupyter.lab.conftest import Gate, Lab, Server

FAKE_DRIVER = Path(__file__).parents[2] / "support" / "fake_nvml"
LOAD = "%load_ext jupyter_mlgpu"
LOAD_WITH_GPU = f"import sys\nsys.path.insert(0, {str(FAKE_DRIVER)!r})\n{LOAD}"
WORDS = re.compile(r"^\d+\.\d s · [\d.]+ cores? · [\d.]+ [MG]iB · gpu:0 \d+ %$")


@pytest.fixture
def notify_after(server: Server, page: Page) -> Iterator[Callable[[float], None]]:
    """Sets, for this test, from how many seconds on a cell's end is told."""

    def change(**values: float) -> None:
        server.change_setting("sidebar", values, package="jupyter-mlgpu")
        page.goto("about:blank")

    yield lambda seconds: change(notifyAfter=seconds)
    change()


def line(lab: Lab, index: int = 1) -> Locator:
    return lab.cell(index).get_by_role("timer", name="The running cell now")


def start(lab: Lab, name: str, gate: Gate, load: str = LOAD) -> None:
    """A notebook whose second cell runs until the gate opens."""
    lab.write(name, load, gate.cell)
    lab.open(name)
    lab.run_to_end(0)
    lab.run(1)


def test_a_running_cell_has_a_live_line_that_its_receipt_replaces(lab: Lab, gate: Gate) -> None:
    start(lab, "live.ipynb", gate, LOAD_WITH_GPU)
    expect(line(lab)).to_have_text(WORDS)
    expect(line(lab)).to_have_attribute("aria-live", "off")
    expect(lab.cell(1).locator(".jp-mlgpu-Receipt")).to_have_count(0)
    before = line(lab).inner_text()
    expect(line(lab)).not_to_have_text(before)
    gate.open()
    expect(lab.cell(1).locator(".jp-mlgpu-Receipt")).to_be_visible()
    expect(line(lab)).to_have_count(0)
    lab.save()
    assert "gpu:0" not in json.dumps(json.loads((lab.server.root / "live.ipynb").read_text())["cells"][1])


def test_a_cell_that_ran_before_says_how_long_it_took_also_in_a_fresh_kernel_and_page(
    lab: Lab, gate: Gate
) -> None:
    start(lab, "again.ipynb", gate)
    expect(line(lab)).to_have_text(re.compile(r"^4\.\d s"))
    expect(line(lab)).not_to_contain_text("last time")
    end(lab, gate)
    lab.run(1)
    expect(line(lab)).to_have_text(re.compile(r"^\d\.\d s of about 4\.\d s \(last time\) · "))
    expect(lab.running).to_have_text(re.compile(r"^Runninglast time 4\.\d s"))
    heights = (
        "node => ['', '150px'].map(width => (node.parentElement.style.width = width, node.offsetHeight))"
    )
    wide, narrow = line(lab).evaluate(heights)
    assert wide == narrow
    expect(line(lab)).to_have_text(re.compile(r"^[456]\.\d s \(4\.\d s last time\) · "))
    end(lab, gate)
    lab.save()
    lab.wait_until_layout_is_kept()
    lab.server.end_kernels()
    lab.reload()
    lab.wait_for_app()
    lab.run_to_end(0)
    lab.run(1)
    expect(line(lab)).to_have_text(re.compile(r"^\d\.\d s of about [456]\.\d s \(last time\)"))


def end(lab: Lab, gate: Gate) -> None:
    """Let the second cell end, and have the gate closed for the next one."""
    gate.open()
    expect(lab.cell(1).locator(".jp-mlgpu-Receipt")).to_be_visible()
    gate.path.unlink()


@pytest.mark.slow
def test_the_live_line_and_its_receipt_are_never_there_together(lab: Lab, gate: Gate) -> None:
    start(lab, "calm.ipynb", gate)
    expect(line(lab)).to_be_visible()
    lab.page.evaluate(
        """() => {
            window.heights = [];
            const cell = document.querySelectorAll('.jp-Cell')[1];
            new ResizeObserver(() => window.heights.push(cell.offsetHeight)).observe(cell);
        }"""
    )
    gate.open()
    expect(lab.cell(1).locator(".jp-mlgpu-Receipt")).to_be_visible()
    expect(line(lab)).to_have_count(0)
    heights = lab.page.evaluate("window.heights")
    assert max(heights) == heights[-1], heights


@pytest.mark.slow
def test_the_live_line_changes_at_most_twice_a_second(lab: Lab, gate: Gate) -> None:
    start(lab, "pace.ipynb", gate)
    expect(line(lab)).to_be_visible()
    times = line(lab).evaluate(
        """node => new Promise(resolve => {
            const times = [];
            new MutationObserver(() => times.push(performance.now()) > 10 && resolve(times))
                .observe(node, { childList: true, characterData: true, subtree: true });
        })"""
    )
    assert (times[-1] - times[0]) / (len(times) - 1) > 400, times


@pytest.mark.slow
def test_a_cell_that_is_soon_through_never_has_a_live_line(lab: Lab) -> None:
    lab.write("short.ipynb", LOAD, "a = 1")
    lab.open("short.ipynb")
    lab.run_to_end(0)
    lab.page.evaluate(
        """() => {
            window.seen = 0;
            new MutationObserver(() => {
                window.seen += document.querySelectorAll('.jp-mlgpu-LiveLine').length;
            }).observe(document.body, { childList: true, subtree: true });
        }"""
    )
    lab.run_to_end(1)
    expect(lab.cell(1).locator(".jp-mlgpu-Receipt")).to_be_visible()
    assert lab.page.evaluate("() => window.seen") == 0


@pytest.mark.slow
def test_a_cell_that_ends_in_a_notebook_out_of_sight_is_told_and_found_again(
    lab: Lab, gate: Gate, notify_after: Callable[[float], None]
) -> None:
    notify_after(0.2)
    lab.write("other.ipynb", "1")
    start(lab, "long.ipynb", gate)
    expect(line(lab)).to_be_visible()
    lab.open("other.ipynb")
    gate.open()
    notice = lab.page.locator(
        ".Toastify__toast", has_text=re.compile(r"^Cell \[2\] of long\.ipynb finished in")
    )
    expect(notice).to_be_visible()
    notice.get_by_role("button", name="Show the cell").click()
    lab.page.wait_for_function("() => jupyterapp.shell.currentWidget.context.path === 'long.ipynb'")
    assert lab.active_cell() == 1


@pytest.mark.slow
def test_what_was_told_of_a_cell_goes_when_its_notebook_is_looked_at(
    lab: Lab, gate: Gate, notify_after: Callable[[float], None]
) -> None:
    notify_after(0.2)
    lab.write("another.ipynb", "1")
    start(lab, "looked_at.ipynb", gate)
    expect(line(lab)).to_be_visible()
    lab.open("another.ipynb")
    gate.open()
    notice = lab.page.locator(".Toastify__toast", has_text="looked_at.ipynb")
    expect(notice).to_be_visible()
    lab.page.get_by_role("tab", name="looked_at.ipynb").click()
    expect(notice).to_have_count(0)


@pytest.mark.slow
def test_a_cell_that_ends_in_sight_is_not_told(
    lab: Lab, gate: Gate, notify_after: Callable[[float], None]
) -> None:
    notify_after(0.2)
    start(lab, "in_sight.ipynb", gate)
    expect(line(lab)).to_be_visible()
    gate.open()
    expect(lab.cell(1).locator(".jp-mlgpu-Receipt")).to_be_visible()
    expect(lab.page.locator(".Toastify__toast", has_text="in_sight.ipynb")).to_have_count(0)


#: A kernel whose jupyter_mlgpu fails with a long story.
BROKEN = """
import sys, types
fake = types.ModuleType("jupyter_mlgpu")
def load_ipython_extension(shell):
    raise RuntimeError("This is one of the sentences of a long story. " * 6 + "And this is the last one.")
fake.load_ipython_extension = load_ipython_extension
sys.modules["jupyter_mlgpu"] = fake
"""


@pytest.mark.slow
def test_a_long_notification_begins_with_whole_sentences_and_has_the_rest_behind_a_button(lab: Lab) -> None:
    lab.write("long.ipynb", BROKEN)
    lab.open("long.ipynb")
    lab.run_to_end(0)
    lab.page.evaluate("() => jupyterapp.shell.collapseRight()")
    lab.page.evaluate("() => void jupyterapp.commands.execute('jupyter-mlgpu:trace')")
    notice = lab.page.locator(".Toastify__toast", has_text="could not load")
    expect(notice).to_be_visible()
    expect(notice).not_to_contain_text("…")
    notice.get_by_role("button", name="Read all").click()
    dialog = lab.page.get_by_role("dialog")
    expect(dialog).to_contain_text("And this is the last one.")
    dialog.get_by_role("button", name="Ok").click()
