"""What the samples of one cell saw, added up: by what it was, and by when it was."""

from __future__ import annotations

from jupyter_mlgpu.measure.activity.activity import Line, State
from jupyter_mlgpu.measure.activity.sample_counts import SampleCounts, line_of
from jupyter_mlgpu.measure.activity.stack import Stack
from jupyter_mlgpu.measure.activity.timeline import Timeline
from jupyter_mlgpu.record.strip import SHORTEST, HostLane


class CellSamples:
    """The sums of a cell whose code began at `code_began`; all moments are of `perf_counter`.

    Attributes:
        seen: what the samples saw.
        unseen: what they found right after a time in which the GIL was not to be had.
        unseen_busy: seconds of that time in which the thread worked.
    """

    def __init__(self, code_began: float) -> None:
        self.code_began = code_began
        self.seen, self.unseen = SampleCounts(), SampleCounts()
        self.unseen_busy = 0.0
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
        """Count a sample that stands for so many seconds up to a moment, and came so late.

        `thread`: it saw another thread than the cell's. `waited` are the seconds without a processor.
        """
        self.seen.add(stack, state, seconds, late, thread=thread)
        since_begin = until - self.code_began
        self._timeline.add(state, stack.doing, since_begin, seconds, line_of(stack), waited=waited)

    def add_unseen(self, stack: Stack, seconds: float, *, busy: bool) -> None:
        """Count a time that no sample saw, with what was found after it; `busy`: the thread worked in it."""
        self.unseen_busy += seconds if busy else 0.0
        self.unseen.add(stack, "interpreter" if busy else "idle", seconds, seconds)

    def lane(self, now: float) -> HostLane | None:
        """The CPU's lane of the cell's strip; None where the cell is too short for one."""
        seconds = now - self.code_began
        return self._timeline.lane(seconds) if seconds >= SHORTEST else None

    def lines(self, now: float) -> tuple[Line | None, ...]:
        """The line that ran most in each bin of that lane."""
        return self._timeline.lines(now - self.code_began)
