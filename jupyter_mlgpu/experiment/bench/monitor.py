"""The contract of a machine monitor: free memory, other programs, energy and sensors during a case."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from jupyter_mlgpu.experiment.bench.quantity import Quantity
from jupyter_mlgpu.measure.frameworks.base import Device


@dataclass(frozen=True, slots=True)
class SensorReadings:
    """The readings of a device at one moment: watts, degrees Celsius and MHz, each None with the reason."""

    power: Quantity
    temperature: Quantity
    clock: Quantity


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

    def sensors(self, device: Device) -> Callable[[], SensorReadings]:
        """Return a function that reads the device's power, temperature and clock now."""
        ...

    def peak_memory(self, device: Device) -> Callable[[], Quantity]:
        """Start watching. The returned function returns the peak memory, for frameworks that report none."""
        ...
