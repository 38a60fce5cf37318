"""The allocator's peak of each of several cells that may be nested, from one counter that all share."""

from __future__ import annotations

from collections.abc import Callable


class Peaks:
    """Follows one counter that only grows until it is reset.

    Resetting it for an inner cell would lose what an outer one had reached: that is noted first.
    """

    def __init__(self, read: Callable[[], int], reset: Callable[[], None]) -> None:
        self._read = read
        self._reset = reset
        self._ever = 0
        self._open: list[list[int]] = []

    def start(self) -> list[int]:
        """Begin a cell; give what it returns to `finish`."""
        self.note()
        self._reset()
        mine = [0]
        self._open.append(mine)
        return mine

    def started_before(self) -> list[int]:
        """As `start`, for a cell that began before there was anything to follow."""
        mine = [self._ever]
        self._open.append(mine)
        return mine

    def finish(self, mine: list[int]) -> int:
        """The highest value since `start`."""
        self.note()
        self._open = [other for other in self._open if other is not mine]
        return mine[0]

    def note(self) -> None:
        """Remember what was reached: somebody else is about to reset the counter."""
        now = self._read()
        self._ever = max(self._ever, now)
        for one in self._open:
            one[0] = max(one[0], now)
