"""How far another process's clock stands from this one's, found out by messages that go there and back.

A message leaves here at one moment and is answered here at a later one; in between, the other clock was read.
The reading is taken for the middle, and can be wrong by half of the round trip at most. So the shortest of
several round trips tells most (F. Cristian, "Probabilistic clock synchronization", Distributed Computing 3,
1989). How far two clocks drift apart before or after that is not known, and not in the uncertainty: clocks
of one machine do not, those of two machines by some microseconds a second.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """One question and its answer: sent and received on this clock, `there_ns` on the other; nanoseconds."""

    sent_ns: int
    there_ns: int
    received_ns: int

    @property
    def length_ns(self) -> int:
        """How long it took, there and back."""
        return self.received_ns - self.sent_ns


@dataclass(frozen=True, slots=True)
class Offset:
    """The other clock minus this one, in nanoseconds.

    `uncertainty_ns` is half of the shortest round trip: the true offset is no further away than that.
    Without a round trip it is not estimated, but known: see `SAME_CLOCK`.
    """

    ns: int
    uncertainty_ns: int
    round_trips: int


#: The monotonic clock of this machine is one for all its processes (Linux: CLOCK_MONOTONIC; macOS:
#: mach_absolute_time; Windows: QueryPerformanceCounter; see Python's `time.perf_counter`).
SAME_CLOCK = Offset(0, 0, 0)


def estimate(trips: Iterable[RoundTrip]) -> Offset:
    """The offset that the shortest round trip tells. Raises ValueError where there is none."""
    known = tuple(trips)
    best = min(known, key=lambda one: one.length_ns)
    middle = (best.sent_ns + best.received_ns) // 2
    return Offset(best.there_ns - middle, -(-best.length_ns // 2), len(known))
