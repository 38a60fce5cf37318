"""GPU activity of each cell, from records that stay on between cells.

No cell waits for a GPU. Work belongs to the cell that launched it, even if it goes on after the cell. At both
ends of a cell a mark is put behind the work of each GPU, and the cell is complete once the record of its last
mark has arrived. If the marks' records never arrive, another profiler has taken CUPTI.
"""

from __future__ import annotations

import os
import threading
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from jupyter_mlgpu.measure.gpu.activity_switch import PROFILER, ActivitySwitch, Profilers
from jupyter_mlgpu.measure.gpu.boundaries import Boundaries, Boundary
from jupyter_mlgpu.measure.gpu.cell_activity import CellActivity
from jupyter_mlgpu.measure.gpu.driver import Driver, DriverError
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.sentence import Sentence, say

if TYPE_CHECKING:
    from jupyter_mlgpu.measure.gpu.activity_buffers import ActivityBuffers
    from jupyter_mlgpu.measure.gpu.activity_records import ActivityColumns
    from jupyter_mlgpu.measure.gpu.cupti import Cupti

#: Seconds for which `finish` waits for the records of marks, which arrive after 0.1 ms.
_PATIENCE = 0.1

TAKEN_OVER = say("Another profiler took over NVIDIA's records in this cell, so its GPU time is not known.")
CUT_SHORT = say(
    "A profiler began, or tracing ended, while the GPU was still at work on this cell, "
    "so its GPU time is not known."
)


class GpuActivity:
    """Measures cells from the first one that begins with a GPU in use, to `stop`. See `ActivitySwitch`."""

    def __init__(
        self,
        profilers: Profilers,
        load_driver: Callable[[], Driver] = Driver,
        load_cupti: Callable[[], tuple[Cupti, ActivityBuffers]] | None = None,
    ) -> None:
        self._switch = ActivitySwitch(profilers, self.give_way, load_driver, load_cupti)
        self._lock = threading.RLock()  # guards the next attributes, only for moments
        self._cells: list[CellActivity] = []
        self._boundaries = Boundaries()
        self._lost = 0
        self._completed: list[CellActivity] = []
        #: Held while records are added to the cells' sums.
        self.adding = threading.RLock()
        self._undivided: defaultdict[int, list[ActivityColumns]] = defaultdict(list)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forked)

    def cell_begins(self) -> CellActivity:
        """Return a cell that is about to begin. Without a `why`, its work is recorded from `starts` on."""
        with self._lock:
            return CellActivity(self._switch.ready())

    def starts(self, cell: CellActivity) -> None:
        """Note that the cell's code comes next."""
        if cell.why is not None:
            return
        with self._lock:
            self._lost += self._switch.dropped()
            cell.switched_on, cell.lost_before = self._switch.switched_on, self._lost
            self._cells.append(cell)
            cell.begin = self._boundary()
            self._put(cell, cell.begin)
            cell.begun = self._switch.clock()
        self._tell()

    def ends(self, cell: CellActivity) -> None:
        """Note that the cell's code has ended."""
        with self._lock:
            if cell not in self._cells:
                return
            if self._switch.is_profiled():
                self._leave(cell, PROFILER)
            else:
                cell.ended = self._switch.clock()
                cell.end = self._boundary()
                self._put(cell, cell.end)
        self._tell()

    def wait(self) -> None:
        """Wait until the GPUs are done. Errors of their work reach the user through the user's own code."""
        driver = self._switch.driver
        for device in self._switch.devices():
            with suppress(DriverError):
                assert driver is not None
                driver.synchronize(device)

    def finish(self, cell: CellActivity) -> None:
        """Complete a cell that has ended and whose work was waited for."""
        until = real_time.monotonic() + _PATIENCE
        while not cell.done.is_set() and real_time.monotonic() < until:
            self.sample()
        if not cell.done.is_set():
            with self._lock:
                self._leave(cell, TAKEN_OVER)
                self._switch.on = False  # the next cell takes the records back
            self._tell()

    def sample(self) -> None:
        """Request complete records and add them up."""
        self._switch.flush()
        self.drain()

    def until_now(self, cell: CellActivity) -> int:
        """Set the moment up to which a running cell is reported, and return it in CUPTI's ticks."""
        with self._lock:
            cell.sampled = self._switch.clock()
            return cell.sampled[0]

    def is_waited_for(self) -> bool:
        """Return True if there are cells that have ended and are not complete."""
        return any(cell.end is not None for cell in self._cells)

    def drain(self) -> int:
        """Add up the records in returned buffers. Returns the number of buffers."""
        with self.adding:
            found, number = self._switch.read()
            marks: list[tuple[int, int, int]] = []
            for records in found:
                is_mark = records.marks()
                if is_mark.any():
                    found_marks = records.where(is_mark)
                    columns = (found_marks.mark_numbers(), found_marks.device, found_marks.correlation)
                    marks += zip(*(column.tolist() for column in columns), strict=True)
                    records = records.where(~is_mark)
                for device in set(records.device.tolist()):
                    self._undivided[device].append(records.where(records.device == device))
            with self._lock:
                self._boundaries.receive(marks)
                # A cell may end meanwhile. Records read before that belong to it.
                cells = [(cell, cell.begin, cell.end) for cell in self._cells]
            complete = [cell for cell, _, end in cells if end is not None and not end.waiting]
            for device, batch in self._undivided.items():
                # While the mark of a later cell is missing, only complete cells get their records.
                waits = any(
                    boundary and device in boundary.waiting for _, *ends in cells for boundary in ends
                )
                for cell, begin, end in cells:
                    if not waits or cell in complete:
                        cell.add(device, batch, begin, end)
                if not waits:
                    batch.clear()
            self._leave_ended([cell for cell, _, _ in cells], complete)
        self._tell()
        return number

    def abandon(self, cell: CellActivity) -> None:
        """Give a cell up: its result will not be used."""
        with self._lock:
            self._leave(cell, CUT_SHORT)
        self._tell()

    def give_way(self) -> None:
        """Leave the records to a profiler of the user's, which is about to begin."""
        self._end(PROFILER)

    def stop(self) -> None:
        """Switch the records off, and leave the profilers alone. The next cell switches them on again."""
        self._end(CUT_SHORT)
        self._switch.leave()

    def _boundary(self) -> Boundary:
        return self._boundaries.announce(self._switch.devices())

    def _put(self, cell: CellActivity, boundary: Boundary) -> None:
        """Put the marks of a boundary. It was announced before, so that their records find it."""
        assert self._switch.driver is not None
        try:
            for device in sorted(boundary.waiting):
                self._switch.driver.mark(device, boundary.number)
        except DriverError as error:
            self._boundaries.forget(boundary)
            self._leave(cell, say("The GPU's driver refused to be asked ({error}).", error=error))

    def _leave_ended(self, cells: list[CellActivity], complete: list[CellActivity]) -> None:
        """Leave the cells that are complete, and those of which a mark was lost."""
        lost = [
            cell for cell in cells if any(boundary and boundary.lost for boundary in (cell.begin, cell.end))
        ]
        if not complete and not lost:
            return
        with self._lock:
            self._lost += self._switch.dropped()
            sampled = self._switch.clock()
            for cell in lost:
                self._leave(cell, TAKEN_OVER)
            for cell in complete:
                cell.sampled, cell.lost = sampled, self._lost - cell.lost_before
                self._leave(cell, None)

    def _leave(self, cell: CellActivity, why: Sentence | None) -> None:
        """Add nothing more to a cell. `_tell` reports it once no lock is held."""
        if cell in self._cells:
            self._cells.remove(cell)
        for boundary in (cell.begin, cell.end):
            if boundary is not None and boundary.waiting:
                self._boundaries.forget(boundary)
        cell.why = cell.why or why
        self._completed.append(cell)

    def _tell(self) -> None:
        while self._completed:
            self._completed.pop(0).complete()

    def _end(self, why: Sentence) -> None:
        """Switch off. Cells that have not ended get `why`, those whose work goes on are cut short."""
        if not self._switch.on:
            return
        with suppress(Exception):  # then less is known of the cells
            self.sample()
        self._switch.off()
        self.drain()
        with self._lock:
            for cell in list(self._cells):
                self._leave(cell, CUT_SHORT if cell.end is not None else why)
        self._tell()

    def _forked(self) -> None:
        """Reset in a forked child, which has no CUDA of its parent's and no records."""
        self._lock = threading.RLock()
        self.adding = threading.RLock()
        self._cells = []
        self._boundaries = Boundaries()
        self._undivided.clear()
        self._switch.forked()
