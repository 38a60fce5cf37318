"""A value that is found once per process, off the cell's own thread, because finding it may take long."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Lazy(Generic[T]):
    """Calls `find` at the first `get`. `known` never waits."""

    def __init__(self, find: Callable[[], T]) -> None:
        self._find = find
        self._lock = threading.Lock()
        #: The value; None until it has been requested and found.
        self.known: T | None = None

    def get(self) -> T:
        """Return the value. The first call waits until it is found."""
        with self._lock:
            if self.known is None:
                self.known = self._find()
            return self.known
