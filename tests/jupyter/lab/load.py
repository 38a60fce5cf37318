"""What the tests of the sidebar under load share: a page that is waited for, and counts of what it does.

No clock judges here: `python -m benchmarks sidebar` measures how long a task keeps the page.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from jupyter_mlgpu.record.record import LogLine
from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE
from jupyter_mlgpu.testing import example_record

if TYPE_CHECKING:
    from playwright.sync_api import Page, WebSocket

    from tests.jupyter.lab.conftest import Lab

#: A cell that defines records with ten lines each, and the kernel's own store.
FILL = """
from msgspec.structs import replace

from jupyter_mlgpu.measure import runtime
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

store = runtime.current().store
"""
#: Makes each look at the page's clock find that a slice of work is over, and counts the tasks that our own
#: script asks for: those of React are asked for by its scheduler, in a file of JupyterLab's.
COUNT_SLICES = """() => {
    let ahead = 0;
    performance.now = () => Performance.prototype.now.call(performance) + (ahead += 10);
    window.slices = 0;
    const { postMessage } = MessagePort.prototype;
    MessagePort.prototype.postMessage = function (...message) {
        const [, , caller = ''] = new Error().stack.split('\\n');
        window.slices += caller.includes('extensions/jupyter-mlgpu/');
        return postMessage.apply(this, message);
    };
}"""

#: Counts the rows of our lists that are made in one go, and keeps the highest count.
COUNT_ROWS = """() => {
    const isRow = one => one.nodeType === 1 && one.matches('.jp-mlgpu-Scroller [data-index]');
    window.mostRows = 0;
    window.allRows = 0;
    new MutationObserver(changes => {
        const made = changes.flatMap(({ addedNodes }) => [...addedNodes]);
        const rows = made.flatMap(one => [one, ...(one.querySelectorAll?.('*') ?? [])]).filter(isRow);
        // A row may come into a list that came in the same task.
        const { size } = new Set(rows);
        window.allRows += size;
        window.mostRows = Math.max(window.mostRows, size);
    }).observe(document.getElementById('jupyter-mlgpu-sidebar'), { childList: true, subtree: true });
}"""


def count_slices(page: Page) -> None:
    """Count from now on, until the page is left."""
    page.evaluate(COUNT_SLICES)


def slices(page: Page) -> int:
    """How many tasks our script has asked for since `count_slices`."""
    counted: int = page.evaluate("() => window.slices")
    return counted


@dataclass
class Heard:
    """The messages of ours that a page has received, and when the kernel made each broadcast."""

    #: Bytes of each broadcast.
    broadcasts: list[int] = field(default_factory=list)
    #: The kernel's time of each, in seconds.
    times: list[float] = field(default_factory=list)
    #: Bytes of each answer.
    answers: list[int] = field(default_factory=list)

    def listen(self, socket: WebSocket) -> None:
        """Hear a connection of the page."""
        socket.on("framereceived", self._note)

    def _note(self, frame: str | bytes) -> None:
        text = frame.decode(errors="replace") if isinstance(frame, bytes) else frame
        if '"jupyter_mlgpu_reply"' in text or '"jupyter_mlgpu_snapshot_reply"' in text:
            self.answers.append(len(text))
        elif '"comm_msg"' in text and '"comm_id": "jupyter_mlgpu"' in text:
            stamp = re.search(r'"date": ?"([^"]+)"', text)
            assert stamp is not None
            time = datetime.fromisoformat(stamp.group(1)).timestamp()
            if time not in self.times:  # several connections of the page hear each message
                self.times.append(time)
                self.broadcasts.append(len(text))


def wait_for_text(lab: Lab, *patterns: str) -> None:
    """Wait until the sidebar says all of this; looking by roles again and again takes the page's time."""
    lab.page.wait_for_function(
        """patterns => {
            const { textContent } = document.getElementById('jupyter-mlgpu-sidebar');
            return patterns.every(one => new RegExp(one).test(textContent));
        }""",
        arg=patterns,
        polling=250,
    )


def settle(lab: Lab) -> None:
    """Wait until the page has drawn what it was asked for: two frames, then a moment with nothing to do."""
    lab.page.evaluate(
        """() => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(() =>
            requestIdleCallback(() => resolve()))))"""
    )


def receipt(number: int, *, lines: int, text: str = "") -> dict[str, Any]:
    """Return a receipt's output as a notebook holds it."""
    time = "2026-01-01T00:00:00.000000Z"
    logs = tuple(
        LogLine(
            text or f"line {line} of cell {number}", None, "unknown", None, None, {}, 1, "stderr", time, False
        )
        for line in range(lines)
    )
    data = replace(example_record(number), logs=logs).to_json()
    return {"output_type": "display_data", "metadata": {}, "data": {MIME_TYPE: data}}


def write_saved(lab: Lab, name: str, cells: list[list[dict[str, Any]]]) -> None:
    """Write a notebook with these outputs under its cells."""
    path = lab.write(name, *("model.fit(x, y)" for _ in cells))
    notebook = json.loads(path.read_text())
    for cell, outputs in zip(notebook["cells"], cells, strict=True):
        cell["outputs"] = outputs
    path.write_text(json.dumps(notebook))


def open_saved(lab: Lab, name: str) -> None:
    """Open a notebook without waiting for it."""
    lab.page.evaluate("name => void jupyterapp.commands.execute('docmanager:open', {path: name})", name)
