"""What is found out once a process, off the cell's own thread, because it may take long."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Lazy(Generic[T]):
    """Calls `find` at the first `get`; `known` never waits."""

    def __init__(self, find: Callable[[], T]) -> None:
        self._find = find
        self._lock = threading.Lock()
        #: What was found; None as long as nobody has asked for it.
        self.known: T | None = None

    def get(self) -> T:
        """What there is; the first caller waits for it."""
        with self._lock:
            if self.known is None:
                self.known = self._find()
            return self.known
