"""A thread's sleep that others may end, at the least cost to the user's code.

`threading.Event` runs some dozens of lines of Python, with a lock made anew, each time that somebody waits: a
thread that wakes up thirty times a second beside a busy cell then takes twice as much of that cell's time.
"""

from __future__ import annotations

import threading


class WakeEvent:
    """For one thread that waits; `set` may come from any thread, and before the other one waits."""

    def __init__(self) -> None:
        self._silent = threading.Lock()
        self._silent.acquire()

    def wait(self, seconds: float) -> bool:
        """Sleep, at most so long; whether it rang, which is forgotten with that."""
        return self._silent.acquire(timeout=seconds)

    def set(self) -> None:
        """Wake the thread up, or keep it from falling asleep; twice is once."""
        try:
            self._silent.release()
        except RuntimeError:  # it rings already
            return
