"""Do what a browser asks for between two cells, in the thread that runs them.

A browser is heard on the control thread, also in mid-cell. A device or the capture of log lines changed from
there would change under the running cell, and what is chosen for the main thread can only be chosen in it.
So a wish is put down here, and done at once where no cell runs, else when the running cell has ended.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any


class BetweenCells:
    """Wishes by name; of two with the same name the later one counts.

    `running` says in the main thread whether a cell runs in it, and `schedule` has a function called by the
    main thread's event loop: that also turns while a cell awaits something, so it is no sign of an end.
    """

    def __init__(self, running: Callable[[], bool], schedule: Callable[[Callable[[], None]], object]) -> None:
        self._running = running
        self._schedule = schedule
        self._lock = threading.Lock()
        self._wishes: dict[str, Callable[[], None]] = {}

    def ask(self, name: str, do: Callable[[], None]) -> None:
        """Have something done; `do` raises nothing. From any thread."""
        with self._lock:
            self._wishes[name] = do
        self._schedule(self.turn)

    def turn(self, info: Any = None) -> None:
        """A cell is about to begin or has ended, or the event loop turns; `info` is IPython's."""
        if threading.current_thread() is not threading.main_thread() or self._running():
            return
        with self._lock:
            wishes, self._wishes = self._wishes, {}
        for do in wishes.values():
            do()
