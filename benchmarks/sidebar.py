"""Measure what the extension adds to JupyterLab's start, and the sidebar under load, in a real Chromium.

Start: each loads the page with an empty workspace, from the browser's cache, and is timed by the page itself,
from its navigation to JupyterLab's restored layout. For comparison the same server lists the extension as
disabled. Target: 20 ms more.

Open: a saved notebook of 1,000 cells, each with its receipt, is opened, until the page has drawn it and has
nothing more to do, with the extension and without. Target: 1.1 times as long.

Load: 10,000 records with 100,000 lines come to a browser, by snapshot and as they are made; each tab is
shown, every control used, every list scrolled. 1,000 receipts of a saved notebook are read; so are records of
10 MB, live and saved. Live numbers are followed from their sampling to the screen, and the page is reloaded
in mid-cell. The longest of all tasks of the page's main thread counts, JupyterLab's and the browser's own
included, in CPU time from Chromium's tracing: by the clock, a task of 20 ms can take 100 ms because another
process has the processor. Each figure is a ratio to its target; the median of a few repeats is judged, and a
repeat beyond the target leaves the figure not settled.

It needs `make browser`.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
import tempfile
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import Browser, Locator, Page, sync_playwright

from benchmarks.kernel import LOAD
from benchmarks.report import (
    RATIO,
    CannotMeasureError,
    Figure,
    Table,
    add_pairs,
    difference_figure,
    ratio_figure,
)
from benchmarks.statistics import interleave, median_to_highest
from jupyter_mlgpu.show.receipts.bundle import bundle
from jupyter_mlgpu.testing import example_record
from tests.jupyter.lab.conftest import EXTENSION, Lab, Server
from tests.jupyter.lab.load import FILL, open_saved, receipt, settle, wait_for_text, write_saved
from tests.support import browser  # finds the Chromium of the browser tests

PACKAGES = ("jupyterlab", "playwright")
#: Seconds that the extension may add to JupyterLab's start.
TARGET_START = 0.020
#: Times as long that a notebook with receipts may take to open as without the extension.
TARGET_OPEN = 1.1
#: Cells with receipts in it.
RECEIPTS = 1_000
#: Milliseconds until something must have happened; what is measured has no limit of its own.
PATIENCE = 120_000


class Target(NamedTuple):
    """The most that a figure may be, in `unit`."""

    what: str
    most: float
    unit: str


class Task(NamedTuple):
    """A task of the page: its seconds of CPU time, and the address of the first script that it called."""

    cpu: float
    script: str


TASK = Target("CPU time of the longest task", 50, "ms")
FRAME = Target("a frame by the clock, the median of 90", 20, "ms")
MEMORY = Target("memory after garbage collection", 150, "MB")
AGE = Target("from sampling to screen, for 95 of 100", 0.3, "s")
BACK = Target("from JupyterLab's being ready", 2.0, "s")

#: Live numbers whose age is taken in one repeat; there are two a second.
SAMPLES = 20
#: A view with records or lines in it, and what finds and sorts them.
LIST = ".jp-mlgpu-Records"
RUNNING, CHART = ".jp-mlgpu-Running", ".jp-mlgpu-Gauge svg"
#: Our script, and React, which draws what we told it to and other things of JupyterLab.
OURS_OR_REACT = "extensions/jupyter-mlgpu/|static/lab/5098"

#: Milliseconds from the navigation's start to the restored layout, and whether the extension is there.
RESTORED = """async () => {
    while (!window.jupyterapp) { await new Promise(done => setTimeout(done, 1)); }
    await window.jupyterapp.restored;
    return [performance.now(), window.jupyterapp.commands.hasCommand('jupyter-mlgpu:open')];
}"""

#: Milliseconds in which a notebook is opened and drawn, until the page has nothing to do.
OPENED = """async path => {
    const begun = performance.now();
    const notebook = await jupyterapp.commands.execute('docmanager:open', { path });
    await notebook.revealed;
    await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() =>
        requestIdleCallback(() => done()))));
    return performance.now() - begun;
}"""

#: Milliseconds from the navigation's start to the restored layout, once it is there.
READY = "() => window.jupyterapp?.restored.then(() => performance.now())"

FILL_IN_SILENCE = "store.extend(record(number) for number in range(7000))"
FILL_WITH_DELTAS = [
    f"for number in range({first}, {first + 1000}): store.add(record(number))" for first in (7000, 8000, 9000)
]
ADD_A_LARGE_ONE = """
lines = tuple(replace(line(1, number), text="x" * 5000) for number in range(2000))
store.add(replace(example_record(5000, name="large record"), logs=lines))
"""
WAIT = "import time\nwhile True:\n    time.sleep(0.01)"

SCROLL = """([scroller, step]) => new Promise(resolve => {
    const frames = [];
    let last = performance.now();
    const frame = () => {
        const now = performance.now();
        frames.push(now - last);
        last = now;
        scroller.scrollTop += step;
        if (frames.length <= 90) {
            requestAnimationFrame(frame);
        } else {
            resolve(frames.slice(1));
        }
    };
    scroller.scrollTop = step < 0 ? scroller.scrollHeight : 0;
    requestAnimationFrame(frame);
})"""

#: Of the numbers that come next, seconds from their sampling to the first frame that shows them.
AGES = """count => new Promise(resolve => {
    const gauges = document.querySelector('.jp-mlgpu-Gauges');
    const ages = [];
    const observer = new MutationObserver(() => {
        const sampled = Date.parse(gauges.dataset.sampled);
        requestAnimationFrame(() => setTimeout(() => {
            ages.push((Date.now() - sampled) / 1000);
            if (ages.length === count) {
                observer.disconnect();
                resolve(ages);
            }
        }));
    });
    observer.observe(gauges, { attributeFilter: ['data-sampled'] });
})"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the part, and how often it is measured."""
    parser.add_argument("--part", choices=("start", "open", "load"), help="default: all")
    add_pairs(parser, 11, "pairs of starts, and of openings")
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="of the load (default 3)")


def measure(options: argparse.Namespace) -> Iterator[Table]:
    """Measure with one server and one Chromium."""
    with running_chromium() as chromium, tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder))
        try:
            if options.part in (None, "start"):
                yield _measure_start(chromium, server, options.pairs)
            if options.part in (None, "open"):
                yield _measure_open(chromium, server, options.pairs)
            if options.part in (None, "load"):
                yield _measure_load(chromium, server, options.repeats)
        finally:
            server.stop()


@contextmanager
def running_chromium() -> Iterator[Browser]:
    """Start the Chromium of the browser tests, and end it with the block."""
    executable = browser.on_path()
    reason = browser.why_it_does_not_start(executable)
    if reason is not None:
        raise CannotMeasureError(
            f"This case needs a Chromium, and none starts ({reason}): run `make browser`."
        )
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable)
        try:
            yield chromium
        finally:
            chromium.close()


def _new_page(chromium: Browser) -> Page:
    page = chromium.new_page()
    page.set_default_timeout(PATIENCE)
    return page


# -- JupyterLab's start ---------------------------------------------------------------------------


def _measure_start(chromium: Browser, server: Server, count: int) -> Table:
    page = _new_page(chromium)

    def start(on: bool) -> float:
        return _load_page(page, server, on)

    for on in (True, False):  # fills the browser's cache
        start(on)
    pairs = interleave(count, start, "Starting JupyterLab")
    server.set_extension(EXTENSION, enabled=True)
    page.close()
    return Table(
        "JupyterLab's start to its restored layout", [difference_figure("added", pairs, TARGET_START)]
    )


def _load_page(page: Page, server: Server, on: bool) -> float:
    """Load JupyterLab with the extension or without; return the seconds until its layout is restored."""
    server.set_extension(EXTENSION, enabled=on)
    page.goto("about:blank")
    page.goto(f"{server.url}lab?reset&token=test")
    milliseconds, there = page.evaluate(RESTORED)
    if there is not on:
        raise CannotMeasureError(
            f"The extension was to be {'on' if on else 'off'}, and was not: `make install`."
        )
    return float(milliseconds) / 1000


def _measure_open(chromium: Browser, server: Server, count: int) -> Table:
    page = _new_page(chromium)
    outputs = [
        [{"output_type": "display_data", "metadata": {}, "data": bundle(example_record(number))}]
        for number in range(1, RECEIPTS + 1)
    ]
    write_saved(Lab(page, server), "receipts.ipynb", outputs)

    def open_notebook(on: bool) -> float:
        _load_page(page, server, on)
        return float(page.evaluate(OPENED, "receipts.ipynb")) / 1000

    for on in (True, False):
        open_notebook(on)
    pairs = interleave(count, open_notebook, "Opening the notebook")
    server.set_extension(EXTENSION, enabled=True)
    page.close()
    figure = ratio_figure("with the extension over without", pairs, TARGET_OPEN)
    return Table(f"A saved notebook with {RECEIPTS:,} receipts, until it is drawn", [figure])


# -- the page's tasks -----------------------------------------------------------------------------


def tasks_of(events: list[dict[str, Any]]) -> Iterator[Task]:
    """Read the tasks of the page's main thread from the events of a trace of Chromium."""
    whole = [event for event in events if event["ph"] == "X" and "tdur" in event]
    threads = [(event["pid"], event["tid"]) for event in whole if event["name"] == "FunctionCall"]
    # Of all threads of all processes, the page's main one calls most functions.
    main = max(set(threads), key=threads.count)
    whole = sorted((event for event in whole if (event["pid"], event["tid"]) == main), key=itemgetter("ts"))
    calls = deque(event for event in whole if event["name"] == "FunctionCall")
    for task in (event for event in whole if event["name"] == "ThreadControllerImpl::RunTask"):
        while calls and calls[0]["ts"] < task["ts"]:
            calls.popleft()
        called = calls and calls[0]["ts"] <= task["ts"] + task["dur"]
        script = calls[0]["args"].get("data", {}).get("url", "") if called else ""
        yield Task(task["tdur"] / 1e6, script)


def heap(page: Page) -> int:
    """Return the bytes that the page's scripts and documents hold after garbage collection."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.enable")
    session.send("HeapProfiler.collectGarbage")
    used = session.send("Runtime.getHeapUsage")
    session.detach()
    return int(used["usedSize"] + used["embedderHeapUsedSize"] + used["backingStorageSize"])


# -- the sidebar under load -----------------------------------------------------------------------


@dataclass(slots=True)
class Load:
    """One tab, in which things are done, and what was measured by name and target, in each repeat."""

    chromium: Browser
    server: Server
    lab: Lab
    values: dict[tuple[str, Target], list[float]] = field(default_factory=dict)

    def note(self, what: str, target: Target, value: float) -> None:
        """Keep one more repeat."""
        self.values.setdefault((what, target), []).append(value)

    @contextmanager
    def task(self, what: str, begun_by: str = "") -> Iterator[None]:
        """Note the longest task of what is done in the block.

        `begun_by` is a pattern of the scripts whose tasks count; without one, all tasks do.
        """
        # Tasks of the browser's event loop, and the functions with which scripts begin to run in them.
        self.chromium.start_tracing(page=self.lab.page, categories=["toplevel", "devtools.timeline"])
        yield
        tasks = tasks_of(json.loads(self.chromium.stop_tracing())["traceEvents"])
        longest = max((task for task in tasks if re.search(begun_by, task.script)), key=attrgetter("cpu"))
        self.note(what, TASK, longest.cpu * 1e3)

    def show(self, tab: Locator) -> None:
        """Choose a tab of the sidebar."""
        tab.evaluate("tab => tab.click()")
        settle(self.lab)

    def show_now(self) -> None:
        """Choose the sidebar's live numbers, and wait for them."""
        self.show(self.lab.sidebar.get_by_role("tab", name="Now"))
        self.lab.sidebar.locator(CHART).first.wait_for()

    def close(self) -> None:
        """Close all notebooks without saving them, and end all kernels."""
        self.lab.close_notebooks()
        self.server.end_kernels()

    def figures(self) -> list[Figure]:
        """Return each figure as its ratio to the target."""
        figures = []
        for (what, target), values in self.values.items():
            ratios = [value / target.most for value in values]
            found = median_to_highest(ratios)
            columns = {
                "at most": f"{target.what}: {target.most:g} {target.unit}",
                "repeats": " ".join(f"{ratio:.2f}" for ratio in ratios),
            }
            figures.append(Figure(what, found.value, found, RATIO, 1.0, columns))
        return figures


def _measure_load(chromium: Browser, server: Server, repeats: int) -> Table:
    # One window for all, so that JupyterLab's files come from its cache.
    load = Load(chromium, server, Lab(_new_page(chromium), server))
    for scenario in (many_records, large_record, saved_receipts, saved_large_record, live_numbers):
        for number in range(1, repeats + 1):
            print(f"{scenario.__name__}: {number} of {repeats}", file=sys.stderr)
            scenario(load, f"{scenario.__name__}_{number}.ipynb")
    print("reload_in_mid_cell", file=sys.stderr)
    reload_in_mid_cell(load, "reload.ipynb", repeats)
    method = "Values are medians of ratios to the target, which are judged; intervals reach to the highest."
    return Table("The sidebar under load", load.figures(), method=method)


def many_records(load: Load, name: str) -> None:
    """Have 10,000 records and 100,000 lines come, and show, sort, search and scroll them."""
    lab = load.lab
    lab.write(name, LOAD, FILL, FILL_IN_SILENCE, *FILL_WITH_DELTAS)
    lab.open(name)
    for index in range(3):
        lab.run_to_end(index)
    held = heap(lab.page)
    with load.task("7,000 records by snapshot"):
        # The browser asks for one, as it does when its connection was lost for a while.
        lab.page.evaluate("() => jupyterapp.shell.currentWidget.sessionContext.session.kernel.reconnect()")
        wait_for_text(lab, "Cells 7,00")
    load.show(lab.sidebar.get_by_role("tab", name="Messages"))
    for index, cells in ((3, "8,00"), (4, "9,00"), (5, "10,00")):
        with load.task("1,000 records as they are made"):
            lab.run_to_end(index)
            wait_for_text(lab, f"Cells {cells}[0-9]")
    tabs = lab.sidebar.get_by_role("tab").all()
    for tab, other in zip(tabs, [*tabs[1:], tabs[0]], strict=True):
        view = tab.inner_text().partition(" ")[0]
        load.show(other)
        with load.task(f"{view}: showing it"):
            load.show(tab)
        if lab.sidebar.locator(LIST).count() == 0:
            continue
        with load.task(f"{view}: sorting, filtering and searching"):
            use_every_control(lab)
        for scroller in lab.sidebar.locator(".jp-mlgpu-Scroller").all():
            scroll(load, scroller, view)
    load.note("memory of 10,000 records", MEMORY, (heap(lab.page) - held) / 1e6)
    load.close()


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
    for searchbox in panel.get_by_role("searchbox").all():
        for text in ("step 99", "line 7 of cell 1234 ", "no such words", ""):
            searchbox.fill(text)
            settle(lab)


def scroll(load: Load, scroller: Locator, view: str) -> None:
    """Scroll for 90 frames, 600 pixels each, up from the end and then down from the start."""
    handle = scroller.element_handle()
    for where, step in (("up", -600), ("down", 600)):
        what = f"{view}: scrolling {where}"
        with load.task(what):
            frames = load.lab.page.evaluate(SCROLL, [handle, step])
        load.note(what, FRAME, statistics.median(frames))


def large_record(load: Load, name: str) -> None:
    """Make a record of 10 MB, of which the kernel sends a part."""
    lab = load.lab
    lab.write(name, LOAD, FILL, ADD_A_LARGE_ONE)
    lab.open(name)
    for index in range(2):
        lab.run_to_end(index)
    with load.task("a record of 10 MB as it is made"):
        lab.run_to_end(2)
        wait_for_text(lab, "large record")
    load.close()


def saved_receipts(load: Load, name: str) -> None:
    """Open a notebook with 1,000 receipts of ten lines each."""
    receipts = [[receipt(part * 10 + number, lines=10) for number in range(10)] for part in range(100)]
    read_saved(load, name, "1,000 saved receipts", receipts, ("Cells 1,000", "Messages 10,000"))


def saved_large_record(load: Load, name: str) -> None:
    """Open a notebook with a receipt of 10 MB, of which a part is read."""
    receipts = [[receipt(1, lines=2000, text="x" * 5000)]]
    read_saved(load, name, "a saved record of 10 MB", receipts, ("Cells 1", "Messages [0-9]"))


def read_saved(
    load: Load, name: str, what: str, receipts: list[list[dict[str, Any]]], expected: tuple[str, ...]
) -> None:
    """Open a notebook with these receipts, in a page that has JupyterLab and the sidebar loaded."""
    lab = load.lab
    lab.write("small.ipynb", "1")
    lab.open("small.ipynb")
    write_saved(lab, name, receipts)
    held = heap(lab.page)
    # JupyterLab reads a notebook and draws its cells in tasks of its own, which call our receipts, too.
    with load.task(what, OURS_OR_REACT):
        open_saved(lab, name)
        wait_for_text(lab, *expected)
    more = (heap(lab.page) - held) / 1e6
    load.note(f"memory of {what}, the notebook's own included", MEMORY, more)
    load.close()


def live_numbers(load: Load, name: str) -> None:
    """Take the age of live numbers when they are on screen."""
    lab = load.lab
    lab.write(name, LOAD)
    lab.open(name)
    lab.run_to_end(0)
    load.show_now()
    ages = sorted(lab.page.evaluate(AGES, SAMPLES))
    load.note("a live number", AGE, ages[int(0.95 * len(ages)) - 1])
    load.close()


def reload_in_mid_cell(load: Load, name: str, repeats: int) -> None:
    """Reload a page whose kernel runs a cell, until its sidebar is back with the cell and the charts."""
    load.lab = lab = Lab(_new_page(load.chromium), load.server)
    lab.write(name, LOAD, "before = 1", WAIT)
    lab.open(name)
    for index in range(2):
        lab.run_to_end(index)
    load.show_now()
    lab.run(2)
    lab.sidebar.locator(RUNNING).wait_for()
    lab.save()
    lab.wait_until_layout_is_kept()
    for _ in range(repeats):
        lab.page.reload()
        ready = lab.page.wait_for_function(READY).json_value()
        for what, selector in (("the running cell", RUNNING), ("the charts", CHART)):
            lab.sidebar.locator(selector).first.wait_for()
            seconds = (lab.page.evaluate("performance.now()") - ready) / 1000
            load.note(f"reload in mid-cell: {what}", BACK, seconds)
    lab.page.close()
