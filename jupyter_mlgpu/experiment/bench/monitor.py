"""What the driver asks of the machine around a case, as a contract: memory, other programs, energy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from jupyter_mlgpu.experiment.bench.quantity import Quantity
from jupyter_mlgpu.measure.frameworks.base import Device


class MachineMonitor(Protocol):
    """`machine.py` asks the real one; `jupyter_mlgpu.testing.bench.FakeMonitor` is a public fake."""

    def free_memory(self, device: Device) -> Quantity:
        """Bytes that a case may still use on a device."""
        ...

    def others(self, device: Device) -> Callable[[], tuple[str, ...]]:
        """Begin to look; what is returned ends it: other programs that used the device, in words each."""
        ...

    def energy(self, device: Device) -> Callable[[], Quantity]:
        """Begin to count; what is returned ends it, and gives the joules between."""
        ...

    def peak_memory(self, device: Device) -> Callable[[], Quantity]:
        """Begin to watch; what is returned ends it: the peak of memory where the framework has none."""
        ...
