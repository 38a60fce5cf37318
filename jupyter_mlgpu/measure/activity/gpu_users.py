"""Use of the GPUs by other processes while a cell runs. To ask the driver takes milliseconds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from jupyter_mlgpu.measure.activity.external_readers import ExternalReaders

#: Seconds after the first sample at which the driver is asked first; then each time as long after.
_ASK_AFTER = 0.1
#: Busy share of a GPU from which on it matters whose work it was.
_BUSY = 0.25


class GpuUse(NamedTuple):
    """Busy share and sample count by a GPU's label, and the use by other processes as in `Activity`."""

    gpus: Mapping[str, tuple[float, int]]
    others: float | None
    neighbours: int | None


class GpuUsers:
    """Asks the driver a few times while a cell runs, and at its end for what is still unknown."""

    def __init__(self, readers: ExternalReaders) -> None:
        self._readers = readers
        self._others: float | None = None
        self._ask_at = _ASK_AFTER

    def ask(self, elapsed: float, since: float) -> None:
        """Ask on the sampler's thread, `elapsed` seconds after `since`, if it is due."""
        if elapsed >= self._ask_at:
            self._ask_at = 2 * elapsed
            share = self._readers.gpu_others(since)
            self._others = self._others if share is None else share

    def at_the_end(self, since: float, *, used: bool) -> GpuUse:
        """Ask on the cell's thread for what is still unknown; `used`: the cell may have used a GPU."""
        gpus = self._readers.gpus(since) if used else {}
        neighbours: int | None = None
        if self._others is None and any(busy >= _BUSY for busy, _ in gpus.values()):
            self._others = self._readers.gpu_others(since)
            neighbours = self._readers.gpu_neighbours() if self._others is None else None
        return GpuUse(gpus, self._others, neighbours)
