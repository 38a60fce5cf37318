"""What makes a kernel look like one on a Mac with MLX, before the extension is loaded in it.

from tests.mlx_emulator.kernel import emulate; emulate()
"""

from __future__ import annotations

import os

from jupyter_mlgpu.measure.gpu import meters
from jupyter_mlgpu.measure.gpu.client_meter import ClientMeter
from jupyter_mlgpu.measure.gpu.mac_clients import MacClients
from jupyter_mlgpu.testing.ioregistry import FakeEntry, FakeRegistry
from tests.mlx_emulator.mac import Mac, install


def emulate() -> Mac:
    """Install the emulated Mac, with a driver that counts the GPU time of this process."""
    registry = FakeRegistry()
    clients: list[FakeEntry] = []

    def work(seconds: float) -> None:
        if not clients:
            clients.append(registry.open(os.getpid()))
        registry.work(clients[0], seconds)

    meters.meter = lambda sampler: ClientMeter(MacClients(lambda: registry), sampler)
    return install(work)
