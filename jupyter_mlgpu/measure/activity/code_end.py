"""What was seen of a cell until its code ended, or until it may have ended."""

from __future__ import annotations

from typing import NamedTuple

from jupyter_mlgpu.measure.activity import counters
from jupyter_mlgpu.measure.activity.activity import Activity, Line
from jupyter_mlgpu.measure.activity.counters import Counters
from jupyter_mlgpu.measure.activity.sample_counts import SampleCounts
from jupyter_mlgpu.measure.activity.states import AT_WORK
from jupyter_mlgpu.measure.activity.watched_thread import ThreadMoment
from jupyter_mlgpu.record.strip import HostLane


class CodeEnd(NamedTuple):
    """A moment in a cell, and all that was seen of it until then; times in seconds.

    Attributes:
        at: the time, and the processor time of the cell's thread.
        process_time: processor time of the process.
        last: the look before that, or the beginning of the code; `last_process_time` belongs to it.
        counters: those of the system; None where there was no look before that.
        unseen_busy: how much of the unseen time the thread worked.
        lane: the CPU's lane of the cell's strip; `lane_lines`, the line of each of its bins.
    """

    at: ThreadMoment
    process_time: float
    last: ThreadMoment
    last_process_time: float
    counters: Counters | None
    seen: SampleCounts
    unseen: SampleCounts
    unseen_busy: float
    lane: HostLane | None
    lane_lines: tuple[Line | None, ...]

    @property
    def has_samples(self) -> bool:
        """Whether a look saw the cell before that."""
        return self.counters is not None and bool(self.seen.count or self.unseen.count)


def never_seen(end: CodeEnd, *, traced: bool) -> Activity | None:
    """Return what the clocks tell of a cell that kept the GIL until its end, so that nobody could look."""
    if end.last.own is None or end.at.own is None:
        return None
    seconds, own = end.at.now - end.last.now, end.at.own - end.last.own
    return Activity(
        seconds=seconds,
        samples=0,
        parts=(),
        unseen=seconds,
        unseen_busy=seconds if own >= AT_WORK * seconds else 0.0,
        thread_time=own,
        process_time=end.process_time - end.last_process_time,
        cores=counters.cores(),
        traced=traced,
    )
