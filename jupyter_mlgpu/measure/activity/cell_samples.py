"""Sums of the samples of one cell, by what was sampled and by time."""

from __future__ import annotations

from jupyter_mlgpu.measure.activity.activity import Line, State
from jupyter_mlgpu.measure.activity.sample_counts import SampleCounts, line_of
from jupyter_mlgpu.measure.activity.stack import Stack
from jupyter_mlgpu.measure.activity.timeline import Timeline
from jupyter_mlgpu.record.strip import SHORTEST, HostLane


class CellSamples:
    """The sums of a cell whose code began at `code_began`. All times are of `perf_counter`.

    Attributes:
        sampled: the samples.
        unsampled: the stacks found right after a time in which the sampler could not get the GIL.
        unsampled_busy: seconds of that time in which the thread worked.
    """

    def __init__(self, code_began: float) -> None:
        self.code_began = code_began
        self.sampled, self.unsampled = SampleCounts(), SampleCounts()
        self.unsampled_busy = 0.0
        self._timeline = Timeline()

    def add(
        self,
        stack: Stack,
        state: State,
        seconds: float,
        late: float,
        until: float,
        *,
        thread: bool,
        waited: float,
    ) -> None:
        """Count a sample that stands for the `seconds` up to `until` and was `late` seconds late.

        `thread`: it is of another thread than the cell's. `waited` are the seconds without a CPU.
        """
        self.sampled.add(stack, state, seconds, late, thread=thread)
        since_begin = until - self.code_began
        self._timeline.add(state, stack.doing, since_begin, seconds, line_of(stack), waited=waited)

    def add_unsampled(self, stack: Stack, seconds: float, *, busy: bool) -> None:
        """Count a time without samples, with the stack found after it; `busy`: the thread worked in it."""
        self.unsampled_busy += seconds if busy else 0.0
        self.unsampled.add(stack, "interpreter" if busy else "idle", seconds, seconds)

    def lane(self, now: float) -> HostLane | None:
        """Return the CPU's lane of the cell's strip, None if the cell is too short for one."""
        seconds = now - self.code_began
        return self._timeline.lane(seconds) if seconds >= SHORTEST else None

    def lines(self, now: float) -> tuple[Line | None, ...]:
        """Return the line that ran most in each bin of the lane."""
        return self._timeline.lines(now - self.code_began)
