"""The allocator's peak in each of several cells that may be nested, from one shared counter."""

from __future__ import annotations

from collections.abc import Callable


class Peaks:
    """The peaks of cells, from one counter that only grows until it is reset.

    Resetting it for an inner cell would lose the peak of an outer one, so that is noted first.
    """

    def __init__(self, read: Callable[[], int], reset: Callable[[], None]) -> None:
        self._read = read
        self._reset = reset
        self._ever = 0
        self._open: list[list[int]] = []

    def start(self) -> list[int]:
        """Begin a cell; return a mark for `finish`."""
        self.note()
        self._reset()
        mark = [0]
        self._open.append(mark)
        return mark

    def started_before(self) -> list[int]:
        """Return a mark for a cell that began before the counter existed."""
        mark = [self._ever]
        self._open.append(mark)
        return mark

    def now(self, mark: list[int]) -> int:
        """Return a cell's highest value so far."""
        self.note()
        return mark[0]

    def finish(self, mark: list[int]) -> int:
        """End a cell and return its highest value."""
        self.note()
        self._open = [other for other in self._open if other is not mark]
        return mark[0]

    def note(self) -> None:
        """Update the peak of every open cell, because the counter is about to be reset."""
        now = self._read()
        self._ever = max(self._ever, now)
        for one in self._open:
            one[0] = max(one[0], now)
