"""How late a look comes by itself, which differs between machines and from minute to minute: a timer that is
slow to fire, a processor that has to wake up. What comes later than that waited for the interpreter's lock.
"""

from __future__ import annotations

import sys
from collections import deque

#: Looks that are remembered: those of a second or two.
_REMEMBERED = 32
#: Switch intervals that a look comes late by itself, at most: a loop of Python makes every look late by one.
_MOST = 0.5


class GilWaitEstimator:
    """The looks' lateness, of all cells: the least of the last ones is what they have by themselves."""

    def __init__(self) -> None:
        self._last: deque[float] = deque(maxlen=_REMEMBERED)

    def estimate(self, late: float) -> float:
        """For how long a look that came so late waited for the lock, in seconds."""
        self._last.append(late)
        by_itself = min(self._last)
        return late - by_itself if by_itself <= _MOST * sys.getswitchinterval() else late
