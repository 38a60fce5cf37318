"""What the tests of the sidebar under load share: a page that is waited for, and counts of what it does.

No clock judges here: `python -m benchmarks.sidebar_load` says how long a task keeps the page.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page, WebSocket

    from tests.jupyter.lab.conftest import Lab

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
        timeout=60_000,
    )


def settle(lab: Lab) -> None:
    """Wait until the page has drawn what it was asked for: two frames, then a moment with nothing to do."""
    lab.page.evaluate(
        """() => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(() =>
            requestIdleCallback(() => resolve()))))"""
    )
