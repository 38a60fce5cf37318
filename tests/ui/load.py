"""What the tests of the sidebar under load share: what they hold a task to, and a page that is waited for.

**How a task is judged.** A task may keep the page for 50 ms. These tests run on machines that do other work
at the same time, where a task of 20 ms can take 100 ms by the clock because another process has the
processor. So Chromium's tracing gives the CPU time of every task of the page's main thread, JupyterLab's and
the browser's own included, and the longest of them is held against the 50 ms. What PerformanceObserver takes
for long tasks, by the clock, is printed beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.ui.conftest import Lab, Print
    from tests.ui.tasks import Watched

TASK_LIMIT_MS = 50


def check(what: str, watched: Watched, tell: Print) -> None:
    tell(f"{what}: the longest task took {watched}")
    assert watched.tasks[0].cpu_ms <= TASK_LIMIT_MS, watched.tasks[0]


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
