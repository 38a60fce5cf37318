"""Give PyTorch the emulated MPS device; `import torch` calls `load` through the entry point beside this file.

PyTorch's own Python for the device works as it is, because the library answers the questions behind it. What
a Mac's build has beyond that is added here. So is a Mac's count of GPU time, which `jupyter_mlgpu` reads.
"""

from __future__ import annotations

import ctypes
import os
from typing import Any

from jupyter_mlgpu.measure.gpu import meters
from jupyter_mlgpu.measure.gpu.client_meter import ClientMeter
from jupyter_mlgpu.measure.gpu.mac_clients import MacClients
from jupyter_mlgpu.testing.ioregistry import FakeRegistry

#: The variable that names the library; without it, PyTorch is left as it is.
VARIABLE = "MPS_EMULATOR_LIBRARY"

_library: ctypes.CDLL | None = None


def gpu_nanoseconds() -> int:
    """Return for how long the emulated device has worked so far; 0 before PyTorch was imported."""
    return 0 if _library is None else int(_library.mps_emulator_gpu_nanoseconds())


def load() -> None:
    """Load the device into the PyTorch that is being imported."""
    path = os.environ.get(VARIABLE)
    if path is None:
        return
    import torch

    global _library
    _library = ctypes.CDLL(path)
    _library.mps_emulator_gpu_nanoseconds.restype = ctypes.c_int64
    core: Any = torch._C
    core._has_mps = True
    core._mps_get_name = lambda: "Apple M0 (emulated)"
    core._mps_get_core_count = lambda: 8
    torch.UntypedStorage.__new__ = staticmethod(_new_storage)
    if not torch.backends.mps.is_available():
        raise RuntimeError("PyTorch was asked for its MPS device before the emulated one was loaded")
    registry = EmulatedRegistry()
    meters.meter = lambda sampler: ClientMeter(MacClients(lambda: registry), sampler)


def _new_storage(kind: Any, *arguments: Any, device: Any = None, **more: Any) -> Any:
    """Make a storage; only a build for a Mac makes one of this device, as loading and `deepcopy` ask for."""
    import torch

    if device is None or torch.device(device).type != "mps":
        return torch._C.StorageBase.__new__(kind, *arguments, device=device, **more)
    (size,) = arguments
    return torch.empty(size, dtype=torch.uint8, device=device).untyped_storage()


class EmulatedRegistry(FakeRegistry):
    """A Mac's registry, in which this process has the GPU time that the emulated device has counted."""

    def __init__(self) -> None:
        super().__init__()
        self._client: Any = None

    def services(self, name: str) -> list[int]:
        """Return the GPU; the process is its client once it has used it."""
        if self._client is None and gpu_nanoseconds():
            self._client = self.open(os.getpid())
        return super().services(name)

    def read(self, entry: int, name: str) -> Any:
        """Return a property, with the count of this moment."""
        if self._client is not None:
            usage = {"API": "Metal", "accumulatedGPUTime": gpu_nanoseconds()}
            self._client.properties["AppUsage"] = [usage]
        return super().read(entry, name)
