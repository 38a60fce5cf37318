"""ActivityColumns of what the GPUs do, kept on while cells are measured, and each cell's part of them.

The records are switched on at the first cell that begins with a CUDA context, 15 ms once, and left on between
cells. A cell has what began between its two ends, at both of which the frameworks' work is waited
for. At its end a mark is put behind the work of each GPU: if its record does not come, another profiler has
taken CUPTI.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from jupyter_mlgpu.measure.frameworks.imports import imported
from jupyter_mlgpu.measure.gpu.driver import Driver, DriverError
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.sentence import Sentence, say

if TYPE_CHECKING:
    from jupyter_mlgpu.measure.gpu.activity_buffers import ActivityBuffers
    from jupyter_mlgpu.measure.gpu.activity_records import ActivityColumns
    from jupyter_mlgpu.measure.gpu.cupti import Cupti
    from jupyter_mlgpu.measure.gpu.gpu_totals import GpuTotals

#: Seconds for which a cell's end waits for the records of its marks, which are there after 0.1 ms.
_PATIENCE = 0.1

#: Set by who traces the whole process with CUPTI: an injected library, Nsight Systems, Nsight Compute.
TOOLS = ("CUDA_INJECTION64_PATH", "NSYS_PROFILING_SESSION_ID", "NV_COMPUTE_PROFILER_PERFWORKS_DIR")

#: Seconds after which CUDA's driver is looked for again, where the user's code had not loaded it.
_LOOK_AGAIN = 0.5

NO_GPU = say("No CUDA GPU was in use when this cell began: its time is known from the next cell on.")
NO_CUDA = say("GPU time is measured on NVIDIA GPUs only.")
NO_NUMPY = say("GPU time needs NumPy, which is not loaded here.")
PROFILER = say("A profiler was on in this cell, and NVIDIA's records were left to it.")
TAKEN_OVER = say("Another profiler took over NVIDIA's records in this cell, so its GPU time is not known.")


class Profilers(Protocol):
    """`frameworks.profiler_watch.ProfilerWatch`."""

    def is_on(self) -> bool:
        """Return whether a profiler is on."""
        ...

    def before(self, tell: Callable[[], None]) -> None:
        """Have `tell` called before one begins; twice does no harm."""

    def leave(self) -> None:
        """Call it no more."""


class GpuActivity:
    """Records what the GPUs of this process do, from the first cell that uses them to `stop`.

    `profilers` are those of the frameworks, which CUPTI serves one at a time. `load_driver` and `load_cupti`
    give NVIDIA's libraries, and raise OSError where there are none.
    """

    def __init__(
        self,
        profilers: Profilers,
        load_driver: Callable[[], Driver] = Driver,
        load_cupti: Callable[[], tuple[Cupti, ActivityBuffers]] | None = None,
    ) -> None:
        self._profilers = profilers
        self._load_driver = load_driver
        self._load_cupti = load_cupti or _load_cupti
        self._lock = threading.RLock()
        self._driver: Driver | None = None
        self._cupti: Cupti | None = None
        self._buffers: ActivityBuffers | None = None
        self._sizes: dict[int, int] = {}
        self._cells: list[CellActivity] = []
        self._on, self._switched_on = False, (0, 0)
        self._never: Sentence | None = None
        self._look_again = -math.inf
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forked)

    def cell_begins(self) -> CellActivity:
        """Begin a cell's part. Its work before is waited for already."""
        with self._lock:
            why = self._ready()
            cell = CellActivity(self, why)
            if why is None:
                assert self._cupti is not None
                cell.switched_on, cell.begun = self._switched_on, self._cupti.clock()
                self._cells.append(cell)
            return cell

    def stop(self) -> None:
        """Switch the records off, and leave the profilers alone; the next cell switches them on again."""
        self._profilers.leave()
        self._switch_off()

    def give_way(self) -> None:
        """A profiler of the user's is about to begin: it alone can have the records."""
        with self._lock:
            for cell in self._cells:
                cell.why = PROFILER
            self._switch_off()

    def drain(self) -> int:
        """Add up the records of full buffers; returns how many buffers there were."""
        with self._lock:
            if self._buffers is None:
                return 0
            number = 0
            for address, size in self._buffers.full():
                number += 1
                if size and self._cells:
                    for records in self._read(address, size):
                        for cell in self._cells:
                            cell.add(records)
            return number

    def wait(self) -> None:
        """Wait until the GPUs are done; an error of theirs reaches the user through the user's own code."""
        driver = self._driver
        if driver is not None:
            for device in driver.active():
                with suppress(DriverError):
                    driver.synchronize(device)

    def end(self, cell: CellActivity) -> None:
        """Called by a cell that ends: have all its records added to it, or its `why` set."""
        with self._lock:
            if cell not in self._cells:
                return
            try:
                if self._profilers.is_on():
                    cell.why = PROFILER
                    return
                assert self._driver is not None
                assert self._cupti is not None
                devices = set(self._driver.active())
                for device in devices:
                    self._driver.mark(device)
                until = real_time.monotonic() + _PATIENCE
                while not cell.marked >= devices and real_time.monotonic() < until:
                    self._cupti.flush()
                    self.drain()
                cell.ended = self._cupti.clock()
                cell.lost = self._cupti.dropped()
                if not cell.marked >= devices:
                    cell.why = TAKEN_OVER
                    self._on = False  # the next cell takes the records back
            finally:
                if cell in self._cells:
                    self._cells.remove(cell)

    def abandon(self, cell: CellActivity) -> None:
        """The cell will not ask for its part."""
        with self._lock:
            if cell in self._cells:
                self._cells.remove(cell)

    def _ready(self) -> Sentence | None:
        """Switch the records on if they are not; returns why that is not possible."""
        if self._never is not None:
            return self._never
        variable = next((one for one in TOOLS if os.environ.get(one)), None)
        if variable is not None:
            return say(
                "Another tool traces this process ({variable} is set), so GPU time was left to it.",
                variable=variable,
            )
        if self._driver is None and not self._find_driver():
            return NO_CUDA
        assert self._driver is not None
        if not self._driver.active():
            return NO_GPU
        if self._profilers.is_on():
            return PROFILER
        if not self._on:
            return self._switch_on()
        return None

    def _find_driver(self) -> bool:
        """Look for the driver, which takes 40 microseconds where it is not loaded: not before every cell."""
        now = real_time.monotonic()
        if now < self._look_again:
            return False
        self._look_again = now + _LOOK_AGAIN
        with suppress(OSError):
            self._driver = self._load_driver()
        return self._driver is not None

    def _switch_on(self) -> Sentence | None:
        if not imported("numpy"):
            return NO_NUMPY
        from jupyter_mlgpu.measure.gpu.cupti import KINDS, CuptiError

        try:
            if self._cupti is None:
                self._cupti, self._buffers = self._load_cupti()
            assert self._buffers is not None
            self._cupti.hand_over(self._buffers)
            for kind in KINDS:
                self._cupti.enable(kind)
            self._cupti.dropped()
        except (OSError, CuptiError) as error:
            self._never = say("NVIDIA's records could not be switched on ({error}).", error=error)
            return self._never
        self._on, self._switched_on = True, self._cupti.clock()
        self._profilers.before(self.give_way)
        return None

    def _switch_off(self) -> None:
        from jupyter_mlgpu.measure.gpu.cupti import KINDS, CuptiError

        with self._lock:
            self._cells.clear()
            if not self._on or self._cupti is None:
                return
            self._on = False
            try:
                for kind in KINDS:
                    self._cupti.disable(kind)
                self._cupti.flush(forced=True)
            except CuptiError:  # somebody else has switched CUPTI off
                pass
            self.drain()

    def _read(self, address: int, size: int) -> Sequence[ActivityColumns]:
        from jupyter_mlgpu.measure.gpu.activity_records import UnknownKindError, read, sizes_of, words_at

        words = words_at(address, size)
        try:
            return read(words, self._sizes)
        except UnknownKindError:
            assert self._cupti is not None
            places = [(one - address) // 8 for one in self._cupti.records(address, size)]
            self._sizes.update(sizes_of(words, places))
            return read(words, self._sizes)

    def _forked(self) -> None:
        """A forked child has no CUDA of its parent's, and no records."""
        self._lock = threading.RLock()
        self._cells = []
        self._on = False
        self._switched_on = (0, 0)
        self._never = NO_CUDA


class CellActivity:
    """One cell's part of the records; made by `GpuActivity.cell_begins`."""

    def __init__(self, activity: GpuActivity, why: Sentence | None) -> None:
        self._activity = activity
        #: Why nothing is known, or None.
        self.why = why
        #: CUPTI's clock and ours: when the records were switched on, and at the cell's two ends.
        self.switched_on = self.begun = self.ended = (0, 0)
        #: The GPUs whose mark was seen, what each of them did, and how many records were lost.
        self.marked: set[int] = set()
        self.totals: dict[int, GpuTotals] = {}
        self.lost = 0

    def wait(self) -> None:
        """Wait until the GPUs are done with all work of this process."""
        if self.why is None:
            self._activity.wait()

    def finish(self) -> None:
        """Take all records up to now; its attributes hold what they say afterwards."""
        if self.why is None:
            try:
                self._activity.end(self)
            except DriverError as error:
                self.why = say("The GPU's driver refused to be asked ({error}).", error=error)

    def abandon(self) -> None:
        """Take no records any more."""
        self._activity.abandon(self)

    def add(self, records: ActivityColumns) -> None:
        """Add those records that began after the cell did."""
        from jupyter_mlgpu.measure.gpu.gpu_totals import GpuTotals

        records = records.where(records.start >= self.begun[0])
        marks = records.marks()
        self.marked.update(records.device[marks].tolist())
        records = records.where(~marks)
        for device in set(records.device.tolist()):
            self.totals.setdefault(device, GpuTotals()).add(records.where(records.device == device))

    def seconds(self, ticks: int) -> float:
        """Ticks of CUPTI's clock as seconds: it counts nanoseconds, or ticks of the processor."""
        (begun_ticks, begun_ns), (ended_ticks, ended_ns) = self.switched_on, self.ended
        ticks_a_nanosecond = (ended_ticks - begun_ticks) / max(1, ended_ns - begun_ns)
        # A short time tells the rate badly, and most often it is exactly 1.
        return ticks / (1 if 0.98 < ticks_a_nanosecond < 1.02 else ticks_a_nanosecond) / 1e9


def _load_cupti() -> tuple[Cupti, ActivityBuffers]:
    from jupyter_mlgpu.measure.gpu.activity_buffers import ActivityBuffers
    from jupyter_mlgpu.measure.gpu.cupti import Cupti, find

    path = find()
    if path is None:
        raise OSError("the library libcupti was not found")
    return Cupti(path), ActivityBuffers()
