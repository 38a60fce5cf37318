"""A notebook that has all that we draw, and how each view of it comes in sight.

Views are found by what holds in every language: commands, roles and classes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.sync_api import Locator, expect

from jupyter_mlgpu.show.page.view import MIME_TYPE
from tests.jupyter.lab import test_benches, test_engines, test_plans
from tests.jupyter.lab.test_now import LOAD_WITH_GPU
from tests.jupyter.lab.test_people import DIED, FILL, NEEDS_RESTART, WRITE
from tests.jupyter.lab.test_record_page import FEW, PROFILED
from tests.jupyter.lab.test_widgets import PICKER, VIEW

if TYPE_CHECKING:
    from tests.jupyter.lab.conftest import Lab

NOTEBOOK = "all_views.ipynb"


def results() -> dict[str, dict[str, Any]]:
    """A result of each kind, and of a newer version, as they stand in a notebook."""
    plan = test_plans.plan(test_plans.chain(6), test_plans.chain(3, "more"))
    newer = {MIME_TYPE: {"version": 1_000}, "text/plain": "newer"}
    return {
        "plan": test_plans.shown(plan),
        "race": test_plans.raced(test_plans.race()),
        "bench": test_benches.shown(test_benches.products()),
        "engines": test_engines.collected()._repr_mimebundle_(),
        "newer": newer,
    }


def waits_for(go: Path) -> str:
    """Code that runs until there is a file, which it takes away."""
    return (
        f"import pathlib, time\ngo = pathlib.Path({str(go)!r})\n"
        "while not go.exists():\n    time.sleep(0.01)\ngo.unlink()"
    )


class AllViews:
    """One tab of JupyterLab with that notebook; call a view by its name."""

    def __init__(self, lab: Lab, go: Path) -> None:
        """`go`: the file whose coming ends the cell that runs."""
        self.lab = lab
        self._go = go
        self._cells: dict[str, int] = {}

    def prepare(self) -> None:
        """Write the notebook and run it."""
        made = results()
        codes = {
            "load": LOAD_WITH_GPU,
            "records": FILL,
            "line": WRITE,
            "restart": NEEDS_RESTART,
            "died": DIED,
            "profiled": PROFILED + FEW,
            "error": "1 / 0",
            **{name: f"import json\ndisplay(json.load(open('{name}.json')), raw=True)" for name in made},
            "picker": PICKER,
            "trace view": VIEW,
            "waiting": waits_for(self._go),
        }
        self._cells = {name: index for index, name in enumerate(codes)}
        for name, data in made.items():
            (self.lab.server.root / f"{name}.json").write_text(json.dumps(data))
        self.lab.write(NOTEBOOK, *codes.values())
        self.lab.load(NOTEBOOK)
        self.lab.wait_for_app()
        self.lab.page.evaluate("() => jupyterapp.shell.collapseLeft()")
        for name, index in self._cells.items():
            if name != "waiting":
                self.lab.run_to_end(index)

    def show(self, view: str) -> None:
        """Bring a view in sight."""
        VIEWS[view](self)
        settle(self.lab)

    def leave(self) -> None:
        """Close what a view has opened above or beside the notebook, and end a cell that runs."""
        dialog = self.lab.page.locator(".jp-Dialog")
        if dialog.count():
            dialog.press("Escape")
            expect(dialog).to_have_count(0)
        self.lab.page.evaluate(
            """() => [...jupyterapp.shell.widgets('main')]
                .filter(one => !one.context).forEach(one => one.dispose())"""
        )
        back = self.lab.sidebar.locator(".jp-mlgpu-Page button").first
        if back.count():
            press(back)
        find = self.lab.sidebar.locator(".jp-mlgpu-CellControls input[type=search]")
        if find.count():
            find.fill("")
        if self.lab.running.count():
            self._go.touch()
            self.lab.running.wait_for(state="hidden")

    # -- steps that views are made of -----------------------------------------------------------------

    def tab(self, name: str) -> Locator:
        """Choose one of the sidebar's views; answers its panel."""
        self.lab.show_sidebar()
        tab = self.lab.sidebar.locator(f"[role=tab][id$='-{name}']")
        press(tab)
        expect(tab).to_have_attribute("aria-selected", "true")
        return self.lab.sidebar.get_by_role("tabpanel")

    def cell(self, name: str) -> Locator:
        """Scroll to a cell, with the sidebar closed; answers the cell."""
        index = self._cells[name]
        self.lab.page.evaluate("() => jupyterapp.shell.collapseRight()")
        self.lab.page.evaluate(
            """async index => {
                const { content } = jupyterapp.shell.currentWidget;
                content.activeCellIndex = index;
                await content.scrollToItem(index, 'start');
            }""",
            index,
        )
        cell = self.lab.cell(index)
        expect(cell.locator(".jp-OutputArea-output").first).to_be_attached()
        return cell

    def command(self, name: str) -> None:
        """Execute one of our commands and do not wait for its end."""
        self.lab.page.evaluate(
            "name => void jupyterapp.commands.execute(name)",
            name if ":" in name else f"jupyter-mlgpu:{name}",
        )

    def run_waiting(self) -> None:
        """Have a cell run."""
        self.lab.run(self._cells["waiting"])
        self.lab.running.wait_for()

    def open_record(self, name: str) -> Locator:
        """Find a record and open its page; answers that."""
        find = self.tab("cells").locator("input[type=search]")
        find.fill(name)
        expect(self.lab.records).to_have_count(1)
        press(self.lab.records.locator(".jp-mlgpu-Toggle"))
        return self.lab.sidebar.locator(".jp-mlgpu-Page")


def press(button: Locator) -> None:
    """Press a button by its key: at 200 % something else may float above it."""
    button.press("Enter")


def settle(lab: Lab) -> None:
    """Wait until what was asked for has been drawn and measured."""
    lab.page.evaluate(
        "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))"
    )


def unfold(place: Locator) -> None:
    """Open all that is folded in a place, and what is folded within it."""
    closed = place.locator("details:not([open]) > summary")
    while count := closed.count():  # one that is open is not among them any more
        press(closed.first)
        expect(closed).not_to_have_count(count)


# -- the views ----------------------------------------------------------------------------------------


def _now(views: AllViews) -> None:
    unfold(views.tab("now"))


def _doctor(views: AllViews) -> None:
    doctor = views.tab("now").locator(".jp-mlgpu-Doctor")
    press(doctor.locator("button").last)
    expect(doctor).to_have_attribute("aria-busy", "false")
    expect(doctor.locator("ol, .jp-mlgpu-Doctor-light").first).to_be_attached()
    doctor.scroll_into_view_if_needed()


def _running(views: AllViews) -> None:
    views.tab("cells")
    views.run_waiting()


def _cells(views: AllViews) -> None:
    panel = views.tab("cells")
    button = panel.locator(".jp-mlgpu-CellControls button[aria-expanded=true]")
    if button.count():
        press(button)
    expect(views.lab.records.first).to_be_attached()


def _filters(views: AllViews) -> None:
    panel = views.tab("cells")
    button = panel.locator(".jp-mlgpu-CellControls button[aria-expanded]")
    if button.get_attribute("aria-expanded") == "false":
        press(button)
    expect(panel.locator(".jp-mlgpu-CellControls select").nth(1)).to_be_visible()


def _grouped(kind: str) -> Callable[[AllViews], None]:
    def show(views: AllViews) -> None:
        _filters(views)
        panel = views.lab.sidebar.get_by_role("tabpanel")
        group = panel.locator("select").filter(has=views.lab.page.locator(f"option[value={kind}]")).last
        group.select_option(kind)
        headings = panel.locator(".jp-mlgpu-HeadingRow")
        expect(headings.first).to_be_attached() if kind != "none" else expect(headings).to_have_count(0)

    return show


def _record(views: AllViews) -> None:
    page = views.open_record("profiled cell")
    timeline = page.get_by_role("region", name=re.compile("Timeline|时间线"))
    expect(timeline.get_by_role("button").first).to_be_visible()
    unfold(page)


def _failed_record(views: AllViews) -> None:
    unfold(views.open_record("1 / 0"))


def _comparison(views: AllViews) -> None:
    _cells(views)
    chosen = views.lab.records.locator("input[type=checkbox]")
    for box in (chosen.nth(0), chosen.nth(1)):
        box.check()
    press(views.lab.sidebar.locator(".jp-mlgpu-Selection .jp-mlgpu-Button"))
    expect(views.lab.sidebar.locator(".jp-mlgpu-Comparison table").first).to_be_attached()
    unfold(views.lab.sidebar.locator(".jp-mlgpu-Comparison"))


def _messages(views: AllViews) -> None:
    panel = views.tab("logs")
    press(panel.locator(".jp-mlgpu-Row .jp-mlgpu-Toggle").first)


def _result(kind: str) -> Callable[[AllViews], None]:
    def show(views: AllViews) -> None:
        row = views.tab("cells").locator(".jp-mlgpu-Results")
        row.locator("select").select_option(index=list(results()).index(kind))
        press(row.locator("button").first)
        figure = views.lab.result.locator(".jp-mlgpu-Figure")
        expect(figure).to_be_visible()
        unfold(figure)

    return show


def _closed_receipts(views: AllViews) -> None:
    lines = views.cell("error").locator(".jp-mlgpu-Receipt-line")
    if lines.get_attribute("aria-expanded") == "true":
        press(lines)
    expect(lines).to_have_attribute("aria-expanded", "false")


def _opened_receipt(name: str) -> Callable[[AllViews], None]:
    def show(views: AllViews) -> None:
        receipt = views.cell(name).locator(".jp-mlgpu-Receipt").first
        line = receipt.locator(".jp-mlgpu-Receipt-line")
        if line.get_attribute("aria-expanded") == "false":
            press(line)
        unfold(receipt)

    return show


def _cell(name: str) -> Callable[[AllViews], None]:
    def show(views: AllViews) -> None:
        unfold(views.cell(name))

    return show


def _dialog(command: str) -> Callable[[AllViews], None]:
    def show(views: AllViews) -> None:
        views.cell("restart")
        views.command(command)
        expect(views.lab.page.locator(".jp-Dialog")).to_be_visible()

    return show


def _settings(views: AllViews) -> None:
    views.command("settingeditor:open")
    views.lab.page.locator("[data-id='jupyter-mlgpu:sidebar']").dispatch_event("click")
    expect(views.lab.page.locator("[id*='jupyter-mlgpu:sidebar_']").first).to_be_attached()


#: What is shown, by its name; each starts from wherever the one before has ended.
VIEWS: dict[str, Callable[[AllViews], None]] = {
    "Now": _now,
    "the doctor's findings": _doctor,
    "a running cell": _running,
    "Cells": _cells,
    "filters": _filters,
    "records grouped by cell": _grouped("cell"),
    "records grouped by run": _grouped("run"),
    "records in one list": _grouped("none"),
    "the page of a profiled record": _record,
    "the page of a failed record": _failed_record,
    "a comparison": _comparison,
    "messages": _messages,
    "a plan": _result("plan"),
    "a race": _result("race"),
    "a benchmark": _result("bench"),
    "engines": _result("engines"),
    "a plan in its cell": _cell("plan"),
    "a race in its cell": _cell("race"),
    "a benchmark in its cell": _cell("bench"),
    "engines in their cell": _cell("engines"),
    "closed receipts": _closed_receipts,
    "an opened receipt": _opened_receipt("records"),
    "an opened receipt with a line": _opened_receipt("line"),
    "an opened receipt of a failure": _opened_receipt("error"),
    "a needed restart": _cell("restart"),
    "a dead kernel": _cell("died"),
    "a result of a newer version": _cell("newer"),
    "the device picker in a cell": _cell("picker"),
    "the records in a cell": _cell("trace view"),
    "the question for a device": _dialog("choose-device"),
    "the question before a restart": _dialog("restart-and-run-to-here"),
    "settings": _settings,
}
