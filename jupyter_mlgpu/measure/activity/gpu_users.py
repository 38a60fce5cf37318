"""Who used the GPUs while a cell ran, as their driver tells it: that takes milliseconds to ask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from jupyter_mlgpu.measure.activity.external_readers import ExternalReaders

#: Seconds from the first look on after which it is asked who uses the GPUs; then each time as long after.
_ASK_AFTER = 0.1
#: The part of the time that a GPU worked, from which on it counts whose work it was.
_BUSY = 0.25


class GpuUse(NamedTuple):
    """By a GPU's label its busy share and the samples; and what other processes had, as in `Activity`."""

    gpus: Mapping[str, tuple[float, int]]
    others: float | None
    neighbours: int | None


class GpuUsers:
    """The questions of one cell: some while it runs, and what they leave open at its end."""

    def __init__(self, readers: ExternalReaders) -> None:
        self._readers = readers
        self._others: float | None = None
        self._ask_at = _ASK_AFTER

    def ask(self, elapsed: float, since: float) -> None:
        """Ask on the sampler's thread, `elapsed` seconds after `since`, where it is time to."""
        if elapsed >= self._ask_at:
            self._ask_at = 2 * elapsed
            told = self._readers.gpu_others(since)
            self._others = self._others if told is None else told

    def at_the_end(self, since: float, *, used: bool) -> GpuUse:
        """Ask for what is not known yet, on the cell's thread; `used`: the cell may have used a GPU."""
        gpus = self._readers.gpus(since) if used else {}
        neighbours: int | None = None
        if self._others is None and any(busy >= _BUSY for busy, _ in gpus.values()):
            self._others = self._readers.gpu_others(since)
            neighbours = self._readers.gpu_neighbours() if self._others is None else None
        return GpuUse(gpus, self._others, neighbours)
