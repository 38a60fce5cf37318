"""NVIDIA's library, with GPUs of your choice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any


class FakeNvmlError(Exception):
    """What `FakeNvml` raises where it is told to."""


@dataclass
class FakeGpu:
    """A GPU of `FakeNvml`: bytes, and the bytes of processes by their ids (None: not told)."""

    name: str = "Fake GPU"
    total: int = 80 * 1024**3
    used: int = 2 * 1024**3
    compute: dict[int, int | None] = field(default_factory=dict)
    graphics: dict[int, int | None] = field(default_factory=dict)
    mig: bool = False
    #: Per cent of the time in which a kernel runs.
    busy: int = 25
    #: Functions that raise, by the end of their names: `MemoryInfo`.
    fails: tuple[str, ...] = ()


class FakeNvml:
    """GPUs of your choice, as `pynvml` tells them; see `jupyter_mlgpu.measure.probes.nvml.NvmlLibrary`."""

    NVML_TEMPERATURE_GPU = 0
    NVML_GPU_UTILIZATION_SAMPLES = 1

    def __init__(self, *gpus: FakeGpu, driver: bool = True) -> None:
        self.gpus = gpus
        self.started = 0
        self._driver = driver

    def nvmlInit(self) -> None:  # noqa: N802
        """Counts in `started`; raises without a driver."""
        if not self._driver:
            raise FakeNvmlError("NVML Shared Library Not Found")
        self.started += 1

    def __getattr__(self, name: str) -> Callable[..., Any]:
        asked = name.removeprefix("nvmlSystemGet").removeprefix("nvmlDeviceGet")
        if asked == name:
            raise AttributeError(name)
        return lambda *arguments: self._answer(asked, *arguments)

    def _answer(self, asked: str, handle: Any = None, *more: Any) -> Any:
        if asked == "Count":
            return len(self.gpus)
        if asked == "DriverVersion":
            return "580.1"
        if asked == "CudaDriverVersion":
            return 13_000
        if asked == "HandleByIndex":
            return self.gpus[handle]
        if asked in handle.fails:
            raise FakeNvmlError("Not Supported")
        listed = {"ComputeRunningProcesses": handle.compute, "GraphicsRunningProcesses": handle.graphics}
        if asked in listed:
            return [SimpleNamespace(pid=pid, usedGpuMemory=used) for pid, used in listed[asked].items()]
        if asked == "ProcessUtilization":
            return [SimpleNamespace(pid=pid, smUtil=handle.busy) for pid in handle.compute]
        if asked == "Samples":  # two a second, for three seconds from the moment that is asked for on
            return 1, [
                SimpleNamespace(timeStamp=more[1] + at, sampleValue=SimpleNamespace(uiVal=handle.busy))
                for at in range(0, 3_000_001, 500_000)
            ]
        return {
            "Name": handle.name,
            "MigMode": [int(handle.mig), 0],
            "CudaComputeCapability": (9, 0),
            "MemoryInfo": SimpleNamespace(
                total=handle.total, used=handle.used, free=handle.total - handle.used
            ),
            "UtilizationRates": SimpleNamespace(gpu=handle.busy, memory=10),
            "PowerUsage": 150_000,
            "Temperature": 40,
            "TotalEnergyConsumption": 5_000_000,
        }[asked]
