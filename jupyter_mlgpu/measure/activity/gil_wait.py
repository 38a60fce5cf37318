"""Separates the wait for the GIL from a sample's other delays.

A timer that fires late and a CPU that has to wake up delay every sample. This part differs between machines
and from minute to minute. The rest of a sample's delay is the wait for the GIL.
"""

from __future__ import annotations

import sys
from collections import deque

#: How many samples are remembered: those of a second or two.
_REMEMBERED = 32
#: Largest base delay, in switch intervals: a loop of Python delays every sample by one.
_MOST = 0.5


class GilWaitEstimator:
    """Remembers the delays of the last samples of all cells. Their minimum is the base delay."""

    def __init__(self) -> None:
        self._last: deque[float] = deque(maxlen=_REMEMBERED)

    def estimate(self, late: float) -> float:
        """Return how long a sample that came so late waited for the GIL, in seconds."""
        self._last.append(late)
        base = min(self._last)
        return late - base if base <= _MOST * sys.getswitchinterval() else late
