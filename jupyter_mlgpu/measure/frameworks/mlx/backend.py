"""MLX on CPU, Metal and CUDA.

Run on Linux CPUs. Where else, `FRAMEWORK` says. MLX is lazy: an expression is worked out when its value is
first needed. What a cell leaves unevaluated falls into a later cell, and each record says so.

The device of a cell is MLX's default device. Whether other threads see it depends on MLX's version.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from typing import Any

from jupyter_mlgpu.measure.frameworks import hardware
from jupyter_mlgpu.measure.frameworks.allocator import held, peak
from jupyter_mlgpu.measure.frameworks.base import (
    Backend,
    Capability,
    Details,
    Device,
    Observation,
    Observed,
    Scope,
)
from jupyter_mlgpu.measure.frameworks.evidence import may_have_run, only_device
from jupyter_mlgpu.measure.frameworks.imports import imported, module
from jupyter_mlgpu.measure.frameworks.mlx import FRAMEWORK
from jupyter_mlgpu.measure.frameworks.peaks import Peaks
from jupyter_mlgpu.measure.frameworks.users_peaks import UsersPeaks, users_peaks
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.sentence import Sentence, joined, say

NOT_WATCHED = say("MLX does not report where its operations ran.")
LAZY = say("Work that this cell left unevaluated (`mx.eval`) counts toward a later cell.")


class MlxBackend(Backend):
    """MLX's devices, as the kit asks of them."""

    name = FRAMEWORK.name

    def __init__(self) -> None:
        self._peaks: Peaks | None = None

    def loaded(self) -> bool:
        """Whether `import mlx.core` has finished; `mlx` itself is an empty folder of packages."""
        return imported("mlx.core")

    def versions(self) -> Mapping[str, str]:
        """MLX's version."""
        return {"mlx": str(_mx().__version__)}

    def devices(self) -> tuple[Device, ...]:
        """The CPU, and the GPUs that MLX counts."""
        mx = _mx()
        gpu = "metal" if mx.metal.is_available() else "cuda"
        return tuple(
            Device(self.name, f"{short}:{number}", kind, str(mx.Device(type_, number)))
            for short, kind, type_ in (("cpu", "cpu", mx.cpu), ("gpu", gpu, mx.gpu))
            for number in range(mx.device_count(type_))
        )

    def details(self, device: Device) -> Details:
        """Name and memory as MLX tells them, else as the machine does."""
        if device.kind == "cpu":
            return hardware.cpu()
        told = _mx().device_info(native(device))
        memory = told.get("total_memory", told.get("memory_size"))
        name = told.get("device_name")
        driver = hardware.nvidia(device.name).driver if device.kind == "cuda" else None
        return Details(name and str(name), memory and int(memory), driver)

    def why_no_gpu(self) -> Sentence:
        """Metal is part of MLX on a Mac; CUDA comes with a package of its own."""
        version = _mx().__version__
        if sys.platform == "darwin":
            return say("MLX {version} finds no Metal device here.", version=version)
        if _installed_for_cuda():
            return say(
                "MLX {version} is installed for CUDA but finds no GPU it can use here.", version=version
            )
        return say("MLX {version} is installed for CPUs only.", version=version)

    def capabilities(self, device: Device) -> tuple[Capability, ...]:
        """Operations are not watched; what is evaluated is waited for."""
        return FRAMEWORK.capabilities(device.kind, {"placement": NOT_WATCHED})

    def enter(self, device: Device) -> MlxScope:
        """Make `device` MLX's default device."""
        return MlxScope(native(device))

    def synchronize(self) -> None:
        """Wait for what is being worked out on every device; what nobody asked for yet stays undone."""
        mx = _mx()
        for device in self.devices():
            mx.synchronize(native(device))

    def memory(self, device: Device) -> tuple[Reading, ...]:
        """What arrays hold, and the cache beside it: MLX counts all its devices together."""
        active = int(_mx().get_active_memory())
        return held(
            Sentence("mlx.core.get_active_memory"),
            active,
            active + int(_mx().get_cache_memory()),
            scope="process",
        )

    def observe(self) -> MlxObservation:
        """Begin the allocator's peak afresh; operations are not watched (adr/0009)."""
        if self._peaks is None:
            counter = users_peaks(_mx(), "get_peak_memory", "reset_peak_memory")
            self._peaks = Peaks(lambda: _peak(counter), counter.reset)
            counter.before_reset[()] = self._peaks.note
        return MlxObservation(self._peaks, self.devices())


class MlxScope(Scope):
    """MLX's default device in one cell."""

    def __init__(self, native: Any) -> None:
        self._before = _mx().default_device()
        self._native = native
        _mx().set_default_device(native)

    def holds(self) -> bool:
        """False where the user's code has set another default device."""
        return bool(_mx().default_device() == self._native)

    def leave(self) -> Sentence | None:
        """Put back the default device found on entry; says so where the user's code had set another."""
        changed = not self.holds()
        _mx().set_default_device(self._before)
        if not changed:
            return None
        return say("This cell set MLX's default device itself; `%mlc_device` restored the previous one.")


class MlxObservation(Observation):
    """MLX's part in one cell."""

    def __init__(self, peaks: Peaks, devices: tuple[Device, ...]) -> None:
        self._peaks = peaks
        self._devices = devices
        self._mark = peaks.start()
        self._in_use = int(_mx().get_active_memory())

    def finish(self) -> Observed:
        """The peak of MLX's allocator, which counts the memory of all its devices together.

        A peak above what was in use at the beginning means that MLX worked; with one device, there.
        """
        value = self._peaks.finish(self._mark)
        readings = (peak(value, Sentence("mlx.core.get_peak_memory"), scope="process"),)
        if len(self._devices) > 1:
            return Observed(None, joined(NOT_WATCHED, LAZY), readings)
        (device,) = self._devices
        if value > self._in_use:
            return Observed((only_device(device),), LAZY, readings)
        return Observed(None, joined(may_have_run(device), LAZY), readings, only=device.name)


@cache
def _installed_for_cuda() -> bool:
    """Looked up once: all installed packages are read for it."""
    return any(str(one.metadata["Name"]).startswith("mlx-cuda") for one in metadata.distributions())


def _mx() -> Any:
    return module("mlx.core")


def evaluate(value: object) -> None:
    """Have arrays worked out: MLX computes a value only when somebody asks for it."""
    _mx().eval(value)


def _peak(counter: UsersPeaks) -> int:
    # Right after a reset MLX says 0, though what is in use stays in use.
    return max(int(counter.read()), int(_mx().get_active_memory()))


def native(device: Device) -> Any:
    """MLX's own object for a device."""
    mx = _mx()
    return mx.Device(mx.cpu if device.kind == "cpu" else mx.gpu, device.number)
