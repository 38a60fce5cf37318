"""A fake of NVIDIA's library NVML, with GPUs of your choice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any


class FakeNvmlError(Exception):
    """The exception that `FakeNvml` raises."""


@dataclass
class FakeGpu:
    """A GPU of `FakeNvml`: bytes, and the bytes of processes by their ids (None: not reported)."""

    name: str = "Fake GPU"
    total: int = 80 * 1024**3
    used: int = 2 * 1024**3
    compute: dict[int, int | None] = field(default_factory=dict)
    graphics: dict[int, int | None] = field(default_factory=dict)
    mig: bool = False
    #: The percentage of time in which a kernel runs.
    busy: int = 25
    #: Functions that raise, by the end of their names: `MemoryInfo`.
    fails: tuple[str, ...] = ()


class FakeNvml:
    """GPUs of your choice with the functions of `jupyter_mlgpu.measure.probes.nvml.NvmlLibrary`."""

    NVML_TEMPERATURE_GPU = 0
    NVML_GPU_UTILIZATION_SAMPLES = 1
    NVML_CLOCK_SM = 1

    def __init__(self, *gpus: FakeGpu, driver: bool = True) -> None:
        self.gpus = gpus
        self.started = 0
        self._driver = driver

    def nvmlInit(self) -> None:  # noqa: N802
        """Count the calls in `started`. Raises without a driver."""
        if not self._driver:
            raise FakeNvmlError("NVML Shared Library Not Found")
        self.started += 1

    def __getattr__(self, name: str) -> Callable[..., Any]:
        query = name.removeprefix("nvmlSystemGet").removeprefix("nvmlDeviceGet")
        if query == name:
            raise AttributeError(name)
        return lambda *arguments: self._answer(query, *arguments)

    def _answer(self, query: str, handle: Any = None, *more: Any) -> Any:
        if query == "Count":
            return len(self.gpus)
        if query == "DriverVersion":
            return "580.1"
        if query == "CudaDriverVersion":
            return 13_000
        if query == "HandleByIndex":
            return self.gpus[handle]
        if query in handle.fails:
            raise FakeNvmlError("Not Supported")
        processes = {"ComputeRunningProcesses": handle.compute, "GraphicsRunningProcesses": handle.graphics}
        if query in processes:
            return [SimpleNamespace(pid=pid, usedGpuMemory=used) for pid, used in processes[query].items()]
        if query == "ProcessUtilization":
            return [SimpleNamespace(pid=pid, smUtil=handle.busy) for pid in handle.compute]
        if query == "Samples":  # two a second, for three seconds from the requested time on
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
            "ClockInfo": 1_980,
            "TotalEnergyConsumption": 5_000_000,
        }[query]
