"""Moments that divide what was launched before from what was launched after, on every GPU.

CUPTI numbers launches: its correlation ids count up over all threads, streams, contexts and GPUs. So one mark
of our own has the id that divides. And buffers of records are returned in the order of their launches, and
only once all work in them has ended: when a mark's record is here, all work before it has ended.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jupyter_mlgpu.measure.gpu.activity_records import ActivityColumns

#: Correlation ids have 32 bits; those of which the difference is less than half of that are in order.
_IDS, _HALF = 0xFFFFFFFF, 0x80000000
#: Marks are numbered in 16 bits.
_NUMBERS = 0x10000


class Boundary:
    """One such moment; `ids` are those of its marks, by GPU, once their records are here."""

    def __init__(self, number: int, devices: Iterable[int]) -> None:
        self.number = number
        self.ids: dict[int, int] = {}
        #: GPUs whose mark's record is not here yet.
        self.waiting = set(devices)
        #: Whether the record of a later mark came, and its own never did: somebody else has taken it.
        self.lost = False

    def before(self, records: ActivityColumns, device: int) -> Any:
        """A column that is true for records of work launched before it; without a mark there: none."""
        ids = records.correlation.astype("int64")
        return ((self.ids[device] - ids) & _IDS) < _HALF if device in self.ids else ids < 0

    def after(self, records: ActivityColumns, device: int) -> Any:
        """A column that is true for records of work launched after it; without a mark there: all."""
        ids = records.correlation.astype("int64")
        return ((ids - self.ids[device]) & _IDS) < _HALF if device in self.ids else ids >= 0


class Boundaries:
    """Those of this process of which not all marks' records are here, the oldest first."""

    def __init__(self) -> None:
        self._number = 0
        self._waiting: dict[int, Boundary] = {}

    def announce(self, devices: Iterable[int]) -> Boundary:
        """One that is about to be put behind the work of these GPUs, with a number for its marks."""
        self._number = (self._number + 1) % _NUMBERS
        boundary = self._waiting[self._number] = Boundary(self._number, devices)
        return boundary

    def forget(self, boundary: Boundary) -> None:
        """Wait for it no longer."""
        self._waiting.pop(boundary.number, None)

    def saw(self, marks: Iterable[tuple[int, int, int]]) -> None:
        """The records of these marks are here: their number, GPU and correlation id, in any order."""
        placed = {number: place for place, number in enumerate(self._waiting)}
        ours = [one for one in marks if one[0] in placed]
        for number, device, correlation in sorted(ours, key=lambda one: placed[one[0]]):
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
