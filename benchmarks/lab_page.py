"""A tab of JupyterLab with the sidebar in it, for benchmarks that do in it what a user does."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from playwright.sync_api import Locator, Page

from benchmarks.lab_start import Server

#: Milliseconds until something must have happened; what is measured has no limit of its own.
PATIENCE = 120_000

Output = dict[str, Any]


class LabPage:
    """One tab, with one notebook at a time."""

    def __init__(self, server: Server, page: Page) -> None:
        self.page = page
        self._server = server
        page.set_default_timeout(PATIENCE)

    @property
    def sidebar(self) -> Locator:
        """Our panel."""
        return self.page.locator("#jupyter-mlgpu-sidebar")

    def write(self, name: str, codes: Sequence[str], outputs: Sequence[Sequence[Output]] = ()) -> None:
        """A notebook with a cell for each code, and under each the outputs that belong to it."""
        cells: list[dict[str, Any]] = [
            {
                "cell_type": "code",
                "id": f"cell-{number}",
                "metadata": {},
                "source": code,
                "outputs": list(outputs[number]) if outputs else [],
                "execution_count": None,
            }
            for number, code in enumerate(codes)
        ]
        spec = {"name": "python3", "display_name": "python3", "language": "python"}
        notebook = {"cells": cells, "metadata": {"kernelspec": spec}, "nbformat": 4, "nbformat_minor": 5}
        (self._server.notebooks / name).write_text(json.dumps(notebook), encoding="utf-8")

    def open(self, name: str) -> None:
        """Have a notebook open, its kernel started and the sidebar in sight."""
        if self.page.evaluate("() => window.jupyterapp === undefined"):
            self.page.goto(self._server.page_of(name))
        else:
            self.ask_to_open(name)
        self.page.wait_for_function(
            """name => {
                const { context, sessionContext } = window.jupyterapp?.shell?.currentWidget ?? {};
                return context?.path === name && context.isReady && sessionContext.isReady;
            }""",
            arg=name,
        )
        self.page.evaluate("() => jupyterapp.restored.then(() => undefined)")
        self.page.evaluate("() => jupyterapp.commands.execute('jupyter-mlgpu:open')")
        self.sidebar.wait_for()

    def ask_to_open(self, name: str) -> None:
        """Open a notebook without waiting for it."""
        self.page.evaluate("name => void jupyterapp.commands.execute('docmanager:open', {path: name})", name)

    def close(self) -> None:
        """End all kernels and close all notebooks, without saving them."""
        self.page.evaluate(
            """async () => {
                await jupyterapp.serviceManager.sessions.shutdownAll();
                [...jupyterapp.shell.widgets('main')].forEach(one => one.dispose());
            }"""
        )

    def run(self, index: int, *, to_end: bool = True) -> None:
        """Run a cell; wait until it has ended, or go on at once."""
        self.page.evaluate(
            """([index, toEnd]) => {
                jupyterapp.shell.currentWidget.content.activeCellIndex = index;
                const run = jupyterapp.commands.execute('notebook:run-cell');
                return toEnd ? run.then(() => undefined) : undefined;
            }""",
            [index, to_end],
        )

    def wait_for_text(self, *patterns: str) -> None:
        """Wait until the sidebar says all of this; looking by roles again and again takes the page's time."""
        self.page.wait_for_function(
            """patterns => {
                const { textContent } = document.getElementById('jupyter-mlgpu-sidebar');
                return patterns.every(one => new RegExp(one).test(textContent));
            }""",
            arg=patterns,
            polling=250,
        )

    def settle(self) -> None:
        """Wait until the page has drawn what it was asked for: two frames, then an idle moment."""
        self.page.evaluate(
            """() => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(() =>
                requestIdleCallback(() => resolve()))))"""
        )

    def show(self, tab: Locator) -> None:
        """Choose a tab of the sidebar."""
        tab.evaluate("tab => tab.click()")
        self.settle()

    def show_now(self) -> None:
        """Choose the sidebar's live numbers, and wait for them."""
        self.show(self.sidebar.get_by_role("tab", name="Now"))
        self.sidebar.locator(".jp-mlgpu-Curve polyline").first.wait_for()

    def keep_layout(self) -> None:
        """Save the notebook, and wait until the server has been told which panels are open."""
        self.page.evaluate("() => jupyterapp.shell.currentWidget.context.save()")
        with self.page.expect_response(
            lambda answer: "/api/workspaces/" in answer.url and answer.request.method == "PUT"
        ):
            self.page.evaluate("() => jupyterapp.commands.execute('application:toggle-left-area')")
