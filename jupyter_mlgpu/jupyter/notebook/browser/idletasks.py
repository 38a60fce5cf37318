"""Runs browsers' requests between cells, in the main thread, which runs the cells.

Requests arrive in the control thread, also while a cell runs. To change a device or the capture of log lines
from there would affect the running cell, and the main thread's device can only be changed in the main thread.
So a task is queued here. It runs at once if no cell runs, else when the running cell has ended.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any


class IdleTasks:
    """A queue of tasks by name; a later task replaces an earlier one of the same name.

    `running` returns, in the main thread, True if a cell runs in it. `schedule` makes the main thread's event
    loop call a function. That loop also runs while a cell awaits something, so its call does not mean that
    the cell has ended.
    """

    def __init__(self, running: Callable[[], bool], schedule: Callable[[Callable[[], None]], object]) -> None:
        self._running = running
        self._schedule = schedule
        self._lock = threading.Lock()
        self._tasks: dict[str, Callable[[], None]] = {}

    def submit(self, name: str, task: Callable[[], None]) -> None:
        """Queue a task, which must not raise. May be called from any thread."""
        with self._lock:
            self._tasks[name] = task
        self._schedule(self.run)

    def run(self, info: Any = None) -> None:
        """Run the queued tasks unless a cell runs. IPython's events and the event loop call this."""
        if threading.current_thread() is not threading.main_thread() or self._running():
            return
        with self._lock:
            tasks, self._tasks = self._tasks, {}
        for task in tasks.values():
            task()
