"""GPU time for the recorder: begins with a cell, ends with it, and gives readings and what the GPUs did."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from jupyter_mlgpu.measure.gpu.cell_activity import CellActivity
from jupyter_mlgpu.measure.gpu.gpu_activity import GpuActivity
from jupyter_mlgpu.measure.gpu.kernel_names import name_at
from jupyter_mlgpu.measure.probes.sampler import Sampler
from jupyter_mlgpu.record.gpu_work import STILL_AT_WORK, CopySum, GpuFigures, GpuWork, KernelSum
from jupyter_mlgpu.record.reading import Reading, missing
from jupyter_mlgpu.record.redact import beginning
from jupyter_mlgpu.record.sentence import Sentence, say
from jupyter_mlgpu.record.strip import SHORTEST, DeviceLane, GpuLane

if TYPE_CHECKING:
    from jupyter_mlgpu.measure.gpu.gpu_totals import GpuTotals, Sum

#: Seconds between two reads of full buffers. At 400,000 launches a second all buffers are full after 0.7 s.
_EVERY = 0.1
#: After a read of this many full buffers, the next one comes after so many seconds.
_MANY, _SOON = 8, 0.02
#: Seconds between two questions for the records of cells that have ended, where somebody waits: the first
#: and the last. Where nobody does, the first comes later: the cell is answered before.
_ASK_FIRST, _ASK_LATER, _ASK_LAST = 0.001, 0.01, 0.05
#: Seconds of earlier cells' work from which on it is told of a GPU that was given none.
_EARLIER = 0.001
#: Kernels listed for each GPU: those that took most time.
_KERNELS = 5
#: Characters of a kernel's name; C++'s templates make thousands.
_NAME = 100

CLOCK_JUMPED = say("The GPU's clock went backwards in this cell, so its GPU time is not known.")
DETAIL = say("CUPTI activity records, union of kernels, copies and sets")


class GpuMeter:
    """Measures GPU time of cells; there is one in a process.

    `sampler` reads full buffers while cells run. CUDA is asked on a thread of its own, `asking`, for its
    driver may hang.
    """

    def __init__(
        self,
        activity: GpuActivity,
        sampler: Sampler,
        name_at: Callable[[int], str] = name_at,
        asking: Sampler | None = None,
    ) -> None:
        self._activity = activity
        self._sampler = sampler
        self.name_at = name_at
        self._asking = asking or Sampler()
        self._lock = threading.Lock()  # of what follows
        self._pause = _ASK_FIRST
        self._stop_asking: Callable[[], object] | None = None

    def cell_begins(self) -> CellGpu:
        """A cell that is about to begin."""
        return CellGpu(self, self._activity, self._activity.cell_begins())

    def stop(self) -> None:
        """Switch the records off, until the next cell."""
        self._activity.stop()

    def read_while_it_runs(self) -> Callable[[], object]:
        """Read full buffers from time to time; what is returned ends that."""
        return self._sampler.add(self._drain, _EVERY, after=_EVERY)

    def ask(self, *, soon: bool) -> None:
        """Ask for the records of cells that have ended, until they are complete."""
        with self._lock:
            self._pause = _ASK_FIRST if soon else _ASK_LATER
            before = self._stop_asking
            if before is None or soon:
                after = 0.0 if soon else _ASK_LATER
                self._stop_asking = self._asking.add(self._ask, self._pause, after=after)
                if before is not None:
                    before()

    def _drain(self) -> float | None:
        return _SOON if self._activity.drain() >= _MANY else None

    def _ask(self) -> float | None:
        self._activity.sample()
        with self._lock:
            stop = self._stop_asking
            if not self._activity.is_waited_for() and stop is not None:
                self._stop_asking = None
                stop()
            self._pause = min(2 * self._pause, _ASK_LAST)
            return self._pause


class CellGpu:
    """A cell under way. Where it is `recorded`, nobody needs to wait for what it launches."""

    def __init__(self, meter: GpuMeter, activity: GpuActivity, cell: CellActivity) -> None:
        self._meter = meter
        self._activity = activity
        self._cell = cell
        self._stop_reading: Callable[[], object] = lambda: None
        self.recorded = cell.why is None

    def starts(self) -> None:
        """The code comes next."""
        self._activity.starts(self._cell)
        if self._cell.why is None:
            self._stop_reading = self._meter.read_while_it_runs()

    def lanes_so_far(self) -> tuple[DeviceLane, ...]:
        """The lanes of the strip while the code runs, up to the last record that came."""
        cell = self._cell
        if cell.why is not None or cell.end is not None:
            return ()
        self._meter.ask(soon=False)
        now = self._activity.until_now(cell)
        with self._activity.adding:
            lanes = {device: self._lane_so_far(totals, now) for device, totals in cell.totals.items()}
        return tuple(
            DeviceLane(f"gpu:{one}", lane) for one, lane in sorted(lanes.items()) if lane is not None
        )

    def ends(self) -> None:
        """The code has ended; what it launched may go on."""
        self._activity.ends(self._cell)

    def wait(self) -> None:
        """Wait until the GPUs are done, whoever has given them work."""
        if self._cell.why is None:
            self._activity.wait()

    def abandon(self) -> None:
        """Stop without a result."""
        self._stop_reading()
        self._activity.abandon(self._cell)

    def finish(self) -> GpuFigures:
        """What the GPUs did, after their work was waited for."""
        self._stop_reading()
        self._activity.finish(self._cell)
        return self.figures()

    def finish_within(self, seconds: float) -> GpuFigures:
        """What the GPUs did; where they are still at work after so many seconds, that is what is said."""
        self._stop_reading()
        if not self._cell.done.is_set():
            self._meter.ask(soon=seconds > 0)
            self._cell.done.wait(seconds)
        return self.figures() if self._cell.done.is_set() else STILL_AT_WORK_FIGURES

    def when_done(self, tell: Callable[[GpuFigures], None]) -> None:
        """Tell what the GPUs did once they have done it, from whichever thread has seen it."""
        self._cell.when_done(lambda: tell(self.figures()))

    def figures(self) -> GpuFigures:
        """The busy time of each GPU that was in use, or why it is not known, and what they did."""
        cell = self._cell
        why = cell.why
        if why is None and cell.lost:
            why = say(
                "NVIDIA's library lost {count} records of this cell, so its GPU time is not known.",
                count=cell.lost,
            )
        if why is None and not cell.clock_went_on():
            why = CLOCK_JUMPED
        if why is not None:
            return _unknown(why)
        from jupyter_mlgpu.measure.gpu.gpu_totals import GpuTotals  # which needs NumPy

        readings, works = [], []
        last_end = max([cell.ended[0], *(totals.last_end for totals in cell.totals.values())])
        for device in sorted(cell.devices):
            totals = cell.totals.get(device) or GpuTotals()
            readings.append(_busy(cell, totals, f"gpu:{device}"))
            if totals.launches or cell.earlier(device) >= _EARLIER:
                works.append(self._work(device, totals, last_end))
        return GpuFigures(readings, tuple(works))

    def _work(self, device: int, totals: GpuTotals, last_end: int) -> GpuWork:
        seconds = self._cell.seconds
        longest = sorted(totals.kernels.items(), key=lambda one: -one[1].ticks)[:_KERNELS]
        return GpuWork(
            f"gpu:{device}",
            totals.launches,
            seconds(sum(one.ticks for one in totals.kernels.values())),
            tuple(
                CopySum(direction, one.count, one.bytes, seconds(one.ticks))
                for direction, one in sorted(totals.copies.items())
            ),
            tuple(self._kernel(address, one) for address, one in longest),
            self._cell.went_on(device),
            self._lane(totals, last_end, [address for address, _ in longest]),
            self._cell.earlier(device),
        )

    def _lane(self, totals: GpuTotals, last_end: int, listed: Sequence[int] = ()) -> GpuLane | None:
        """A GPU's lane of the strip; None where the cell was too short for one, or gave it no work."""
        from jupyter_mlgpu.measure.gpu.lanes import lane

        begun, seconds = self._cell.begun[0], self._cell.seconds
        if not totals.launches or seconds(last_end - begun) < SHORTEST:
            return None
        return lane(totals, begun, last_end, seconds, listed)

    def _lane_so_far(self, totals: GpuTotals, now: int) -> GpuLane | None:
        lane = self._lane(totals, now)
        if lane is None:
            return None
        from jupyter_mlgpu.measure.gpu.lanes import up_to_its_end

        begun = self._cell.begun[0]
        return up_to_its_end(lane, min(1.0, (totals.last_end - begun) / (now - begun)))

    def _kernel(self, address: int, one: Sum) -> KernelSum:
        name = beginning(self._meter.name_at(address), _NAME)
        return KernelSum(name, one.count, self._cell.seconds(one.ticks))


def _unknown(why: Sentence) -> GpuFigures:
    return GpuFigures([missing("device_time", why, scope="device")], ())


STILL_AT_WORK_FIGURES = _unknown(STILL_AT_WORK)


def _busy(cell: CellActivity, totals: GpuTotals, device: str) -> Reading:
    busy, late = cell.seconds(totals.all.length()), cell.seconds(totals.all.late)
    return Reading(
        "device_time",
        busy + late / 2,
        "s",
        "device",
        "CUPTI",
        totals.launches,
        device=device,
        detail=DETAIL,
        uncertainty=late / 2 if late else None,
    )
