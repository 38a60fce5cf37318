"""GPU activity of one cell: the work that was launched between its two ends."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from jupyter_mlgpu.measure.gpu.boundaries import Boundary
from jupyter_mlgpu.record.sentence import Sentence

if TYPE_CHECKING:
    from jupyter_mlgpu.measure.gpu.activity_records import ActivityColumns
    from jupyter_mlgpu.measure.gpu.gpu_totals import GpuTotals


class CellActivity:
    """Made by `GpuActivity.cell_begins`. It is complete once `done` is set."""

    def __init__(self, why: Sentence | None) -> None:
        #: The reason if nothing is known, else None.
        self.why = why
        self.begin: Boundary | None = None
        self.end: Boundary | None = None
        #: CUPTI's clock and ours: at switching on, at the cell's two ends, and at completion.
        self.switched_on = self.begun = self.ended = self.sampled = (0, 0)
        #: Sums for each GPU.
        self.totals: dict[int, GpuTotals] = {}
        #: When each GPU ended the last work launched before the cell, if that was recorded.
        self.earlier_end: dict[int, int] = {}
        #: Records lost by CUPTI in this process before the cell, and during it.
        self.lost_before = self.lost = 0
        self.done = threading.Event()
        if why is not None:
            self.done.set()
        self._tell: Callable[[], None] | None = None
        self._telling = threading.Lock()

    @property
    def devices(self) -> set[int]:
        """The GPUs that were in use at the cell's end, and those that worked."""
        return {*(self.end.ids if self.end is not None else ()), *self.totals, *self.earlier_end}

    def add(
        self, device: int, batch: Sequence[ActivityColumns], begin: Boundary | None, end: Boundary | None
    ) -> None:
        """Add those of a GPU's records whose work was launched between the two boundaries."""
        from jupyter_mlgpu.measure.gpu.gpu_totals import GpuTotals

        for records in batch:
            if begin is not None:
                is_after = begin.after(records, device)
                if not is_after.all():
                    last_end = int(records.end[~is_after].max())
                    self.earlier_end[device] = max(last_end, self.earlier_end.get(device, 0))
                records = records.where(is_after)
            if end is not None:
                records = records.where(end.before(records, device))
            if len(records):
                self.totals.setdefault(device, GpuTotals()).add(records)

    def complete(self) -> None:
        """Mark the cell as complete: nothing more will be added."""
        with self._telling:
            self.done.set()
            tell, self._tell = self._tell, None
        if tell is not None:
            tell()

    def when_done(self, tell: Callable[[], None]) -> None:
        """Call `tell` once the cell is complete, on the thread that completes it."""
        with self._telling:
            if not self.done.is_set():
                self._tell = tell
                return
        tell()

    def clock_is_monotonic(self) -> bool:
        """Return True if CUPTI's clock only went forwards from switching on to completion."""
        moments = [at for at, _ in (self.switched_on, self.begun, self.ended, self.sampled)]
        return moments == sorted(moments)

    def seconds(self, ticks: int) -> float:
        """Return ticks of CUPTI's clock as seconds. It counts nanoseconds or ticks of the CPU."""
        (begun_ticks, begun_ns), (ended_ticks, ended_ns) = self.switched_on, self.sampled
        ticks_a_nanosecond = (ended_ticks - begun_ticks) / max(1, ended_ns - begun_ns)
        # A short time yields an inaccurate rate, and mostly it is exactly 1.
        return ticks / (1 if 0.98 < ticks_a_nanosecond < 1.02 else ticks_a_nanosecond) / 1e9

    def seconds_of_earlier_work(self, device: int) -> float:
        """Return the seconds of the cell in which a GPU still did work launched before the cell."""
        until = min(self.earlier_end.get(device, 0), self.ended[0])
        return self.seconds(max(0, until - self.begun[0]))

    def seconds_after_end(self, device: int) -> float:
        """Return the seconds for which a GPU went on with the cell's work after the cell had ended."""
        totals = self.totals.get(device)
        return 0.0 if totals is None else self.seconds(max(0, totals.last_end - self.ended[0]))
