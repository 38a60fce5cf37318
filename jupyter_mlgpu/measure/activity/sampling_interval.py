"""When to sample a cell: 20 to 50 times a second, at irregular times, for at most `SHARE` of the cell's time.

A cell of Python stops during each sample, so it gets only six in its first second and four in later ones.
"""

from __future__ import annotations

#: Seconds from a cell's start to the first sample: a shorter cell is never sampled.
FIRST_SAMPLE_AFTER = 0.05
#: Shortest and longest interval between two samples, in seconds.
SHORTEST_INTERVAL, LONGEST_INTERVAL = 0.02, 0.05
#: The largest part of a cell's time that sampling may take.
SHARE = 0.002
#: Seconds that sampling may take in any cell: native code does not stop for it, and early samples count most.
_CREDIT = 0.0004
#: A cell that has gone on for this many times its sampled time is sampled even if that exceeds the share:
#: half a second needs some samples to say anything.
_LONGER = 0.8
#: The cost of a sample counts up to this limit: seconds for the first, then a multiple of the cheapest.
_FIRST, _TIMES = 0.0008, 4
#: Seconds added to the cost of a sample of Python code: the cell stops until the GIL has changed hands twice,
#: and the evaluation for its receipt counts too (measured: docs/measurements/2026-11-24-limits, "What looking
#: costs").
_STOPPED = 0.00035
#: The golden ratio's fractional part. Its multiples modulo 1 are evenly spread (Weyl).
_GOLDEN = 0.6180339887498949


class SamplingInterval:
    """The interval until the next sample of a cell, irregular so that no loop is in step with the samples."""

    def __init__(self) -> None:
        self._samples = 0
        self._cost = 0.0
        self._most = _FIRST

    def charge(self, cost: float, *, stopped: bool = False) -> None:
        """Add the cost of a sample in seconds, up to a limit; `stopped`: the cell stood still meanwhile.

        Without the limit, one garbage collection in a sample or one halt of a virtual machine would use up
        what the samples of many seconds may cost.
        """
        self._cost += min(cost, self._most) + (_STOPPED if stopped else 0.0)
        self._most = min(self._most, _TIMES * cost) if self._samples > 1 else _TIMES * cost

    def refund(self, cost: float) -> None:
        """Subtract a cost that does not belong to sampling."""
        self._cost -= cost

    def wait(self, elapsed: float) -> float:
        """Return the seconds to the next sample, `elapsed` seconds after the first one."""
        self._samples += 1
        wait = SHORTEST_INTERVAL + (LONGEST_INTERVAL - SHORTEST_INTERVAL) * (self._samples * _GOLDEN % 1)
        return max(
            wait, min((self._cost - _CREDIT) / SHARE - elapsed, _LONGER * (elapsed + FIRST_SAMPLE_AFTER))
        )
