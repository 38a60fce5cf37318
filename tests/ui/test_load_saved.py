"""Large saved notebooks: their receipts are read without a kernel, and without keeping the page.

How a task is judged: tests/ui/load.py.
"""

from __future__ import annotations

import dataclasses
import json
import re
import time
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from jupyter_mlgpu.record import LogLine
from jupyter_mlgpu.render.bundle import MIME_TYPE
from jupyter_mlgpu.testing import example_record
from tests.ui.load import check_act, wait_for_text
from tests.ui.tasks import heap

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.ui.conftest import Lab, Print
    from tests.ui.tasks import Task

#: Our script, and React, which draws what we told it to and other things of JupyterLab.
OURS_OR_REACT = "extensions/jupyter-mlgpu/|static/lab/5098"


@pytest.mark.timeout(600)
def test_a_thousand_receipts_of_a_saved_notebook_are_read_without_blocking_the_page(
    lab: Lab, chromium: Browser, tell: Print
) -> None:
    lab.page.set_default_timeout(120_000)
    cells = [[receipt(part * 10 + number, lines=10) for number in range(10)] for part in range(100)]
    names = [f"saved_{number}.ipynb" for number in range(3)]
    for name in names:
        write_saved(lab, name, cells)
    held_before: list[int] = []
    unread = iter(names)

    def read() -> None:
        start = time.perf_counter()
        open_saved(lab, next(unread))
        wait_for_text(lab, "Cells 1,000", "Logs 10,000")
        took = time.perf_counter() - start
        tell(f"1,000 saved receipts: all of them told {took:.1f} s after the notebook was asked for")

    check_act(
        "1,000 saved receipts",
        read,
        chromium,
        lab.page,
        tell,
        before=lambda: held_before.append(open_small(lab)),
        judged=is_ours,
    )
    more = heap(lab.page) - held_before[-1]
    tell(f"memory: {more / 1e6:.0f} MB more after garbage collection, the notebook itself among them")
    lab.page.set_default_timeout(20_000)


@pytest.mark.timeout(600)
def test_a_saved_record_of_ten_megabytes_is_read_in_part_without_blocking_the_page(
    lab: Lab, chromium: Browser, tell: Print
) -> None:
    lab.page.set_default_timeout(120_000)
    names = [f"large_{number}.ipynb" for number in range(3)]
    for name in names:
        write_saved(lab, name, [[receipt(1, lines=2000, text="x" * 5000)]])
    unread = iter(names)

    def read() -> None:
        open_saved(lab, next(unread))
        wait_for_text(lab, "Cells 1", "Logs [0-9]")

    check_act(
        "a saved record of 10 MB",
        read,
        chromium,
        lab.page,
        tell,
        before=lambda: open_small(lab),
        judged=is_ours,
    )
    lab.show_logs()
    expect(lab.sidebar).to_contain_text(re.compile("Lines left out of saved receipts: [0-9],"))
    lab.page.set_default_timeout(20_000)


def receipt(number: int, *, lines: int, text: str = "") -> dict[str, object]:
    """An output as a notebook holds it."""
    time = "2026-01-01T00:00:00.000000Z"
    logs = tuple(
        LogLine(
            text or f"line {line} of cell {number}", None, "unknown", None, None, {}, 1, "stderr", time, False
        )
        for line in range(lines)
    )
    data = dataclasses.replace(example_record(number), logs=logs).to_json()
    return {"output_type": "display_data", "metadata": {}, "data": {MIME_TYPE: data}}


def write_saved(lab: Lab, name: str, cells: list[list[dict[str, object]]]) -> None:
    """A notebook with these outputs under its cells."""
    path = lab.write(name, *("model.fit(x, y)" for _ in cells))
    notebook = json.loads(path.read_text())
    for cell, outputs in zip(notebook["cells"], cells, strict=True):
        cell["outputs"] = outputs
    path.write_text(json.dumps(notebook))


def open_small(lab: Lab) -> int:
    """Have JupyterLab and the sidebar loaded before; the bytes that the page holds then."""
    lab.write("small.ipynb", "1")
    lab.open("small.ipynb")
    return heap(lab.page)


def open_saved(lab: Lab, name: str) -> None:
    lab.page.evaluate("name => void jupyterapp.commands.execute('docmanager:open', {path: name})", name)


def is_ours(task: Task) -> bool:
    """Whether our script or React began it.

    JupyterLab reads a notebook and draws its cells in tasks of its own, in which it also calls our receipts.
    """
    return bool(task.scripts and re.search(OURS_OR_REACT, task.scripts[0]))
