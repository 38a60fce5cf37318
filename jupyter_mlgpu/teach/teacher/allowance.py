"""How many reports somebody may send: some at once after a cut of the network, then a steady few."""

from __future__ import annotations

import math

#: Reports at once, and then one in so many seconds; a kernel sends one in ten.
AT_ONCE = 20
SECONDS_EACH = 2.0


class Allowance:
    """Counts for each name what may still be sent; there are as many names as the hub has people."""

    def __init__(self) -> None:
        self._left: dict[str, tuple[float, float]] = {}

    def wait(self, name: str, now: float) -> int:
        """Take one; 0 where that is allowed, else the whole seconds after which it will be."""
        left, since = self._left.get(name, (float(AT_ONCE), now))
        left = min(float(AT_ONCE), left + (now - since) / SECONDS_EACH)
        if left < 1:
            self._left[name] = left, now
            return math.ceil((1 - left) * SECONDS_EACH)
        self._left[name] = left - 1, now
        return 0
