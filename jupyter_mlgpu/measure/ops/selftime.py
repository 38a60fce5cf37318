"""Self times of the operations on a line (a thread or a stream).

The self time of an operation is its own time without that of the operations that it ran inside itself. It is
defined for each moment: while several operations of a line are open, the time belongs to the one that began
last. For nested operations this is the usual "own minus children". If two overlap without one containing the
other (a profiler's clock jitter, asynchronous ranges), the later one gets the time they share. So the self
times of a line always sum, to the nanosecond, to the union of its intervals.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from jupyter_mlgpu.measure.ops.events import Event
from jupyter_mlgpu.record.record import Plane


def self_times(intervals: Sequence[tuple[int, int]]) -> list[int]:
    """Return the self times of the intervals (start, end) of one line, in the given order.

    The order matters only for equal intervals: the first contains the others. Of intervals with the same
    start, the longest contains the others. An empty interval has 0.
    """
    own = [0] * len(intervals)
    order = sorted(range(len(intervals)), key=lambda index: (intervals[index][0], -intervals[index][1]))
    open_intervals: list[int] = []
    now = 0

    def advance(until: int | None) -> None:
        """Assign the time from `now` to `until`; if that is None, up to the end of all open intervals."""
        nonlocal now
        while open_intervals:
            last = open_intervals[-1]
            end = intervals[last][1]
            if until is not None and end > until:
                own[last] += until - now
                break
            if end > now:  # an interval that ended during a later one has no time left
                own[last] += end - now
                now = end
            open_intervals.pop()
        if until is not None:
            now = until

    for index in order:
        advance(intervals[index][0])
        open_intervals.append(index)
    advance(None)
    return own


def parents(intervals: Sequence[tuple[int, int]]) -> list[int | None]:
    """Return for each interval of one line the index of the innermost one that contains it, or None."""
    found: list[int | None] = [None] * len(intervals)
    order = sorted(range(len(intervals)), key=lambda index: (intervals[index][0], -intervals[index][1]))
    containing: list[int] = []
    for index in order:
        start, end = intervals[index]
        while containing and (intervals[containing[-1]][1] <= start or intervals[containing[-1]][1] < end):
            containing.pop()
        found[index] = containing[-1] if containing else None
        containing.append(index)
    return found


def by_line(events: Iterable[Event]) -> dict[tuple[Plane, str, str], list[Event]]:
    """Return the events by line; plane, device and line together identify one."""
    lines: dict[tuple[Plane, str, str], list[Event]] = defaultdict(list)
    for event in events:
        lines[event.plane, event.device, event.line].append(event)
    return lines


def of_line(events: Sequence[Event]) -> list[int]:
    """Return the self time of each event of one line, in nanoseconds."""
    return self_times([(event.start_ns, event.end_ns) for event in events])
