"""One cell's part of what the GPUs did: the work that was launched between its two ends."""

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
    """Made by `GpuActivity.cell_begins`; complete once `done` is set."""

    def __init__(self, why: Sentence | None) -> None:
        #: Why nothing is known, or None.
        self.why = why
        self.begin: Boundary | None = None
        self.end: Boundary | None = None
        #: CUPTI's clock and ours: when the records were switched on, at the cell's ends, once it is complete.
        self.switched_on = self.begun = self.ended = self.sampled = (0, 0)
        #: What each GPU did.
        self.totals: dict[int, GpuTotals] = {}
        #: When each GPU ended the last work that was launched before the cell, where that was seen.
        self.earlier_end: dict[int, int] = {}
        #: Records lost by CUPTI in this process when the cell began, and until it was complete.
        self.lost_before = self.lost = 0
        self.done = threading.Event()
        if why is not None:
            self.done.set()
        self._tell: Callable[[], None] | None = None
        self._telling = threading.Lock()

    @property
    def devices(self) -> set[int]:
        """The GPUs that were in use at its end, and those that worked."""
        return {*(self.end.ids if self.end is not None else ()), *self.totals, *self.earlier_end}

    def add(
        self, device: int, batch: Sequence[ActivityColumns], begin: Boundary | None, end: Boundary | None
    ) -> None:
        """Add those of a GPU's records of which the work was launched between these two."""
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
        """Nothing more will come."""
        with self._telling:
            self.done.set()
            tell, self._tell = self._tell, None
        if tell is not None:
            tell()

    def when_done(self, tell: Callable[[], None]) -> None:
        """Call this once it is complete, from whichever thread has completed it."""
        with self._telling:
            if not self.done.is_set():
                self._tell = tell
                return
        tell()

    def clock_went_on(self) -> bool:
        """Return whether CUPTI's clock went forwards, from when the records were switched on to the end."""
        moments = [at for at, _ in (self.switched_on, self.begun, self.ended, self.sampled)]
        return moments == sorted(moments)

    def seconds(self, ticks: int) -> float:
        """Ticks of CUPTI's clock as seconds: it counts nanoseconds, or ticks of the processor."""
        (begun_ticks, begun_ns), (ended_ticks, ended_ns) = self.switched_on, self.sampled
        ticks_a_nanosecond = (ended_ticks - begun_ticks) / max(1, ended_ns - begun_ns)
        # A short time tells the rate badly, and most often it is exactly 1.
        return ticks / (1 if 0.98 < ticks_a_nanosecond < 1.02 else ticks_a_nanosecond) / 1e9

    def earlier(self, device: int) -> float:
        """Seconds from the cell's beginning until a GPU had ended earlier work, or the cell had."""
        until = min(self.earlier_end.get(device, 0), self.ended[0])
        return self.seconds(max(0, until - self.begun[0]))

    def went_on(self, device: int) -> float:
        """Seconds for which a GPU went on with the cell's work after the cell had ended."""
        totals = self.totals.get(device)
        return 0.0 if totals is None else self.seconds(max(0, totals.last_end - self.ended[0]))
