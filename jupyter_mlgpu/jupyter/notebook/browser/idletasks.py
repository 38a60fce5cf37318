"""Do what a browser asks for when no cell runs, in the thread that runs them.

A browser is heard on the control thread, also in mid-cell. A device or the capture of log lines changed from
there would change under the running cell, and the device of the main thread can only be changed in it.
So a task is put down here, and done at once where no cell runs, else when the running cell has ended.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any


class IdleTasks:
    """Tasks by name; of two with the same name the later one counts.

    `running` says in the main thread whether a cell runs in it, and `schedule` has a function called by the
    main thread's event loop: that also turns while a cell awaits something, so it is no sign of an end.
    """

    def __init__(self, running: Callable[[], bool], schedule: Callable[[Callable[[], None]], object]) -> None:
        self._running = running
        self._schedule = schedule
        self._lock = threading.Lock()
        self._tasks: dict[str, Callable[[], None]] = {}

    def submit(self, name: str, task: Callable[[], None]) -> None:
        """Have something done; `task` raises nothing. From any thread."""
        with self._lock:
            self._tasks[name] = task
        self._schedule(self.run)

    def run(self, info: Any = None) -> None:
        """A cell is about to begin or has ended, or the event loop turns; `info` is IPython's."""
        if threading.current_thread() is not threading.main_thread() or self._running():
            return
        with self._lock:
            tasks, self._tasks = self._tasks, {}
        for task in tasks.values():
            task()
