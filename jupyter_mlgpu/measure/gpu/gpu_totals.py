"""Totals of one GPU between two moments, added up from its records as they come, in constant memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jupyter_mlgpu.measure.gpu.activity_records import ActivityColumns
from jupyter_mlgpu.measure.gpu.cupti import KERNEL, PEER_COPY, SET
from jupyter_mlgpu.measure.gpu.intervals import Intervals
from jupyter_mlgpu.measure.gpu.kernel_bins import KernelBins

#: Copies' directions by CUpti_ActivityMemcpyKind. Its "A" stands for an array (a texture) on the device.
DIRECTIONS = {
    1: "host-to-device",
    2: "device-to-host",
    3: "host-to-device",
    4: "device-to-host",
    5: "device-to-device",
    6: "device-to-device",
    7: "device-to-device",
    8: "device-to-device",
    9: "host-to-host",
    10: "between GPUs",
}
_PEER = 10


@dataclass(slots=True)
class Sum:
    """A count, the time in ticks, and the bytes moved."""

    count: int = 0
    ticks: int = 0
    bytes: int = 0

    def add(self, count: int, ticks: int, moved: int = 0) -> None:
        """Add to the sums."""
        self.count += count
        self.ticks += ticks
        self.bytes += moved


class GpuTotals:
    """Sums over the records of one GPU; times are ticks of CUPTI's clock."""

    def __init__(self) -> None:
        #: Kernels by the address of their name, copies by direction, and sets.
        self.kernels: dict[int, Sum] = {}
        self.copies: dict[str, Sum] = {}
        self.sets = Sum()
        #: When the last record ended.
        self.last_end = 0
        #: The times in which anything ran, and in which a kernel or a set ran.
        self.all, self.but_copies = Intervals(), Intervals()
        #: The time of each kernel in bins.
        self.kernel_bins = KernelBins()

    @property
    def launches(self) -> int:
        """The number of kernels, copies and sets."""
        return self.sets.count + sum(total.count for total in [*self.kernels.values(), *self.copies.values()])

    def add(self, records: ActivityColumns) -> None:
        """Add records, all of this GPU."""
        start, end = records.start.astype(np.int64), records.end.astype(np.int64)
        ticks = end - start
        self.last_end = max(self.last_end, int(end.max()))
        if records.kind == KERNEL:
            names, which = np.unique(records.name, return_inverse=True)
            counts, sums = np.bincount(which), np.bincount(which, ticks)
            for name, count, total in zip(names.tolist(), counts.tolist(), sums.tolist(), strict=True):
                self.kernels.setdefault(name, Sum()).add(count, int(total))
            self.kernel_bins.add(names, which, start, end)
        elif records.kind == SET:
            self.sets.add(len(ticks), int(ticks.sum()))
        else:
            kinds = np.full(len(ticks), _PEER) if records.kind == PEER_COPY else records.detail
            for kind in np.unique(kinds).tolist():
                those = kinds == kind
                moved = int(records.size[those].sum())
                direction = DIRECTIONS.get(kind, "of unknown direction")
                self.copies.setdefault(direction, Sum()).add(int(those.sum()), int(ticks[those].sum()), moved)
        self.all.add(start, end)
        if records.kind in (KERNEL, SET):
            self.but_copies.add(start, end)
