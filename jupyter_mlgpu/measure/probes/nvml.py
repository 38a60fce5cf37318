# ruff: noqa: N802 - the names are NVML's own
"""NVIDIA's figures of its GPUs through NVML: memory, processes, utilization, power, temperature, clock, ...

NVML (NVIDIA Management Library) comes with the driver. `pynvml` of the package nvidia-ml-py calls it, and is
imported at the first query. Nothing here creates a CUDA context or raises: a figure that is not available
comes back as an `NvmlAnswer` with the reason.

NVML numbers all GPUs of the machine by PCI bus. A framework numbers those it may see, in an order of its own
(CUDA_VISIBLE_DEVICES, CUDA_DEVICE_ORDER): NVML's GPU 0 need not be the framework's `gpu:0`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from importlib import import_module
from itertools import pairwise
from typing import Any, Generic, Protocol, TypeVar, cast

from msgspec import Struct

from jupyter_mlgpu.record.sentence import Sentence, say

T = TypeVar("T")

#: Seconds that hold a whole sample of the utilization, wherever they begin (NVML's last 1/6 to 1 s).
_SAMPLE_S = 2.0

NOT_KNOWN = say("The reason is not known.")
NOT_INSTALLED = say("The package nvidia-ml-py, which queries NVIDIA's driver, is not installed.")


class NvmlLibrary(Protocol):
    """The functions used of `pynvml`, also in `jupyter_mlgpu.testing.FakeNvml`. All may raise NVMLError."""

    NVML_TEMPERATURE_GPU: int
    NVML_CLOCK_SM: int
    NVML_GPU_UTILIZATION_SAMPLES: int

    def nvmlInit(self) -> Any: ...
    def nvmlSystemGetDriverVersion(self) -> Any: ...
    def nvmlSystemGetCudaDriverVersion(self) -> Any: ...
    def nvmlDeviceGetCount(self) -> Any: ...
    def nvmlDeviceGetHandleByIndex(self, index: int) -> Any: ...
    def nvmlDeviceGetName(self, handle: Any) -> Any: ...
    def nvmlDeviceGetCudaComputeCapability(self, handle: Any) -> Any: ...
    def nvmlDeviceGetMigMode(self, handle: Any) -> Any: ...
    def nvmlDeviceGetMemoryInfo(self, handle: Any) -> Any: ...
    def nvmlDeviceGetComputeRunningProcesses(self, handle: Any) -> Any: ...
    def nvmlDeviceGetGraphicsRunningProcesses(self, handle: Any) -> Any: ...
    def nvmlDeviceGetUtilizationRates(self, handle: Any) -> Any: ...
    def nvmlDeviceGetProcessUtilization(self, handle: Any, since: int) -> Any: ...
    def nvmlDeviceGetSamples(self, handle: Any, kind: int, since: int) -> Any: ...
    def nvmlDeviceGetPowerUsage(self, handle: Any) -> Any: ...
    def nvmlDeviceGetTemperature(self, handle: Any, sensor: int) -> Any: ...
    def nvmlDeviceGetClockInfo(self, handle: Any, kind: int) -> Any: ...
    def nvmlDeviceGetTotalEnergyConsumption(self, handle: Any) -> Any: ...


class NvmlAnswer(Struct, Generic[T], frozen=True):
    """An answer of NVML: a value, or None with the reason as a sentence."""

    value: T | None
    why_missing: Sentence | None = None

    @property
    def reason(self) -> Sentence:
        """The reason for having no value."""
        return self.why_missing or NOT_KNOWN


class GpuMemory(Struct, frozen=True):
    """Memory of one GPU in bytes; `used` includes what the driver reserves. used + free is the total."""

    total: int
    used: int
    free: int


class GpuProcess(Struct, frozen=True):
    """A process that uses a GPU, with its bytes there, None if the platform reports none (WSL, MIG)."""

    pid: int
    used: int | None


class Nvml:
    """Queries NVML; GPUs are given by index. NVML is started at the first query, once per process."""

    def __init__(self, library: NvmlLibrary | None = None) -> None:
        self._library = library
        self._started: tuple[int, NvmlLibrary] | None = None

    def count(self) -> NvmlAnswer[int]:
        """Return the number of GPUs of the machine."""
        return self._ask(say("the number of GPUs"), lambda lib: int(lib.nvmlDeviceGetCount()))

    def driver(self) -> NvmlAnswer[str]:
        """Return the driver's version."""
        return self._ask(say("the driver's version"), lambda lib: _text(lib.nvmlSystemGetDriverVersion()))

    def cuda(self) -> NvmlAnswer[str]:
        """Return the newest CUDA version that the driver supports, such as `13.0`. NVML's number is 13000."""

        def read(lib: NvmlLibrary) -> str:
            number = int(lib.nvmlSystemGetCudaDriverVersion())
            return f"{number // 1000}.{number % 1000 // 10}"

        return self._ask(say("the newest CUDA version the driver supports"), read)

    def name(self, index: int) -> NvmlAnswer[str]:
        """Return the name, such as `NVIDIA H200`."""
        return self._of(index, say("the name"), lambda lib, gpu: _text(lib.nvmlDeviceGetName(gpu)))

    def compute_capability(self, index: int) -> NvmlAnswer[str]:
        """Return the compute capability that code must be compiled for, such as `9.0`."""

        def read(lib: NvmlLibrary, gpu: Any) -> str:
            major, minor = lib.nvmlDeviceGetCudaComputeCapability(gpu)
            return f"{major}.{minor}"

        return self._of(index, say("the compute capability"), read)

    def split(self, index: int) -> NvmlAnswer[bool]:
        """Return True if the GPU is split into instances (MIG), of which a framework sees one."""
        return self._of(index, say("the MIG mode"), lambda lib, gpu: bool(lib.nvmlDeviceGetMigMode(gpu)[0]))

    def memory(self, index: int) -> NvmlAnswer[GpuMemory]:
        """Return total, used and free memory."""

        def read(lib: NvmlLibrary, gpu: Any) -> GpuMemory:
            info = lib.nvmlDeviceGetMemoryInfo(gpu)
            return GpuMemory(int(info.total), int(info.used), int(info.free))

        return self._of(index, say("the memory"), read)

    def processes(self, index: int) -> NvmlAnswer[tuple[GpuProcess, ...]]:
        """Return the processes that compute or draw on the GPU, by process id, each once."""
        what = say("the processes")
        compute = self._of(index, what, _computing)
        if compute.value is None:
            return NvmlAnswer(None, compute.why_missing)
        # A GPU without a display may have no such list.
        drawing = self._of(
            index, what, lambda lib, gpu: _used(lib.nvmlDeviceGetGraphicsRunningProcesses(gpu))
        )
        # A process that does both is in both lists, with the same bytes.
        used = {**(drawing.value or {}), **compute.value}
        return NvmlAnswer(tuple(GpuProcess(pid, used[pid]) for pid in sorted(used)))

    def neighbours(self, index: int, pid: int) -> NvmlAnswer[int]:
        """Return how many processes may compute on the GPU besides the process `pid`.

        Has no value if `pid` is not listed: in a container, process ids differ.
        """

        def read(lib: NvmlLibrary, gpu: Any) -> int:
            computing = _computing(lib, gpu)
            if pid not in computing:
                raise LookupError(say("it does not list this process"))
            return len(computing) - 1

        return self._of(index, say("the processes"), read)

    def utilisation(self, index: int) -> NvmlAnswer[float]:
        """Return the part of the driver's last sampling period in which a kernel ran, 0 to 1."""
        return self._of(
            index, say("the utilization"), lambda lib, gpu: lib.nvmlDeviceGetUtilizationRates(gpu).gpu / 100
        )

    def busy(self, index: int, since: float) -> NvmlAnswer[tuple[float, int]]:
        """Return the part of the time since `since` (s, Unix) in which a kernel ran, and the sample count.

        The driver keeps samples of the last seconds, each of the time since the one before (a fifth of a
        second on an H100). A sample that began before `since` counts only if there is no other.
        """

        def read(lib: NvmlLibrary, gpu: Any) -> tuple[float, int]:
            earlier = int((since - _SAMPLE_S) * 1e6)
            _, samples = lib.nvmlDeviceGetSamples(gpu, lib.NVML_GPU_UTILIZATION_SAMPLES, earlier)
            samples_in_time = [(sample.timeStamp / 1e6, sample.sampleValue.uiVal / 100) for sample in samples]
            whole = [share for (begun, _), (_, share) in pairwise(samples_in_time) if begun >= since]
            shares = whole or [share for ended, share in samples_in_time if ended >= since]
            if not shares:
                raise LookupError(say("no sample falls within that time"))
            return sum(shares) / len(shares), len(shares)

        return self._of(index, say("the utilization"), read)

    def shared(self, index: int, since: float, pid: int) -> NvmlAnswer[float]:
        """Return the share of processes other than `pid` in the time since `since` used on the GPU.

        Has no value if `pid` is not listed: in a container, process ids differ.
        """

        def read(lib: NvmlLibrary, gpu: Any) -> float:
            used: dict[int, int] = {}
            for sample in lib.nvmlDeviceGetProcessUtilization(gpu, int(since * 1e6)):
                used[int(sample.pid)] = used.get(int(sample.pid), 0) + int(sample.smUtil)
            if pid not in used or not sum(used.values()):
                raise LookupError(say("it does not list this process"))
            return 1 - used[pid] / sum(used.values())

        return self._of(index, say("the utilization by process"), read)

    def power(self, index: int) -> NvmlAnswer[float]:
        """Return the power of the board now, in watts."""
        return self._of(index, say("the power"), lambda lib, gpu: lib.nvmlDeviceGetPowerUsage(gpu) / 1e3)

    def temperature(self, index: int) -> NvmlAnswer[int]:
        """Return the chip's temperature in degrees Celsius."""
        return self._of(
            index,
            say("the temperature"),
            lambda lib, gpu: int(lib.nvmlDeviceGetTemperature(gpu, lib.NVML_TEMPERATURE_GPU)),
        )

    def clock(self, index: int) -> NvmlAnswer[int]:
        """Return the current clock rate of the multiprocessors, in MHz."""
        return self._of(
            index,
            say("the clock rate"),
            lambda lib, gpu: int(lib.nvmlDeviceGetClockInfo(gpu, lib.NVML_CLOCK_SM)),
        )

    def energy(self, index: int) -> NvmlAnswer[float]:
        """Return the board's energy since the driver was loaded, in joules. GPUs before Volta have none."""
        return self._of(
            index, say("the energy"), lambda lib, gpu: lib.nvmlDeviceGetTotalEnergyConsumption(gpu) / 1e3
        )

    def _of(self, index: int, what: str, read: Callable[[NvmlLibrary, Any], T]) -> NvmlAnswer[T]:
        return self._ask(
            say("{what} of GPU {index}", what=what, index=index),
            lambda lib: read(lib, lib.nvmlDeviceGetHandleByIndex(index)),
        )

    def _ask(self, what: str, read: Callable[[NvmlLibrary], T]) -> NvmlAnswer[T]:
        try:
            library = self._start()
        except ImportError:
            return NvmlAnswer(None, NOT_INSTALLED)
        except Exception as error:  # no driver, or one that does not answer
            return NvmlAnswer(None, say("No NVIDIA driver responds here ({error}).", error=error))
        try:
            return NvmlAnswer(read(library))
        except Exception as error:
            return NvmlAnswer(None, say("NVML does not report {what} ({error}).", what=what, error=error))

    def _start(self) -> NvmlLibrary:
        # A forked child must start NVML again.
        if self._started is None or self._started[0] != os.getpid():
            library = self._library or cast(NvmlLibrary, import_module("pynvml"))
            library.nvmlInit()
            self._started = (os.getpid(), library)
        return self._started[1]


def _computing(lib: NvmlLibrary, gpu: Any) -> dict[int, int | None]:
    return _used(lib.nvmlDeviceGetComputeRunningProcesses(gpu))


def _used(processes: Iterable[Any]) -> dict[int, int | None]:
    """Return bytes by process id. A process may be listed several times: once per part of a split GPU."""
    used: dict[int, int | None] = {}
    for process in processes:
        pid, more = int(process.pid), process.usedGpuMemory
        before = used.get(pid, 0)
        used[pid] = None if more is None or before is None else before + int(more)
    return used


def _text(text: Any) -> str:
    return text.decode(errors="replace") if isinstance(text, bytes) else str(text)
