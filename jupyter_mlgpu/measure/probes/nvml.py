# ruff: noqa: N802 - the names are NVML's own
"""NVIDIA's own figures of its GPUs, through NVML: memory, processes, use, power, temperature, energy.

NVML (NVIDIA Management Library) comes with the driver; `pynvml` of the package nvidia-ml-py calls it, and is
imported when something is asked. Nothing here makes a CUDA context, and nothing raises: what cannot be told
comes back as `Told` with the reason.

NVML counts all GPUs of the machine, by PCI bus. A framework counts those it may see, in an order of its own
(CUDA_VISIBLE_DEVICES, CUDA_DEVICE_ORDER): NVML's GPU 0 need not be the framework's `gpu:0`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from typing import Any, Generic, Protocol, TypeVar, cast

from jupyter_mlgpu.record.sentence import Sentence, say

T = TypeVar("T")

#: Seconds that hold a whole sample of the GPU's use, wherever they begin (NVML's are of a sixth to one).
_SAMPLE_S = 2.0

NOT_KNOWN = say("The reason is not known.")
NOT_INSTALLED = say("The package nvidia-ml-py, which queries NVIDIA's driver, is not installed.")


class NvmlLibrary(Protocol):
    """What is used of `pynvml`; `jupyter_mlgpu.testing.FakeNvml` is another. All may raise NVMLError."""

    NVML_TEMPERATURE_GPU: int
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
    def nvmlDeviceGetTotalEnergyConsumption(self, handle: Any) -> Any: ...


@dataclass(frozen=True, slots=True)
class NvmlAnswer(Generic[T]):
    """What NVML said; None where it did not, with the reason as a sentence."""

    value: T | None
    why_missing: Sentence | None = None

    @property
    def reason(self) -> Sentence:
        """Why there is no value."""
        return self.why_missing or NOT_KNOWN


@dataclass(frozen=True, slots=True)
class GpuMemory:
    """Bytes of one GPU; `used` has in it what the driver keeps for itself: used and free are the total."""

    total: int
    used: int
    free: int


@dataclass(frozen=True, slots=True)
class GpuProcess:
    """A process that uses a GPU, and its bytes there: None where the platform does not tell (WSL, MIG)."""

    pid: int
    used: int | None


class Nvml:
    """All questions to NVML, of GPUs by their number. It is started at the first one, once a process."""

    def __init__(self, library: NvmlLibrary | None = None) -> None:
        self._given = library
        self._started: tuple[int, NvmlLibrary] | None = None

    def count(self) -> NvmlAnswer[int]:
        """How many GPUs the machine has."""
        return self._ask(say("the number of GPUs"), lambda lib: int(lib.nvmlDeviceGetCount()))

    def driver(self) -> NvmlAnswer[str]:
        """The driver's version."""
        return self._ask(say("the driver's version"), lambda lib: _text(lib.nvmlSystemGetDriverVersion()))

    def cuda(self) -> NvmlAnswer[str]:
        """The newest CUDA that the driver serves, such as `13.0`; NVML says 13000."""

        def read(lib: NvmlLibrary) -> str:
            number = int(lib.nvmlSystemGetCudaDriverVersion())
            return f"{number // 1000}.{number % 1000 // 10}"

        return self._ask(say("the newest CUDA version the driver supports"), read)

    def name(self, index: int) -> NvmlAnswer[str]:
        """Such as `NVIDIA H200`."""
        return self._of(index, say("the name"), lambda lib, gpu: _text(lib.nvmlDeviceGetName(gpu)))

    def compute_capability(self, index: int) -> NvmlAnswer[str]:
        """Such as `9.0`: what code must be made for to run on the GPU."""

        def read(lib: NvmlLibrary, gpu: Any) -> str:
            major, minor = lib.nvmlDeviceGetCudaComputeCapability(gpu)
            return f"{major}.{minor}"

        return self._of(index, say("the compute capability"), read)

    def split(self, index: int) -> NvmlAnswer[bool]:
        """Whether the GPU is split into instances (MIG), of which a framework sees one."""
        return self._of(index, say("the MIG mode"), lambda lib, gpu: bool(lib.nvmlDeviceGetMigMode(gpu)[0]))

    def memory(self, index: int) -> NvmlAnswer[GpuMemory]:
        """Total, used and free memory."""

        def read(lib: NvmlLibrary, gpu: Any) -> GpuMemory:
            info = lib.nvmlDeviceGetMemoryInfo(gpu)
            return GpuMemory(int(info.total), int(info.used), int(info.free))

        return self._of(index, say("the memory"), read)

    def processes(self, index: int) -> NvmlAnswer[tuple[GpuProcess, ...]]:
        """The processes that compute or draw on the GPU, by process id; each is told once."""
        what = say("the processes")
        compute = self._of(index, what, _computing)
        if compute.value is None:
            return NvmlAnswer(None, compute.why_missing)
        # A GPU without a display may have no such list.
        drawn = self._of(index, what, lambda lib, gpu: _used(lib.nvmlDeviceGetGraphicsRunningProcesses(gpu)))
        # One that does both stands in both lists, with the same bytes.
        used = {**(drawn.value or {}), **compute.value}
        return NvmlAnswer(tuple(GpuProcess(pid, used[pid]) for pid in sorted(used)))

    def neighbours(self, index: int, pid: int) -> NvmlAnswer[int]:
        """How many processes may compute on the GPU besides the process `pid`.

        Not told where that process is none of them: in a container they have other numbers.
        """

        def read(lib: NvmlLibrary, gpu: Any) -> int:
            there = _computing(lib, gpu)
            if pid not in there:
                raise LookupError(say("it does not list this process"))
            return len(there) - 1

        return self._of(index, say("the processes"), read)

    def utilisation(self, index: int) -> NvmlAnswer[float]:
        """The part of the driver's last sampling period in which a kernel ran, 0 to 1."""
        return self._of(
            index, say("the utilization"), lambda lib, gpu: lib.nvmlDeviceGetUtilizationRates(gpu).gpu / 100
        )

    def busy(self, index: int, since: float) -> NvmlAnswer[tuple[float, int]]:
        """The part of the time since `since` (seconds since 1970) in which a kernel ran, and the samples.

        The driver keeps its last samples, some seconds of them, each of the time since the one before (a
        fifth of a second on an H100). One that began before `since` counts only where there is no other.
        """

        def read(lib: NvmlLibrary, gpu: Any) -> tuple[float, int]:
            earlier = int((since - _SAMPLE_S) * 1e6)
            _, samples = lib.nvmlDeviceGetSamples(gpu, lib.NVML_GPU_UTILIZATION_SAMPLES, earlier)
            told = [(one.timeStamp / 1e6, one.sampleValue.uiVal / 100) for one in samples]
            whole = [share for (begun, _), (_, share) in pairwise(told) if begun >= since]
            shares = whole or [share for ended, share in told if ended >= since]
            if not shares:
                raise LookupError(say("no sample falls within that time"))
            return sum(shares) / len(shares), len(shares)

        return self._of(index, say("the utilization"), read)

    def shared(self, index: int, since: float, pid: int) -> NvmlAnswer[float]:
        """Of the time since `since` that processes had on the GPU, the part of all but the process `pid`.

        Not told where that process is none of them: in a container they have other numbers.
        """

        def read(lib: NvmlLibrary, gpu: Any) -> float:
            used: dict[int, int] = {}
            for one in lib.nvmlDeviceGetProcessUtilization(gpu, int(since * 1e6)):
                used[int(one.pid)] = used.get(int(one.pid), 0) + int(one.smUtil)
            if pid not in used or not sum(used.values()):
                raise LookupError(say("it does not list this process"))
            return 1 - used[pid] / sum(used.values())

        return self._of(index, say("the utilization by process"), read)

    def power(self, index: int) -> NvmlAnswer[float]:
        """What the board draws now, in watts."""
        return self._of(index, say("the power"), lambda lib, gpu: lib.nvmlDeviceGetPowerUsage(gpu) / 1e3)

    def temperature(self, index: int) -> NvmlAnswer[int]:
        """Of the chip, in degrees Celsius."""
        return self._of(
            index,
            say("the temperature"),
            lambda lib, gpu: int(lib.nvmlDeviceGetTemperature(gpu, lib.NVML_TEMPERATURE_GPU)),
        )

    def energy(self, index: int) -> NvmlAnswer[float]:
        """What the board has used since the driver was loaded, in joules; before Volta it is not told."""
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
        # A forked child has to start NVML again.
        if self._started is None or self._started[0] != os.getpid():
            library = self._given or cast(NvmlLibrary, import_module("pynvml"))
            library.nvmlInit()
            self._started = (os.getpid(), library)
        return self._started[1]


def _computing(lib: NvmlLibrary, gpu: Any) -> dict[int, int | None]:
    return _used(lib.nvmlDeviceGetComputeRunningProcesses(gpu))


def _used(listed: Iterable[Any]) -> dict[int, int | None]:
    """Bytes by process id; one process may stand there several times, once for each part of a split GPU."""
    used: dict[int, int | None] = {}
    for one in listed:
        pid, more = int(one.pid), one.usedGpuMemory
        before = used.get(pid, 0)
        used[pid] = None if more is None or before is None else before + int(more)
    return used


def _text(said: Any) -> str:
    return said.decode(errors="replace") if isinstance(said, bytes) else str(said)
