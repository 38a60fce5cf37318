"""Boundaries between what was launched before a moment and what was launched after it, on every GPU.

CUPTI numbers launches: its correlation ids count up over all threads, streams, contexts and GPUs. So the id
of one mark of our own divides them. Buffers of records are returned in the order of launches, and only once
all work in them has ended. So when a mark's record arrives, all work before the mark has ended.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jupyter_mlgpu.measure.gpu.activity_records import ActivityColumns

#: Correlation ids have 32 bits. Two ids are in order if their difference is less than half of that range.
_IDS, _HALF = 0xFFFFFFFF, 0x80000000
#: Marks have numbers of 16 bits.
_NUMBERS = 0x10000


class Boundary:
    """One boundary; `ids` are the correlation ids of its marks by GPU, once their records have arrived."""

    def __init__(self, number: int, devices: Iterable[int]) -> None:
        self.number = number
        self.ids: dict[int, int] = {}
        #: GPUs whose mark's record has not arrived yet.
        self.waiting = set(devices)
        #: True if a later mark's record arrived without this one's: another profiler has taken it.
        self.lost = False

    def before(self, records: ActivityColumns, device: int) -> Any:
        """Return a column that is true for records launched before it; all false without a mark."""
        ids = records.correlation.astype("int64")
        return ((self.ids[device] - ids) & _IDS) < _HALF if device in self.ids else ids < 0

    def after(self, records: ActivityColumns, device: int) -> Any:
        """Return a column that is true for records launched after it; all true without a mark."""
        ids = records.correlation.astype("int64")
        return ((ids - self.ids[device]) & _IDS) < _HALF if device in self.ids else ids >= 0


class Boundaries:
    """The boundaries of this process that wait for records of their marks, the oldest first."""

    def __init__(self) -> None:
        self._number = 0
        self._waiting: dict[int, Boundary] = {}

    def announce(self, devices: Iterable[int]) -> Boundary:
        """Return a new boundary, with a number for the marks that will follow the work of these GPUs."""
        self._number = (self._number + 1) % _NUMBERS
        boundary = self._waiting[self._number] = Boundary(self._number, devices)
        return boundary

    def forget(self, boundary: Boundary) -> None:
        """Stop waiting for a boundary."""
        self._waiting.pop(boundary.number, None)

    def receive(self, marks: Iterable[tuple[int, int, int]]) -> None:
        """Take the records of marks: number, GPU and correlation id of each, in any order."""
        positions = {number: position for position, number in enumerate(self._waiting)}
        ours = [mark for mark in marks if mark[0] in positions]
        for number, device, correlation in sorted(ours, key=lambda mark: positions[mark[0]]):
            boundary = self._waiting.get(number)
            if boundary is None or device not in boundary.waiting:
                continue
            for older in list(self._waiting.values()):
                if older is boundary:
                    break
                if device in older.waiting:
                    older.lost = True
                    del self._waiting[older.number]
            boundary.ids[device] = correlation
            boundary.waiting.discard(device)
            if not boundary.waiting:
                del self._waiting[number]
