"""What makes a kernel look like one on a Mac with MLX, before the extension is loaded in it."""

from __future__ import annotations

import os
from typing import Any

from jupyter_mlgpu.measure.gpu import meters
from jupyter_mlgpu.measure.gpu.client_meter import ClientMeter
from jupyter_mlgpu.measure.gpu.mac_clients import MacClients
from jupyter_mlgpu.testing.ioregistry import FakeRegistry
from tests.mlx_emulator.mac import Mac, install

#: Nanoseconds between two readings that are no work: a stream's thread also takes some when it is waited for.
LEAST_NS = 200_000


class Driver(FakeRegistry):
    """macOS's registry, in which the driver counts the GPU time of this process."""

    def __init__(self, mac: Mac) -> None:
        super().__init__()
        self._mac = mac
        self._counted = 0
        self._client = self.open(os.getpid())

    def read(self, entry: int, name: str) -> Any:
        """Return a property; that of the GPU time is counted up to now."""
        more = self._mac.nanoseconds() - self._counted
        self._counted += more
        if more > LEAST_NS:
            self.work(self._client, more / 1e9)
        return super().read(entry, name)


def emulate() -> Mac:
    """Install the emulated Mac, and a meter that reads its driver."""
    mac = install()
    driver = Driver(mac)
    meters.meter = lambda sampler: ClientMeter(MacClients(lambda: driver), sampler)
    return mac
