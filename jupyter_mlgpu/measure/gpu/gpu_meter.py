"""Measures GPU time for the recorder, from CUPTI's records: readings, and the GPUs' work."""

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

#: Seconds between two reads of full buffers. At 400,000 launches a second all buffers fill up in 0.7 s.
_EVERY = 0.1
#: After a read of this many full buffers, the next one comes after so many seconds.
_MANY, _SOON = 8, 0.02
#: Seconds between two requests for the records of ended cells, if a caller waits: the first and the longest
#: interval. If none waits, the first request comes later, after the cell's reply.
_ASK_FIRST, _ASK_LATER, _ASK_LAST = 0.001, 0.01, 0.05
#: Seconds of earlier cells' work from which on a GPU is listed that the cell gave no work.
_EARLIER = 0.001
#: Number of kernels listed for each GPU: those that took most time.
_KERNELS = 5
#: Longest name of a kernel, in characters; C++'s templates make thousands.
_NAME = 100

CLOCK_JUMPED = say("The GPU's clock went backwards in this cell, so its GPU time is not known.")
DETAIL = say("CUPTI activity records, union of kernels, copies and sets")


class GpuMeter:
    """Measures GPU time of cells. There is one in a process.

    `sampler` reads full buffers while cells run. CUDA is called on a thread of its own, `asking`, because its
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
        self._lock = threading.Lock()  # guards the next attributes
        self._pause = _ASK_FIRST
        self._stop_asking: Callable[[], object] | None = None

    def cell_begins(self) -> CellGpu:
        """Return the measurement of a cell that is about to begin."""
        return CellGpu(self, self._activity, self._activity.cell_begins())

    def stop(self) -> None:
        """Switch the records off, until the next cell."""
        self._activity.stop()

    def read_while_it_runs(self) -> Callable[[], object]:
        """Read full buffers at intervals. Returns a function that ends that."""
        return self._sampler.add(self._drain, _EVERY, after=_EVERY)

    def ask(self, *, soon: bool) -> None:
        """Request the records of ended cells until they are complete."""
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
    """The measurement of a cell. If it is `recorded`, its work need not be waited for."""

    def __init__(self, meter: GpuMeter, activity: GpuActivity, cell: CellActivity) -> None:
        self._meter = meter
        self._activity = activity
        self._cell = cell
        self._stop_reading: Callable[[], object] = lambda: None
        self.recorded = cell.why is None

    def starts(self) -> None:
        """Note that the code comes next."""
        self._activity.starts(self._cell)
        if self._cell.why is None:
            self._stop_reading = self._meter.read_while_it_runs()

    def lanes_so_far(self) -> tuple[DeviceLane, ...]:
        """Return the lanes of the strip while the code runs, up to the last record."""
        cell = self._cell
        if cell.why is not None or cell.end is not None:
            return ()
        self._meter.ask(soon=False)
        now = self._activity.until_now(cell)
        with self._activity.adding:
            lanes = {device: self._lane_so_far(totals, now) for device, totals in cell.totals.items()}
        return tuple(
            DeviceLane(f"gpu:{device}", lane) for device, lane in sorted(lanes.items()) if lane is not None
        )

    def ends(self) -> None:
        """Note that the code has ended. Its launches may go on."""
        self._activity.ends(self._cell)

    def wait(self) -> None:
        """Wait until the GPUs are done, whichever code has launched their work."""
        if self._cell.why is None:
            self._activity.wait()

    def abandon(self) -> None:
        """Stop without a result."""
        self._stop_reading()
        self._activity.abandon(self._cell)

    def finish(self) -> GpuFigures:
        """Return the GPUs' figures, after their work was waited for."""
        self._stop_reading()
        self._activity.finish(self._cell)
        return self.figures()

    def finish_within(self, seconds: float) -> GpuFigures:
        """Return the GPUs' figures. If they are still busy after `seconds`, the figures say so instead."""
        self._stop_reading()
        if not self._cell.done.is_set():
            self._meter.ask(soon=seconds > 0)
            self._cell.done.wait(seconds)
        return self.figures() if self._cell.done.is_set() else STILL_AT_WORK_FIGURES

    def when_done(self, tell: Callable[[GpuFigures], None]) -> None:
        """Call `tell` with the figures once the GPUs are done, on the thread that completes the cell."""
        self._cell.when_done(lambda: tell(self.figures()))

    def figures(self) -> GpuFigures:
        """Return the busy time of each GPU in use, or why it is unknown, and the GPUs' work."""
        cell = self._cell
        why = cell.why
        if why is None and cell.lost:
            why = say(
                "NVIDIA's library lost {count} records of this cell, so its GPU time is not known.",
                count=cell.lost,
            )
        if why is None and not cell.clock_is_monotonic():
            why = CLOCK_JUMPED
        if why is not None:
            return _unknown(why)
        from jupyter_mlgpu.measure.gpu.gpu_totals import GpuTotals  # needs NumPy

        readings, works = [], []
        last_end = max([cell.ended[0], *(totals.last_end for totals in cell.totals.values())])
        for device in sorted(cell.devices):
            totals = cell.totals.get(device) or GpuTotals()
            readings.append(_busy(cell, totals, f"gpu:{device}"))
            if totals.launches or cell.seconds_of_earlier_work(device) >= _EARLIER:
                works.append(self._work(device, totals, last_end))
        return GpuFigures(readings, tuple(works))

    def _work(self, device: int, totals: GpuTotals, last_end: int) -> GpuWork:
        seconds = self._cell.seconds
        longest = sorted(totals.kernels.items(), key=lambda entry: -entry[1].ticks)[:_KERNELS]
        return GpuWork(
            f"gpu:{device}",
            totals.launches,
            seconds(sum(total.ticks for total in totals.kernels.values())),
            tuple(
                CopySum(direction, total.count, total.bytes, seconds(total.ticks))
                for direction, total in sorted(totals.copies.items())
            ),
            tuple(self._kernel(address, total) for address, total in longest),
            self._cell.seconds_after_end(device),
            self._lane(totals, last_end, [address for address, _ in longest]),
            self._cell.seconds_of_earlier_work(device),
        )

    def _lane(self, totals: GpuTotals, last_end: int, listed: Sequence[int] = ()) -> GpuLane | None:
        """Return a GPU's lane of the strip, None if the cell was too short or gave it no work."""
        from jupyter_mlgpu.measure.gpu.lanes import lane

        begun, seconds = self._cell.begun[0], self._cell.seconds
        if not totals.launches or seconds(last_end - begun) < SHORTEST:
            return None
        return lane(totals, begun, last_end, seconds, listed)

    def _lane_so_far(self, totals: GpuTotals, now: int) -> GpuLane | None:
        lane = self._lane(totals, now)
        if lane is None:
            return None
        from jupyter_mlgpu.measure.gpu.lanes import known_part

        begun = self._cell.begun[0]
        return known_part(lane, min(1.0, (totals.last_end - begun) / (now - begun)))

    def _kernel(self, address: int, total: Sum) -> KernelSum:
        name = beginning(self._meter.name_at(address), _NAME)
        return KernelSum(name, total.count, self._cell.seconds(total.ticks))


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
