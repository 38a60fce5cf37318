"""MLX on CPU, Metal and CUDA.

`FRAMEWORK` lists where it was verified. MLX is lazy: an expression is evaluated when its value is first
needed. What a cell leaves unevaluated is computed in a later cell (see `unevaluated.py`).

The device of a cell is MLX's default device, which is that of all threads (read in MLX 0.32: device.cpp).
An operation may be given another device or stream, and arrays do not tell on which one they were computed. So
where a cell ran is concluded from the default device, if MLX worked at all. A sign of work is that the
allocator gave out more memory than was in use when the cell began. Constants are no such sign: MLX stores
those of an expression (`x * 2`) and the numbers of `mx.array` when they are written, before anything is
computed.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from typing import Any

from jupyter_mlgpu.measure.frameworks import hardware
from jupyter_mlgpu.measure.frameworks.allocator import allocator_readings, peak_reading
from jupyter_mlgpu.measure.frameworks.base import (
    Backend,
    Capability,
    Details,
    Device,
    LazyWork,
    Observation,
    Observed,
    Scope,
    UsableMemory,
)
from jupyter_mlgpu.measure.frameworks.evidence import default_device, may_have_run, only_device
from jupyter_mlgpu.measure.frameworks.imports import imported, module
from jupyter_mlgpu.measure.frameworks.mlx import FRAMEWORK
from jupyter_mlgpu.measure.frameworks.mlx.unevaluated import UnevaluatedWork, can_tell
from jupyter_mlgpu.measure.frameworks.peaks import Peaks
from jupyter_mlgpu.measure.frameworks.users_peaks import UsersPeaks, users_peaks
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.sentence import Sentence, joined, say

NOT_REPORTED = say("MLX does not report where its operations ran.")
_USABLE = Sentence("mlx.core.device_info")
LAZY = say("Work that this cell left unevaluated (`mx.eval`) counts toward a later cell.")
# Short, because a receipt contains it three times.
NOTHING_KNOWN = say("It took hardly any memory: it computes only when a value is needed.")
CHANGED = say("MLX's default device changed in this cell.")
#: Bytes of memory up to which MLX may only have stored constants: 4 to 8 each, so 2,000 or more of them.
_CONSTANTS = 16 * 1024


class MlxBackend(Backend):
    """MLX's devices."""

    name = FRAMEWORK.name

    def __init__(self) -> None:
        self._peaks: Peaks | None = None
        self._unevaluated = UnevaluatedWork()
        #: The observations that have begun and not ended.
        self.open: list[MlxObservation] = []
        #: The default device when the selected one was last left, None if one has been selected since.
        self.left_with: Any = None

    def loaded(self) -> bool:
        """Return True if `import mlx.core` has finished; `mlx` itself is only a namespace package."""
        return imported("mlx.core")

    def versions(self) -> Mapping[str, str]:
        """Return MLX's version."""
        return {"mlx": str(_mx().__version__)}

    def devices(self) -> tuple[Device, ...]:
        """Return the CPU, and the GPUs that MLX counts."""
        mx = _mx()
        gpu = "metal" if mx.metal.is_available() else "cuda"
        return tuple(
            Device(self.name, f"{short}:{number}", kind, str(mx.Device(type_, number)))
            for short, kind, type_ in (("cpu", "cpu", mx.cpu), ("gpu", gpu, mx.gpu))
            for number in range(mx.device_count(type_))
        )

    def details(self, device: Device) -> Details:
        """Return name and memory of a GPU from MLX, and of the CPU from the machine."""
        if device.kind == "cpu":
            return hardware.cpu()
        info = _mx().device_info(native(device))
        memory = info.get("total_memory", info.get("memory_size"))
        name = info.get("device_name")
        driver = hardware.nvidia(device.name).driver if device.kind == "cuda" else None
        return Details(name and str(name), memory and int(memory), driver)

    def usable_memory(self, device: Device) -> UsableMemory | None:
        """Return what Metal recommends. MLX's own limit is 1.5 times that."""
        info = _mx().device_info(native(device)) if device.kind == "metal" else {}
        recommended = info.get("max_recommended_working_set_size")
        return None if recommended is None else UsableMemory(int(recommended), _USABLE)

    def why_no_gpu(self) -> Sentence:
        """Return a sentence. Metal is part of MLX on a Mac; CUDA needs another package."""
        version = _mx().__version__
        if sys.platform == "darwin":
            return say("MLX {version} finds no Metal device here.", version=version)
        if _installed_for_cuda():
            return say(
                "MLX {version} is installed for CUDA but finds no GPU it can use here.", version=version
            )
        return say("MLX {version} is installed for CPUs only.", version=version)

    def capabilities(self, device: Device) -> tuple[Capability, ...]:
        """Return the capabilities: operations are not observed; evaluated work is waited for."""
        return FRAMEWORK.capabilities(device.kind, {"placement": NOT_REPORTED})

    def enter(self, device: Device) -> MlxScope:
        """Make `device` MLX's default device."""
        return MlxScope(self, native(device))

    def synchronize(self) -> None:
        """Wait for the work that is running on every device; expressions stay unevaluated."""
        mx = _mx()
        for device in self.devices():
            mx.synchronize(mx.default_stream(native(device)))  # before 0.32, not of a device itself

    def memory(self, device: Device) -> tuple[Reading, ...]:
        """Return the bytes of arrays and of the cache; MLX counts all its devices together."""
        active = int(_mx().get_active_memory())
        return allocator_readings(
            Sentence("mlx.core.get_active_memory"),
            active,
            active + int(_mx().get_cache_memory()),
            scope="process",
        )

    def observe(self) -> MlxObservation:
        """Reset the allocator's peak and begin; operations are not observed (adr/0009)."""
        if self._peaks is None:
            counter = users_peaks(_mx(), "get_peak_memory", "reset_peak_memory")
            self._peaks = Peaks(lambda: _peak(counter), counter.reset)
            counter.before_reset[()] = self._peaks.note
        if not self.open:
            self._unevaluated.cell_begins()
            self.left_with = None
        return MlxObservation(self, self._peaks)

    def lazy_work(self, values: Mapping[str, object], cell: int | None) -> LazyWork | None:
        """Return what a cell left for later, and what it computed for earlier cells."""
        return self._unevaluated.cell_ended(values, cell)


class MlxScope(Scope):
    """MLX's default device in one cell."""

    def __init__(self, backend: MlxBackend, native: Any) -> None:
        self._backend = backend
        self._before = _mx().default_device()
        self._native = native
        _mx().set_default_device(native)
        backend.left_with = None
        for observation in backend.open:
            observation.device_selected(native)

    def holds(self) -> bool:
        """Return False if the user's code has set another default device."""
        return bool(_mx().default_device() == self._native)

    def leave(self) -> Sentence | None:
        """Restore the default device found on entry; return a note if the user's code had set another."""
        changed = not self.holds()
        self._backend.left_with = _mx().default_device()
        _mx().set_default_device(self._before)
        if not changed:
            return None
        return say("This cell set MLX's default device itself; `%mlc_device` restored the previous one.")


class MlxObservation(Observation):
    """The observation of MLX in one cell."""

    def __init__(self, backend: MlxBackend, peaks: Peaks) -> None:
        self._backend = backend
        self._peaks = peaks
        self._devices = backend.devices()
        self._default = _mx().default_device()
        self._mark = peaks.start()
        self._in_use = int(_mx().get_active_memory())
        backend.open.append(self)

    def device_selected(self, native: Any) -> None:
        """Note that a device was selected within the cell, as `%%mlc_device` does before the cell's code."""
        if not self._worked():
            self._default = native

    def finish(self) -> Observed:
        """Return the peak of MLX's allocator, which counts the memory of all its devices together.

        A peak above the bytes in use at the beginning shows that MLX worked. The only device, or the default
        one, shows where.
        """
        self._backend.open = [one for one in self._backend.open if one is not self]
        worked = self._worked()
        value = self._peaks.finish(self._mark)
        readings = (peak_reading(value, Sentence("mlx.core.get_peak_memory"), scope="process"),)
        lazy = () if can_tell() else (LAZY,)
        device = self._device()
        if not worked:
            only = self._devices[0] if len(self._devices) == 1 else None
            reason = NOT_REPORTED if only is None else may_have_run(only)
            why = joined(reason, NOTHING_KNOWN, *lazy)
            default = None if device is None else device.name
            return Observed(None, why, readings, only=None if only is None else only.name, default=default)
        if device is None:
            return Observed(None, joined(NOT_REPORTED, CHANGED, *lazy), readings, worked=True)
        found = only_device(device) if len(self._devices) == 1 else default_device(device)
        return Observed((found,), joined(*lazy) if lazy else None, readings, worked=True)

    def _worked(self) -> bool:
        return self._peaks.now(self._mark) - self._in_use > _CONSTANTS

    def _device(self) -> Device | None:
        """Return the only device, or the one that was the default from beginning to end."""
        if len(self._devices) == 1:
            return self._devices[0]
        # A selected device has been left before the observation ends.
        now = self._backend.left_with
        if now is None:
            now = _mx().default_device()
        if now != self._default:
            return None
        return next((one for one in self._devices if one.native_name == str(now)), None)


@cache
def _installed_for_cuda() -> bool:
    """Return True if MLX for CUDA is installed. Cached, because all installed packages are read."""
    return any(str(one.metadata["Name"]).startswith("mlx-cuda") for one in metadata.distributions())


def _mx() -> Any:
    return module("mlx.core")


def evaluate(value: object) -> None:
    """Evaluate arrays, which MLX computes only when they are needed."""
    _mx().eval(value)


def _peak(counter: UsersPeaks) -> int:
    # Right after a reset MLX returns 0, though memory is still in use.
    return max(int(counter.read()), int(_mx().get_active_memory()))


def native(device: Device) -> Any:
    """Return MLX's own object for a device."""
    mx = _mx()
    return mx.Device(mx.cpu if device.kind == "cpu" else mx.gpu, device.number)
