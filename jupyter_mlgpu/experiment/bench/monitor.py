"""The contract of a machine monitor: free memory, other programs, and energy during a case."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from jupyter_mlgpu.experiment.bench.quantity import Quantity
from jupyter_mlgpu.measure.frameworks.base import Device


class MachineMonitor(Protocol):
    """`machine.py` monitors the real machine; `jupyter_mlgpu.testing.bench.FakeMonitor` is a public fake."""

    def free_memory(self, device: Device) -> Quantity:
        """Return the bytes that a case may still use on a device."""
        ...

    def others(self, device: Device) -> Callable[[], tuple[str, ...]]:
        """Start watching. The returned function ends it and returns other programs that used the device."""
        ...

    def energy(self, device: Device) -> Callable[[], Quantity]:
        """Start counting. The returned function ends it and returns the joules in between."""
        ...

    def peak_memory(self, device: Device) -> Callable[[], Quantity]:
        """Start watching. The returned function returns the peak memory, for frameworks that report none."""
        ...
