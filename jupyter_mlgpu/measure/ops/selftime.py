"""Self times: whose time it is at each moment of a line (a thread or a stream).

The self time of an operation is its own time without that of the operations it ran inside itself. Here
it is defined by the moment: while several operations of a line are open, the time belongs to the one that
began last. For nested operations that is the usual "own minus children". Where two overlap without one
holding the other (a profiler's clock jitter, asynchronous ranges), the later one has the time they share.
So the self times of a line always sum, to the nanosecond, to the union of its intervals.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from jupyter_mlgpu.measure.ops.events import Event
from jupyter_mlgpu.record.record import Plane


def self_times(intervals: Sequence[tuple[int, int]]) -> list[int]:
    """Each interval's self time, in the order given, for the intervals (start, end) of one line.

    The order in which they come does not matter, but that of equal intervals: the first holds the others.
    Of those with the same start, the longest holds the others. An interval that ends where it starts has 0.
    """
    own = [0] * len(intervals)
    order = sorted(range(len(intervals)), key=lambda one: (intervals[one][0], -intervals[one][1]))
    open_ones: list[int] = []
    now = 0

    def advance(until: int | None) -> None:
        """Hand out the time from `now` on; to the end of all that are open where `until` is None."""
        nonlocal now
        while open_ones:
            last = open_ones[-1]
            end = intervals[last][1]
            if until is not None and end > until:
                own[last] += until - now
                break
            if end > now:  # one that ended under a later one has nothing left
                own[last] += end - now
                now = end
            open_ones.pop()
        if until is not None:
            now = until

    for one in order:
        advance(intervals[one][0])
        open_ones.append(one)
    advance(None)
    return own


def parents(intervals: Sequence[tuple[int, int]]) -> list[int | None]:
    """For each interval of one line, the number of the innermost one that holds all of it; None for none."""
    found: list[int | None] = [None] * len(intervals)
    order = sorted(range(len(intervals)), key=lambda one: (intervals[one][0], -intervals[one][1]))
    holding: list[int] = []
    for one in order:
        start, end = intervals[one]
        while holding and (intervals[holding[-1]][1] <= start or intervals[holding[-1]][1] < end):
            holding.pop()
        found[one] = holding[-1] if holding else None
        holding.append(one)
    return found


def by_line(events: Iterable[Event]) -> dict[tuple[Plane, str, str], list[Event]]:
    """The events of each line: plane, device and line together name one."""
    lines: dict[tuple[Plane, str, str], list[Event]] = defaultdict(list)
    for event in events:
        lines[event.plane, event.device, event.line].append(event)
    return lines


def of_line(events: Sequence[Event]) -> list[int]:
    """The self time of each event of one line, in nanoseconds."""
    return self_times([(event.start_ns, event.end_ns) for event in events])
