"""Public fakes, for testing what uses jupyter_mlgpu without a framework, a device or waiting."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from jupyter_mlgpu.backends.base import CAPABILITIES, Capability, Details, Device, Observed
from jupyter_mlgpu.backends.held import held, unknown
from jupyter_mlgpu.ops.events import Event, Profile
from jupyter_mlgpu.ops.profiler import Refused
from jupyter_mlgpu.record import QUANTITIES, Cell, DeviceUse, RanOn, Reading, Record, Run, missing


class FakeClock:
    """A clock that stands still until `advance` is called."""

    source = "fake clock"

    def __init__(self) -> None:
        self._now_ns = 1_000

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self._now_ns += round(seconds * 1e9)

    def monotonic_ns(self) -> int:
        """See `jupyter_mlgpu.clock.Clock`."""
        return self._now_ns

    def utc(self) -> str:
        """A fixed day; the time of day follows `advance`."""
        return f"2026-01-01T00:00:{self._now_ns // 1_000_000_000 % 60:02d}.000000Z"


class FakeProbe:
    """Gives a fixed value, or raises where told to."""

    def __init__(self, quantity: str, value: float | None, fail: Exception | None = None) -> None:
        self.quantity = quantity
        self._value = value
        self._fail = fail

    def start(self) -> Callable[[], Reading]:
        """See `jupyter_mlgpu.probes.base.Probe`."""

        def stop() -> Reading:
            if self._fail is not None:
                raise self._fail
            if self._value is None:
                return missing(self.quantity, "The fake probe measures nothing.")
            return Reading(self.quantity, self._value, QUANTITIES[self.quantity], "process", "fake probe", 1)

        return stop


class FakeBackend:
    """A framework with devices of your choice, on which nothing runs but what `run` says."""

    #: What `needs_restart` says; set it as you like.
    hidden: str | None = None

    def __init__(self, name: str = "fake", devices: tuple[str, ...] = ("cpu:0",)) -> None:
        self.name = name
        self.current: str | None = None
        self.waited = 0
        self.staying: dict[str, str] = {}
        self._devices = tuple(Device(name, one, one.partition(":")[0], f"fake {one}") for one in devices)
        self._ran: list[str] = []
        #: What the allocator holds on each device, in bytes; set it as you like.
        self.holds: dict[str, int] = {}

    def run(self, operations: int = 1, device: str | None = None) -> None:
        """Pretend that operations ran on the present device, or on the one given."""
        self._ran += [device or self.current or self._devices[0].name] * operations

    def loaded(self) -> bool:
        """See `jupyter_mlgpu.backends.base.Backend`."""
        return True

    def started(self) -> bool:
        """See `jupyter_mlgpu.backends.base.Backend`."""
        return True

    def versions(self) -> Mapping[str, str]:
        """See `jupyter_mlgpu.backends.base.Backend`."""
        return {self.name: "1.0"}

    def devices(self) -> tuple[Device, ...]:
        """See `jupyter_mlgpu.backends.base.Backend`."""
        return self._devices

    def find_devices(self) -> tuple[Device, ...]:
        """See `jupyter_mlgpu.backends.base.Backend`."""
        return self._devices

    def details(self, device: Device) -> Details:
        """See `jupyter_mlgpu.backends.base.Backend`."""
        return Details(f"fake {device.kind}")

    def why_no_gpu(self) -> str:
        """See `jupyter_mlgpu.backends.base.Backend`."""
        return "The fake has the devices it was given."

    def needs_restart(self) -> str | None:
        """What was put into `hidden`."""
        return self.hidden

    def capabilities(self, device: Device) -> tuple[Capability, ...]:
        """All but the allocator's peak: there is no memory."""
        return tuple(
            Capability(
                name, name != "allocator_peak", None if name != "allocator_peak" else "No memory.", None
            )
            for name in CAPABILITIES
        )

    def enter(self, device: Device) -> FakeScope:
        """See `jupyter_mlgpu.backends.base.Backend`."""
        return FakeScope(self, device.name)

    def synchronize(self) -> None:
        """Counts how often it was called, in `waited`."""
        self.waited += 1

    def memory(self, device: Device) -> tuple[Reading, ...]:
        """What `holds` says of the device."""
        if device.name not in self.holds:
            return unknown(f"The fake holds nothing on {device.name}.")
        return held(f"fake allocator of {device.name}", self.holds[device.name])

    def observe(self) -> FakeObservation:
        """See `jupyter_mlgpu.backends.base.Backend`."""
        return FakeObservation(self, len(self._ran))

    def stays(self, values: Mapping[str, object], device: Device) -> str | None:
        """Names of the values that `staying`, name to device, puts on another device."""
        found = [name for name in values if self.staying.get(name, device.name) != device.name]
        return f"{', '.join(found)} on {self.staying[found[0]]}, not on {device.name}." if found else None

    def ran_since(self, start: int) -> tuple[RanOn, ...]:
        """Where operations ran after the first `start` of them."""
        ran = self._ran[start:]
        kinds = {device.name: device.kind for device in self._devices}
        return tuple(
            RanOn(
                self.name,
                one,
                kinds.get(one, one),
                f"fake {one}",
                ran.count(one),
                ran.count(one) / len(ran),
                evidence="counted",
            )
            for one in sorted(set(ran), key=ran.count, reverse=True)
        )


class FakeScope:
    """See `jupyter_mlgpu.backends.base.Scope`."""

    def __init__(self, backend: FakeBackend, device: str) -> None:
        self._backend = backend
        self._device = device
        self._before = backend.current
        backend.current = device

    def holds(self) -> bool:
        """See `jupyter_mlgpu.backends.base.Scope`."""
        return self._backend.current == self._device

    def leave(self) -> str | None:
        """See `jupyter_mlgpu.backends.base.Scope`."""
        left_open = not self.holds()
        self._backend.current = self._before
        return "A device scope was left open." if left_open else None


class FakeObservation:
    """See `jupyter_mlgpu.backends.base.Observation`."""

    def __init__(self, backend: FakeBackend, start: int) -> None:
        self._backend = backend
        self._start = start

    def finish(self) -> Observed:
        """See `jupyter_mlgpu.backends.base.Observation`."""
        return Observed(self._backend.ran_since(self._start), None)


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
    #: Functions that raise, by the end of their names: `MemoryInfo`.
    fails: tuple[str, ...] = ()


class FakeNvml:
    """GPUs of your choice, as `pynvml` tells them; see `jupyter_mlgpu.probes.nvml.Library`."""

    NVML_TEMPERATURE_GPU = 0

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

    def _answer(self, asked: str, handle: Any = None, *_: Any) -> Any:
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
        return {
            "Name": handle.name,
            "UUID": f"GPU-{self.gpus.index(handle)}",
            "MigMode": [int(handle.mig), 0],
            "CudaComputeCapability": (9, 0),
            "MemoryInfo": SimpleNamespace(
                total=handle.total, used=handle.used, free=handle.total - handle.used
            ),
            "UtilizationRates": SimpleNamespace(gpu=25, memory=10),
            "PowerUsage": 150_000,
            "Temperature": 40,
            "TotalEnergyConsumption": 5_000_000,
        }[asked]


class FakeProfiler:
    """A profiler that sees the events it was given, refuses to start, or fails when it stops.

    `on` tells whether it is on, `shapes` whether it was asked for them.
    """

    def __init__(
        self,
        events: tuple[Event, ...] = (),
        *,
        framework: str = "fake",
        refused: Refused | None = None,
        fail: BaseException | None = None,
        whole: bool = True,
        left_out: int = 0,
    ) -> None:
        self.framework = framework
        self.on = False
        self.shapes = False
        self._profile = Profile(
            framework,
            "fake profiler",
            events,
            0,
            0,
            left_out,
            "the fake was told to" if left_out else None,
            whole=whole,
        )
        self._refused = refused
        self._fail = fail

    def start(self, shapes: bool = False) -> FakeSession | Refused:
        """See `jupyter_mlgpu.ops.profiler.Profiler`."""
        if self._refused is not None:
            return self._refused
        self.on = True
        self.shapes = shapes
        return FakeSession(self, self._profile, self._fail)


class FakeSession:
    """See `jupyter_mlgpu.ops.profiler.Session`."""

    def __init__(self, profiler: FakeProfiler, profile: Profile, fail: BaseException | None) -> None:
        self._profiler = profiler
        self._profile = profile
        self._fail = fail

    def stop(self) -> Profile:
        """See `jupyter_mlgpu.ops.profiler.Session`."""
        self._profiler.on = False
        if self._fail is not None:
            raise self._fail
        return self._profile

    def abandon(self) -> None:
        """See `jupyter_mlgpu.ops.profiler.Session`."""
        self._profiler.on = False


def example_record(sequence: int = 1, *, run: str = "0" * 32, name: str = "model.fit(x, y)") -> Record:
    """A complete record with plausible values, for tests of what shows records."""
    return Record(
        run=Run(run, "lesson.ipynb", "0" * 12),
        cell=Cell(sequence, f"cell-{sequence}", sequence, "0" * 16, name),
        started_at="2026-01-01T00:00:00.000000Z",
        started_monotonic_ns=1_000,
        outcome="ok",
        device=DeviceUse(
            "cpu:0",
            (
                RanOn(
                    "tensorflow",
                    "cpu:0",
                    "cpu",
                    "/job:localhost/replica:0/task:0/device:CPU:0",
                    120,
                    1.0,
                ),
            ),
        ),
        readings=(
            Reading("wall_time", 0.5, "s", "cell", "fake clock", 1),
            Reading("cpu_time", 0.9, "s", "process", "fake probe", 1),
            missing("device_time", "Light tracing runs without a profiler."),
            Reading("peak_memory_process", 512 * 1024**2, "bytes", "process", "fake probe", 1),
            missing("peak_memory_allocator", "TensorFlow keeps no allocator statistics for cpu:0."),
            missing("peak_memory_device", "Not measured here."),
            Reading("memory_process", 384 * 1024**2, "bytes", "process", "fake probe", 1),
            missing("memory_allocator", "TensorFlow keeps no allocator statistics for cpu:0."),
            missing("energy", "Not measured here."),
        ),
        versions={"python": "3.11", "tensorflow": "2.19.1"},
    )
