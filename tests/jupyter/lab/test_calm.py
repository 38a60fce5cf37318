"""Nothing moves while cells run and end, and short cells are silent where nobody asked for their receipts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from playwright.sync_api import expect

if TYPE_CHECKING:
    from tests.jupyter.lab.conftest import Lab

#: As a student's kernel is: nobody has asked for the receipts of all cells.
LOAD = "%env JUPYTER_MLGPU_RECEIPTS=\n%load_ext jupyter_mlgpu"
SHORT, MIDDLE, LONG = "a = 1", "import time; time.sleep(0.15)", "import time; time.sleep(1.6)"

#: Collects the browser's own entries of what moved by more than 2 px: what is ours, what has something of
#: ours in it, and cells above the one that runs. Those below it are moved by its output, of which the receipt
#: is a part, as in any notebook.
OBSERVE = """() => {
    window.moved = [];
    const most = 2;
    new PerformanceObserver(list => {
        for (const { sources, hadRecentInput } of list.getEntries()) {
            for (const { node, previousRect: was, currentRect: is } of sources) {
                const by = Math.max(Math.abs(is.x - was.x), Math.abs(is.y - was.y));
                const element = node?.nodeType === 1 ? node : node?.parentElement;
                const cells = [...document.querySelectorAll('.jp-Notebook .jp-Cell')];
                const at = cells.indexOf(element?.closest('.jp-Cell'));
                const isOurs = at < 0
                    ? element?.closest('[class*="jp-mlgpu"]') || element?.querySelector('[class*="jp-mlgpu"]')
                    : at < window.runs;
                if (isOurs && by > most && !hadRecentInput && was.height > 0 && is.height > 0) {
                    window.moved.push(`${element.className} by ${by} px in cell ${window.runs}`);
                }
            }
        }
    }).observe({ type: 'layout-shift' });
}"""


def test_nothing_moves_while_thirty_cells_run_and_end(lab: Lab) -> None:
    codes = [LOAD, *(LONG if number % 10 == 5 else MIDDLE if number % 3 else SHORT for number in range(30))]
    lab.write("calm.ipynb", *codes)
    lab.open("calm.ipynb")
    lab.run_to_end(0)
    expect(lab.sidebar).to_contain_text("No receipts yet")
    lab.page.evaluate(OBSERVE)
    for index in range(1, 31):
        lab.page.evaluate("index => { window.runs = index; }", index)
        lab.run_to_end(index)
    expect(lab.records.first).to_be_visible()
    assert lab.page.evaluate("() => window.moved") == []


def test_a_receipt_says_what_its_cell_added_to_the_memory_and_not_what_the_process_has(lab: Lab) -> None:
    count = "n, end = 0, __import__('time').time() + 0.3\nwhile __import__('time').time() < end: n += 1"
    lab.write("grown.ipynb", LOAD, "import time; kept = bytearray(200 * 2**20); time.sleep(0.2)", count)
    lab.open("grown.ipynb")
    for index in range(3):
        lab.run_to_end(index)
    expect(lab.cell(1).locator(".jp-mlgpu-Receipt")).to_contain_text(re.compile(r"memory \+20\d MiB"))
    expect(lab.cell(2).locator(".jp-mlgpu-Receipt")).to_have_count(1)
    expect(lab.cell(2).locator(".jp-mlgpu-Receipt")).not_to_contain_text("memory")


def test_a_short_cell_is_silent_and_the_sidebar_has_it(lab: Lab) -> None:
    lab.write("silent.ipynb", LOAD, SHORT, MIDDLE, "%%mlc_trace\nb = 1", "1 / 0")
    lab.open("silent.ipynb")
    for index in range(5):
        lab.run_to_end(index)
    expect(lab.cell(4).locator(".jp-mlgpu-Receipt")).to_contain_text("error")
    expect(lab.cell(3).locator(".jp-mlgpu-Receipt")).to_have_count(1)
    expect(lab.cell(2).locator(".jp-mlgpu-Receipt")).to_contain_text(" ms")
    expect(lab.cell(1).locator(".jp-mlgpu-Receipt")).to_have_count(0)
    expect(lab.records.filter(has_text="a = 1")).to_have_count(1)
