"""Memory of this process when a cell has ended."""

from __future__ import annotations

from collections.abc import Callable

from jupyter_mlgpu.measure.probes.base import Probe, ProbeInstruments
from jupyter_mlgpu.measure.probes.resident_set import resident_set
from jupyter_mlgpu.record.reading import OPERATING_SYSTEM, Reading, new_reading


def probe(_: ProbeInstruments) -> Probe:
    """The probe for a cell's record."""
    return MemoryInUse()


class MemoryInUse:
    """The resident set, in bytes, when the cell has ended; what it was before is an earlier cell's figure."""

    quantity = "memory_process"

    def start(self) -> Callable[[], Reading]:
        """Begin; what is returned gives the reading when it is called."""
        return self._stop

    def _stop(self) -> Reading:
        value, detail = resident_set()
        return new_reading(self.quantity, value, "process", OPERATING_SYSTEM, 1, detail=detail)
