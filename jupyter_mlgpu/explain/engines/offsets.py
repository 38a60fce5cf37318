"""Estimate the offset of another process's clock from this one by round trips.

A message leaves here at one moment, and its answer arrives here at a later one; in between the other clock
was read. The reading is assumed to be in the middle, and is off by at most half of the round trip. So the
shortest of several round trips is the best (F. Cristian, "Probabilistic clock synchronization", Distributed
Computing 3, 1989). The drift of two clocks before or after that is not known, and not part of the
uncertainty: clocks of one machine do not drift, those of two machines by some microseconds a second.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """One round trip: sent and received on this clock, `there_ns` on the other, all in nanoseconds."""

    sent_ns: int
    there_ns: int
    received_ns: int

    @property
    def length_ns(self) -> int:
        """The duration of the round trip."""
        return self.received_ns - self.sent_ns


@dataclass(frozen=True, slots=True)
class Offset:
    """The other clock minus this one, in nanoseconds.

    `uncertainty_ns` is half of the shortest round trip, the largest possible error. An offset without round
    trips is not estimated, but known: see `SAME_CLOCK`.
    """

    ns: int
    uncertainty_ns: int
    round_trips: int

    @property
    def may_be_zero(self) -> bool:
        """True if the round trips do not contradict that both processes read the same clock."""
        return abs(self.ns) <= self.uncertainty_ns


#: All processes of a machine share its monotonic clock (Linux: CLOCK_MONOTONIC; macOS: mach_absolute_time;
#: Windows: QueryPerformanceCounter; see Python's `time.perf_counter`).
SAME_CLOCK = Offset(0, 0, 0)


def estimate(trips: Iterable[RoundTrip]) -> Offset:
    """Return the offset by the shortest round trip. Raises ValueError if there is none."""
    known = tuple(trips)
    best = min(known, key=lambda one: one.length_ns)
    middle = (best.sent_ns + best.received_ns) // 2
    return Offset(best.there_ns - middle, -(-best.length_ns // 2), len(known))
