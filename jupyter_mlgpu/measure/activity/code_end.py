"""The samples and counters of a cell up to the end of its code, or to a possible end."""

from __future__ import annotations

from typing import NamedTuple

from jupyter_mlgpu.measure.activity import counters
from jupyter_mlgpu.measure.activity.activity import Activity, Line
from jupyter_mlgpu.measure.activity.counters import Counters
from jupyter_mlgpu.measure.activity.sample_counts import SampleCounts
from jupyter_mlgpu.measure.activity.sampled_thread import ThreadMoment
from jupyter_mlgpu.measure.activity.states import WORKING
from jupyter_mlgpu.record.strip import HostLane


class CodeEnd(NamedTuple):
    """A moment in a cell, and all samples and counters up to it. Times are in seconds.

    Attributes:
        at: the time, and the CPU time of the cell's thread.
        process_time: CPU time of the process.
        last: the last sample before, or the beginning of the code; `last_process_time` belongs to it.
        counters: those of the system; None if there was no sample before.
        unsampled_busy: how much of the unsampled time the thread worked.
        lane: the CPU's lane of the cell's strip; `lane_lines`, the line of each of its bins.
    """

    at: ThreadMoment
    process_time: float
    last: ThreadMoment
    last_process_time: float
    counters: Counters | None
    sampled: SampleCounts
    unsampled: SampleCounts
    unsampled_busy: float
    lane: HostLane | None
    lane_lines: tuple[Line | None, ...]

    @property
    def has_samples(self) -> bool:
        """True if there was a sample before."""
        return self.counters is not None and bool(self.sampled.count or self.unsampled.count)


def activity_of_unsampled_cell(end: CodeEnd, *, traced: bool) -> Activity | None:
    """Return the activity of a cell that kept the GIL until its end, from its clocks alone."""
    if end.last.cpu_time is None or end.at.cpu_time is None:
        return None
    seconds, cpu_time = end.at.now - end.last.now, end.at.cpu_time - end.last.cpu_time
    return Activity(
        seconds=seconds,
        samples=0,
        parts=(),
        unsampled=seconds,
        unsampled_busy=seconds if cpu_time >= WORKING * seconds else 0.0,
        thread_time=cpu_time,
        process_time=end.process_time - end.last_process_time,
        cores=counters.cores(),
        traced=traced,
    )
