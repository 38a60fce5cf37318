"""How long the sidebar keeps its page under load, and how soon it shows what is news, in a real Chromium.

10,000 records with 100,000 lines come to a browser, by snapshot and as they are made; each tab is shown,
every control used, every list scrolled. 1,000 receipts of a saved notebook are read; so are records of 10 MB,
live and saved. Live numbers are followed from their sampling to the screen, and the page is reloaded in
mid-cell.

A task may keep the page for 50 ms of CPU time: of all tasks of the page's main thread, JupyterLab's and the
browser's own included, the longest counts. Each figure is given as its ratio to its target, for every repeat;
the median of them is judged.

Exit status 1: a figure whose median is above its target.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from msgspec.structs import replace
from playwright.sync_api import Browser, Locator

from benchmarks import machine, repeated, report
from benchmarks.lab_page import LabPage, Output
from benchmarks.lab_start import Server, running_chromium, running_server
from benchmarks.page_tasks import Task, heap, watching
from benchmarks.repeated import Figures, Target
from jupyter_mlgpu.record.record import LogLine
from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE
from jupyter_mlgpu.testing import example_record

REPEATS = 3
TASK = Target("CPU time of the longest task", 50, "ms")
FRAME = Target("a frame by the clock, the median of 90,", 20, "ms")
MEMORY = Target("memory after garbage collection", 150, "MB")
AGE = Target("from sampling to screen, for 95 of 100,", 0.3, "s")
BACK = Target("from JupyterLab's being ready", 2.0, "s")
TARGETS = (TASK, FRAME, MEMORY, AGE, BACK)

#: Live numbers whose age is taken in one repeat; there are two a second.
SAMPLES = 20

LOAD = "%load_ext jupyter_mlgpu"

#: A view with records or lines in it, and what finds and sorts them.
LIST = ".jp-mlgpu-Records"

#: Our script, and React, which draws what we told it to and other things of JupyterLab.
OURS_OR_REACT = "extensions/jupyter-mlgpu/|static/lab/5098"

#: Records with ten lines each, put into the kernel's own store.
FILL = """
from msgspec.structs import replace

from jupyter_mlgpu.measure import kit
from jupyter_mlgpu.record.record import LogLine
from jupyter_mlgpu.testing import example_record

def line(cell, number):
    text = (f"2026-01-01 00:00:00.{number:06d}: I tensorflow/core/common_runtime/executor.cc:{number}] "
            f"line {number} of cell {cell} says that nothing is the matter")
    return LogLine(text, None, "unknown", None, None, {}, 1, "stderr", "2026-01-01T00:00:00.000000Z", False)

def record(cell):
    return replace(
        example_record(cell, name=f"step {cell}"), logs=tuple(line(cell, n) for n in range(10))
    )

store = kit.current().store
"""
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

#: Notes, in a page that loads, when JupyterLab is ready, the running cell shown and the charts drawn.
NOTE_WHEN_BACK = """
const at = (window.at = {});
const look = () => {
    if (at.ready === undefined && window.jupyterapp?.restored && !at.waiting) {
        at.waiting = true;
        window.jupyterapp.restored.then(() => { at.ready = performance.now(); });
    }
    if (at.running === undefined && document.querySelector('.jp-mlgpu-Running')) {
        at.running = performance.now();
    }
    if (at.drawn === undefined && document.querySelector('.jp-mlgpu-Curve polyline')) {
        at.drawn = performance.now();
    }
    if (at.ready === undefined || at.running === undefined || at.drawn === undefined) {
        setTimeout(look, 5);
    }
};
look();
"""
SINCE_READY = """() => {
    const { ready, running, drawn } = window.at;
    return ready && running && drawn && [(running - ready) / 1000, (drawn - ready) / 1000];
}"""


class Measuring:
    """One tab, in which things are done and the longest task of each is noted."""

    def __init__(self, chromium: Browser, lab: LabPage, figures: Figures) -> None:
        self.lab = lab
        self.figures = figures
        self._chromium = chromium

    @contextmanager
    def task(self, what: str, judged: Callable[[Task], bool] = lambda _: True) -> Iterator[None]:
        """Note the longest task of what is done in the block; `judged` says which count."""
        with watching(self._chromium, self.lab.page) as watched:
            yield
        longest = next(filter(judged, watched.tasks))
        self.figures.note(what, TASK, longest.cpu * 1e3, str(longest))


def many_records(measuring: Measuring, name: str) -> None:
    """10,000 records and 100,000 lines: they come, are shown, sorted, searched and scrolled."""
    lab = measuring.lab
    lab.write(name, [LOAD, FILL, FILL_IN_SILENCE, *FILL_WITH_DELTAS])
    lab.open(name)
    for index in range(3):
        lab.run(index)
    held = heap(lab.page)
    with measuring.task("7,000 records by snapshot"):
        # The browser asks for one, as it does when its connection was lost for a while.
        lab.page.evaluate("() => jupyterapp.shell.currentWidget.sessionContext.session.kernel.reconnect()")
        lab.wait_for_text("Cells 7,00")
    lab.show(lab.sidebar.get_by_role("tab", name="Messages"))
    for index, cells in ((3, "8,00"), (4, "9,00"), (5, "10,00")):
        with measuring.task("1,000 records as they are made"):
            lab.run(index)
            lab.wait_for_text(f"Cells {cells}[0-9]")
    tabs = lab.sidebar.get_by_role("tab").all()
    for tab, other in zip(tabs, [*tabs[1:], tabs[0]], strict=True):
        view = tab.inner_text().partition(" ")[0]
        lab.show(other)
        with measuring.task(f"{view}: showing it"):
            lab.show(tab)
        if lab.sidebar.locator(LIST).count() == 0:
            continue
        with measuring.task(f"{view}: sorting, filtering and searching"):
            use_every_control(lab)
        for scroller in lab.sidebar.locator(".jp-mlgpu-Scroller").all():
            scroll(measuring, scroller, view)
    measuring.figures.note("memory of 10,000 records", MEMORY, (heap(lab.page) - held) / 1e6)
    lab.close()


def use_every_control(lab: LabPage) -> None:
    """Choose, press and fill in whatever the view offers, and take it back."""
    panel = lab.sidebar.locator(LIST)
    for fold in panel.locator(".jp-mlgpu-CellControls-row button[aria-expanded=false]").all():
        fold.click()
        lab.settle()
    for choice in panel.locator("select:visible").all():
        values = choice.locator("option:not([disabled])").evaluate_all("all => all.map(one => one.value)")
        first = choice.input_value()
        for value in [*values[:8], first]:
            choice.select_option(value)
            lab.settle()
    # What one of them leaves decides which others there are meanwhile.
    for button in panel.locator("button[aria-pressed]:visible:not([disabled])").element_handles():
        for _ in range(2):
            button.click()
            lab.settle()
    for searchbox in panel.get_by_role("searchbox").all():
        for text in ("step 99", "line 7 of cell 1234 ", "no such words", ""):
            searchbox.fill(text)
            lab.settle()


def scroll(measuring: Measuring, scroller: Locator, view: str) -> None:
    """Scroll for 90 frames, 600 pixels each, up from the end and then down from the start."""
    handle = scroller.element_handle()
    for where, step in (("up", -600), ("down", 600)):
        what = f"{view}: scrolling {where}"
        with measuring.task(what):
            frames = measuring.lab.page.evaluate(SCROLL, [handle, step])
        measuring.figures.note(what, FRAME, statistics.median(frames))


def large_record(measuring: Measuring, name: str) -> None:
    """A record of 10 MB, of which the kernel tells a part."""
    lab = measuring.lab
    lab.write(name, [LOAD, FILL, ADD_A_LARGE_ONE])
    lab.open(name)
    for index in range(2):
        lab.run(index)
    with measuring.task("a record of 10 MB as it is made"):
        lab.run(2)
        lab.wait_for_text("large record")
    lab.close()


def saved_receipts(measuring: Measuring, name: str) -> None:
    """1,000 receipts with ten lines each, in a notebook that is opened."""
    receipts = [[receipt(part * 10 + number, lines=10) for number in range(10)] for part in range(100)]
    read_saved(measuring, name, "1,000 saved receipts", receipts, ("Cells 1,000", "Messages 10,000"))


def saved_large_record(measuring: Measuring, name: str) -> None:
    """A receipt of 10 MB, of which a part is read."""
    receipts = [[receipt(1, lines=2000, text="x" * 5000)]]
    read_saved(measuring, name, "a saved record of 10 MB", receipts, ("Cells 1", "Messages [0-9]"))


def read_saved(
    measuring: Measuring, name: str, what: str, receipts: list[list[Output]], told: tuple[str, ...]
) -> None:
    """Open a notebook with these receipts, in a page that has JupyterLab and the sidebar loaded."""
    lab = measuring.lab
    lab.write("small.ipynb", ["1"])
    lab.open("small.ipynb")
    lab.write(name, ["model.fit(x, y)"] * len(receipts), receipts)
    held = heap(lab.page)
    with measuring.task(what, is_ours):
        lab.ask_to_open(name)
        lab.wait_for_text(*told)
    more = (heap(lab.page) - held) / 1e6
    measuring.figures.note(f"memory of {what}, the notebook's own included", MEMORY, more)
    lab.close()


def receipt(number: int, *, lines: int, text: str = "") -> Output:
    """An output as a notebook holds it."""
    time = "2026-01-01T00:00:00.000000Z"
    logs = tuple(
        LogLine(
            text or f"line {line} of cell {number}", None, "unknown", None, None, {}, 1, "stderr", time, False
        )
        for line in range(lines)
    )
    data = replace(example_record(number), logs=logs).to_json()
    return {"output_type": "display_data", "metadata": {}, "data": {MIME_TYPE: data}}


def is_ours(task: Task) -> bool:
    """Whether our script or React began it.

    JupyterLab reads a notebook and draws its cells in tasks of its own, in which it also calls our receipts.
    """
    return bool(task.scripts and re.search(OURS_OR_REACT, task.scripts[0]))


def live_numbers(measuring: Measuring, name: str) -> None:
    """The age of live numbers when they are on screen."""
    lab = measuring.lab
    lab.write(name, [LOAD])
    lab.open(name)
    lab.run(0)
    lab.show_now()
    ages = sorted(lab.page.evaluate(AGES, SAMPLES))
    note = f"half within {statistics.median(ages):.3f} s"
    measuring.figures.note("a live number", AGE, ages[int(0.95 * len(ages)) - 1], note)
    lab.close()


def reload_in_mid_cell(server: Server, chromium: Browser, figures: Figures, name: str, repeats: int) -> None:
    """Reload a page whose kernel runs a cell: its sidebar is to be back with it, and with its charts."""
    lab = LabPage(server, chromium.new_page())
    lab.write(name, [LOAD, "before = 1", WAIT])
    lab.open(name)
    for index in range(2):
        lab.run(index)
    lab.show_now()
    lab.run(2, to_end=False)
    lab.sidebar.locator(".jp-mlgpu-Running").wait_for()
    lab.keep_layout()
    lab.page.add_init_script(NOTE_WHEN_BACK)
    for _ in range(repeats):
        lab.page.reload()
        running, drawn = lab.page.wait_for_function(SINCE_READY).json_value()
        figures.note("reload in mid-cell: the running cell", BACK, running)
        figures.note("reload in mid-cell: the charts", BACK, drawn)
    lab.page.close()


def measure(repeats: int) -> Figures:
    """All figures; raises RuntimeError where no browser or no JupyterLab starts."""
    figures = Figures()
    with running_server() as server, running_chromium() as chromium:
        # One window for all, so that JupyterLab's files come from its cache.
        measuring = Measuring(chromium, LabPage(server, chromium.new_page()), figures)
        for scenario in (many_records, large_record, saved_receipts, saved_large_record, live_numbers):
            for number in range(1, repeats + 1):
                print(f"{scenario.__name__}: {number} of {repeats}", file=sys.stderr)
                scenario(measuring, f"{scenario.__name__}_{number}.ipynb")
        print("reload_in_mid_cell", file=sys.stderr)
        reload_in_mid_cell(server, chromium, figures, "reload.ipynb", repeats)
    return figures


def as_text(figures: Figures) -> str:
    """The figures for a terminal: each target with what is held against it, in parts of it."""
    parts = ["The sidebar under load: ratios to the target, the median and each repeat"]
    for target in TARGETS:
        judged = [one for one in figures.all if one.target == target]
        parts += [f"{target}:", report.table(repeated.rows(judged))]
    verdicts = dict.fromkeys(one.verdict for one in figures.all)
    parts.append("\n".join(f"{one}: {repeated.EXPLAINED[one]}." for one in verdicts))
    return "\n\n".join(parts)


def as_data(figures: Figures, about: Mapping[str, str]) -> dict[str, Any]:
    """The figures for a JSON file."""
    return {
        "benchmark": "sidebar_load",
        "machine": dict(about),
        "verdict": repeated.worst(figures.all),
        "figures": [repeated.as_data(one) for one in figures.all],
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and report; returns the exit status."""
    chosen = options().parse_args(arguments)
    about = machine.describe(["jupyterlab", "playwright"])
    print(report.table(list(about.items())), end="\n\n", flush=True)
    try:
        figures = measure(chosen.repeats)
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 1
    print(as_text(figures))
    print(f"\nload average at the end {machine.load()}")
    data = as_data(figures, about)
    if chosen.out is not None:
        report.write(chosen.out, data)
    return 1 if data["verdict"] == "missed" else 0


def options() -> argparse.ArgumentParser:
    """Of the command."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.sidebar_load",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--repeats",
        type=report.at_least_one,
        default=REPEATS,
        metavar="N",
        help=f"how often everything is measured (default {REPEATS}; 1 is enough to see that it runs)",
    )
    report.add_out(parser)
    return parser


if __name__ == "__main__":
    sys.exit(main())
