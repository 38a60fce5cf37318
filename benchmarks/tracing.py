"""A cell timed with tracing on or off, in a kernel that has the extension loaded."""

from __future__ import annotations

import time

from benchmarks.kernel import Kernel

# The extension sends what happens within 50 ms of its last message together, when they are over. After
# that time nothing of one cell can fall into the next.
SETTLE = 0.100


def timed(kernel: Kernel, code: str, *, on: bool) -> float:
    """Seconds from sending the cell to its reply; see `Kernel.run`."""
    kernel.run(f"%mlc_trace {'on' if on else 'off'}")
    settle(kernel)
    seconds = kernel.run(code)
    settle(kernel)
    return seconds


def settle(kernel: Kernel) -> None:
    """Wait until nothing of the last cell is under way."""
    kernel.wait_until_idle()
    time.sleep(SETTLE)
