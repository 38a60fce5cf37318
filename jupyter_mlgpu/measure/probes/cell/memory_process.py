"""Memory of this process at the end of a cell."""

from __future__ import annotations

from collections.abc import Callable

from jupyter_mlgpu.measure.probes.base import Probe, ProbeInstruments
from jupyter_mlgpu.measure.probes.process_memory import process_memory
from jupyter_mlgpu.record.reading import OPERATING_SYSTEM, Reading, new_reading


def probe(_: ProbeInstruments) -> Probe:
    """Return the probe of the memory at a cell's end."""
    return MemoryInUse()


class MemoryInUse:
    """The memory of this process, in bytes, at the end of the cell."""

    quantity = "memory_process"

    def start(self) -> Callable[[], Reading]:
        """Begin. Returns a function that returns the reading."""
        return self._stop

    def _stop(self) -> Reading:
        value, detail = process_memory()
        return new_reading(self.quantity, value, "process", OPERATING_SYSTEM, 1, detail=detail)
