"""A sleep of one thread that other threads can end, at the least cost to the user's code.

`threading.Event` runs some dozens of lines of Python and makes a new lock for each wait. A thread that wakes
up thirty times a second beside a busy cell then takes twice as much of that cell's time.
"""

from __future__ import annotations

import threading


class WakeEvent:
    """An event for one waiting thread. `set` may be called from any thread, also before the wait."""

    def __init__(self) -> None:
        self._unset = threading.Lock()  # held while the event is not set
        self._unset.acquire()

    def wait(self, seconds: float) -> bool:
        """Sleep for at most `seconds`. Returns True if the event was set, and clears it."""
        return self._unset.acquire(timeout=seconds)

    def set(self) -> None:
        """Wake the thread, or keep it from falling asleep. Setting twice has the effect of once."""
        try:
            self._unset.release()
        except RuntimeError:  # it is set already
            return
