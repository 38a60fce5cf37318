"""When to look at a cell: 20 to 50 times a second, at irregular moments, for at most `SHARE` of its time.

A cell of Python stands still for each look, so that it gets six in its first second, and four in later ones.
"""

from __future__ import annotations

#: Seconds from a cell's start to the first look: a shorter cell is never looked at.
AFTER = 0.05
#: Seconds from one look to the next, from and to.
SHORTEST, LONGEST = 0.02, 0.05
#: The part of a cell's time that looking at it may take, at most.
SHARE = 0.002
#: Seconds that it may take in any cell: native code does not stand still for it, and its first looks count.
_CREDIT = 0.0004
#: A cell that has gone on for so much longer since the last look is looked at even where that takes more: of
#: half a second some looks are needed, or nothing can be said.
_LONGER = 0.8
#: Of a look, what counts at most: seconds of the first, and then so many times what the cheapest took.
_FIRST, _TIMES = 0.0008, 4
#: Seconds that a look at a cell of Python counts for besides: it stands still until the lock has changed
#: hands twice, and its receipt's answer is to be paid for, too (measured: docs/measurements/
#: 2026-11-24-limits, "What looking costs").
_STOPPED = 0.00035
#: The golden ratio's fractional part: its multiples spread evenly over what they are taken modulo (Weyl).
_GOLDEN = 0.6180339887498949


class SamplingInterval:
    """How long to wait for the next look at a cell; no loop of it keeps step with them."""

    def __init__(self) -> None:
        self._samples = 0
        self._cost = 0.0
        self._most = _FIRST

    def charge(self, cost: float, *, stopped: bool = False) -> None:
        """Count what a look cost, in seconds: no more than some of the cheapest; `stopped`: the cell stood.

        The user's garbage that is collected in it, or a virtual machine that is halted, would use up alone
        what all looks of seconds may take.
        """
        self._cost += min(cost, self._most) + (_STOPPED if stopped else 0.0)
        self._most = min(self._most, _TIMES * cost) if self._samples > 1 else _TIMES * cost

    def refund(self, cost: float) -> None:
        """Take back what is no part of looking."""
        self._cost -= cost

    def wait(self, elapsed: float) -> float:
        """Seconds to the next look, after one at which so much of the cell had gone by since the first."""
        self._samples += 1
        wait = SHORTEST + (LONGEST - SHORTEST) * (self._samples * _GOLDEN % 1)
        return max(wait, min((self._cost - _CREDIT) / SHARE - elapsed, _LONGER * (elapsed + AFTER)))
