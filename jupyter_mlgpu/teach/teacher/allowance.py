"""A rate limit for reports: some at once after a network failure, then a few per minute."""

from __future__ import annotations

import math

#: Number of reports that may come at once, and seconds for each further one. A kernel sends one in ten
#: seconds.
AT_ONCE = 20
SECONDS_EACH = 2.0


class Allowance:
    """Counts the reports that each user may still send; there are as many entries as the hub has users."""

    def __init__(self) -> None:
        self._left: dict[str, tuple[float, float]] = {}

    def wait(self, name: str, now: float) -> int:
        """Count one report; return 0 if it is allowed, else the whole seconds until it will be."""
        left, since = self._left.get(name, (float(AT_ONCE), now))
        left = min(float(AT_ONCE), left + (now - since) / SECONDS_EACH)
        if left < 1:
            self._left[name] = left, now
            return math.ceil((1 - left) * SECONDS_EACH)
        self._left[name] = left - 1, now
        return 0
