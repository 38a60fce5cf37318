"""What one GPU did between two moments, added up from its records as they come, in constant memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from jupyter_mlgpu.measure.gpu.activity_records import ActivityColumns
from jupyter_mlgpu.measure.gpu.cupti import KERNEL, PEER_COPY, SET

#: Copies' directions, by CUpti_ActivityMemcpyKind: A is an array (a texture), which lies on the device.
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
#: So many intervals are merged at a time, and so many are kept after that, 16 bytes each.
_MERGE_AT, _KEEP = 200_000, 400_000


@dataclass(slots=True)
class Sum:
    """How many there were, how long they took in ticks, and how many bytes they moved."""

    count: int = 0
    ticks: int = 0
    bytes: int = 0

    def add(self, count: int, ticks: int, moved: int = 0) -> None:
        """Add some more."""
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
        #: Ticks left out of `busy`, since their records came too late to know whether they overlap others.
        self.late = 0
        #: When the last of them ended.
        self.last_end = 0
        self._merged = np.empty((2, 0), np.int64)
        self._new: list[Any] = []
        self._count_new = 0
        self._closed_ticks, self._closed_until = 0, 0

    @property
    def launches(self) -> int:
        """How many kernels, copies and sets there were."""
        return self.sets.count + sum(one.count for one in [*self.kernels.values(), *self.copies.values()])

    def add(self, records: ActivityColumns) -> None:
        """Add records, all of them of this GPU."""
        start, end = records.start.astype(np.int64), records.end.astype(np.int64)
        ticks = end - start
        self.last_end = max(self.last_end, int(end.max()))
        if records.kind == KERNEL:
            names, which = np.unique(records.name, return_inverse=True)
            counts, sums = np.bincount(which), np.bincount(which, ticks)
            for name, count, total in zip(names.tolist(), counts.tolist(), sums.tolist(), strict=True):
                self.kernels.setdefault(name, Sum()).add(count, int(total))
        elif records.kind == SET:
            self.sets.add(len(ticks), int(ticks.sum()))
        else:
            kinds = np.full(len(ticks), _PEER) if records.kind == PEER_COPY else records.detail
            for kind in np.unique(kinds).tolist():
                those = kinds == kind
                moved = int(records.size[those].sum())
                direction = DIRECTIONS.get(kind, "of unknown direction")
                self.copies.setdefault(direction, Sum()).add(int(those.sum()), int(ticks[those].sum()), moved)
        self._new.append(np.stack([start, end]))
        self._count_new += len(start)
        if self._count_new >= _MERGE_AT:
            self._merge()

    def busy(self) -> int:
        """Ticks in which at least one kernel, copy or set ran."""
        self._merge()
        return self._closed_ticks + int((self._merged[1] - self._merged[0]).sum())

    def _merge(self) -> None:
        parts = np.concatenate([self._merged, *self._new], axis=1)
        self._new, self._count_new = [], 0
        before = parts[0] < self._closed_until
        if before.any():  # its time may have been counted: what is not known to be new is left out
            self.late += int((np.minimum(parts[1], self._closed_until) - parts[0])[before].sum())
            parts[0] = np.maximum(parts[0], self._closed_until)
        parts = parts[:, parts[1] > parts[0]]
        parts = parts[:, np.argsort(parts[0], kind="stable")]
        if parts.shape[1]:
            reach = np.maximum.accumulate(parts[1])
            begins = np.concatenate([[True], parts[0][1:] > reach[:-1]])
            ends = np.concatenate([begins[1:], [True]])
            parts = np.stack([parts[0][begins], reach[ends]])
        if parts.shape[1] > _KEEP:
            done, parts = parts[:, :-_KEEP], parts[:, -_KEEP:]
            self._closed_ticks += int((done[1] - done[0]).sum())
            self._closed_until = int(done[1][-1])
        self._merged = parts
