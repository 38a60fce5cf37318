"""GPU time for the recorder: begins with a cell, ends with it, and gives readings and what the GPUs did."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from jupyter_mlgpu.measure.gpu.gpu_activity import CellActivity, GpuActivity
from jupyter_mlgpu.measure.gpu.kernel_names import name_at
from jupyter_mlgpu.measure.probes.sampler import Sampler
from jupyter_mlgpu.record.gpu_work import CopySum, GpuWork, KernelSum
from jupyter_mlgpu.record.reading import Reading, missing
from jupyter_mlgpu.record.redact import beginning
from jupyter_mlgpu.record.sentence import say

if TYPE_CHECKING:
    from jupyter_mlgpu.measure.gpu.gpu_totals import GpuTotals, Sum

#: Seconds between two reads of full buffers. At 400,000 launches a second all buffers are full after 0.7 s.
_EVERY = 0.1
#: After a read of this many full buffers, the next one comes after so many seconds.
_MANY, _SOON = 8, 0.02
#: Kernels listed for each GPU: those that took most time.
_KERNELS = 5
#: Characters of a kernel's name; C++'s templates make thousands.
_NAME = 100

DETAIL = say("CUPTI activity records, union of kernels, copies and sets")


class GpuMeter:
    """Measures GPU time of cells; there is one in a process."""

    def __init__(
        self, activity: GpuActivity, sampler: Sampler, name_at: Callable[[int], str] = name_at
    ) -> None:
        self._activity = activity
        self._sampler = sampler
        self._name_at = name_at

    def cell_begins(self) -> CellGpu:
        """Begin a cell, whose work before is waited for already."""
        cell = self._activity.cell_begins()
        stop = self._sampler.add(self._look, _EVERY, after=_EVERY) if cell.why is None else lambda: None
        return CellGpu(cell, stop, self._name_at)

    def stop(self) -> None:
        """Switch the records off, until the next cell."""
        self._activity.stop()

    def _look(self) -> float | None:
        return _SOON if self._activity.drain() >= _MANY else None


class CellGpu:
    """A cell under way."""

    def __init__(self, cell: CellActivity, stop: Callable[[], object], name_at: Callable[[int], str]) -> None:
        self._cell = cell
        self._stop = stop
        self._name_at = name_at

    def abandon(self) -> None:
        """Stop without a result."""
        self._stop()
        self._cell.abandon()

    def wait(self) -> None:
        """Wait until the GPUs are done, whoever has given them work."""
        self._cell.wait()

    def finish(self) -> tuple[Sequence[Reading], tuple[GpuWork, ...]]:
        """The busy time of each GPU that worked, or why it is not known, and what they did."""
        self._stop()
        self._cell.finish()
        cell = self._cell
        why = cell.why
        if why is None and cell.lost:
            why = say(
                "NVIDIA's library lost {count} records of this cell, so its GPU time is not known.",
                count=cell.lost,
            )
        if why is not None:
            return [missing("device_time", why, scope="device")], ()
        from jupyter_mlgpu.measure.gpu.gpu_totals import GpuTotals  # which needs NumPy

        readings, works = [], []
        for device in sorted(cell.marked | cell.totals.keys()):
            totals = cell.totals.get(device) or GpuTotals()
            readings.append(_busy(cell, totals, f"gpu:{device}"))
            if totals.launches:
                works.append(self._work(cell, totals, f"gpu:{device}"))
        return readings, tuple(works)

    def _work(self, cell: CellActivity, totals: GpuTotals, device: str) -> GpuWork:
        longest = sorted(totals.kernels.items(), key=lambda one: -one[1].ticks)[:_KERNELS]
        return GpuWork(
            device,
            totals.launches,
            cell.seconds(sum(one.ticks for one in totals.kernels.values())),
            tuple(
                CopySum(direction, one.count, one.bytes, cell.seconds(one.ticks))
                for direction, one in sorted(totals.copies.items())
            ),
            tuple(self._kernel(cell, address, one) for address, one in longest),
        )

    def _kernel(self, cell: CellActivity, address: int, one: Sum) -> KernelSum:
        return KernelSum(beginning(self._name_at(address), _NAME), one.count, cell.seconds(one.ticks))


def _busy(cell: CellActivity, totals: GpuTotals, device: str) -> Reading:
    busy, late = cell.seconds(totals.busy()), cell.seconds(totals.late)
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
