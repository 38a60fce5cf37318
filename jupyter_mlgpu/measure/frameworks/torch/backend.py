"""PyTorch on CPU, CUDA and MPS.

`FRAMEWORK` lists the versions and devices with which this module was verified. Nothing here creates a CUDA
context. PyTorch counts its GPUs without one, and figures that need a context are read only after the user's
program has created it.

The selected device of a cell becomes PyTorch's default device. The default applies only to functions that
create tensors (`torch.zeros`, `nn.Linear`). Operations on existing tensors run on the tensors' own device.
While a default device is set, PyTorch inspects every call from Python, at about 1 us each. So if the CPU is
selected and is the default anyway, no default device is set. Keras on PyTorch has its own default device,
which is set too.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from jupyter_mlgpu.measure.frameworks import evidence, hardware, placed_values
from jupyter_mlgpu.measure.frameworks.allocator import (
    allocator_readings,
    no_allocator_readings,
    no_peak_reading,
    peak_reading,
)
from jupyter_mlgpu.measure.frameworks.base import (
    Backend,
    Capability,
    Compiled,
    Details,
    Device,
    Observation,
    Observed,
    UsableMemory,
)
from jupyter_mlgpu.measure.frameworks.imports import module
from jupyter_mlgpu.measure.frameworks.peaks import Peaks
from jupyter_mlgpu.measure.frameworks.placed_values import PlacedValue
from jupyter_mlgpu.measure.frameworks.torch import FRAMEWORK
from jupyter_mlgpu.measure.frameworks.torch.pools import PooledPeak
from jupyter_mlgpu.measure.frameworks.torch.scope import TorchScope, device_of_new_tensors
from jupyter_mlgpu.measure.frameworks.torch.tensors import moving_call, tensors
from jupyter_mlgpu.measure.frameworks.users_peaks import UsersPeaks, join_peaks, users_peaks
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.sentence import Sentence, joined, say

# Short, because the size of a receipt is limited and it contains each note three times.
NOT_REPORTED = say("PyTorch does not report where its operations ran.")
_USABLE = Sentence("torch.mps.recommended_max_memory")
_PEAK = Sentence("torch.cuda.max_memory_allocated")
_PEAK_WITH_GRAPHS = say("torch.cuda.max_memory_allocated, plus what CUDA graphs keep")


class TorchBackend(Backend):
    """PyTorch's devices."""

    name = FRAMEWORK.name

    def __init__(self) -> None:
        self._device_count: tuple[str | None, int] | None = None  # with the CUDA_VISIBLE_DEVICES it is for
        self._peaks: dict[int, tuple[Peaks, PooledPeak]] = {}

    def versions(self) -> Mapping[str, str]:
        """Return the versions of PyTorch and of the CUDA it was built for."""
        torch = _torch()
        versions = {"torch": str(torch.__version__)}
        if torch.version.cuda:
            versions["cuda"] = str(torch.version.cuda)
        return versions

    def started(self) -> bool:
        """Return True if there is a CUDA context, or no GPU that could have one."""
        return self._gpus() == 0 or bool(_torch().cuda.is_initialized())

    def devices(self) -> tuple[Device, ...]:
        """Return the CPU, and the GPUs that PyTorch counts."""
        cpu = Device(self.name, "cpu:0", "cpu", "cpu")
        if _mps():
            return (cpu, Device(self.name, "gpu:0", "metal", "mps"))
        kind = "rocm" if _torch().version.hip else "cuda"
        gpus = (Device(self.name, f"gpu:{index}", kind, f"cuda:{index}") for index in range(self._gpus()))
        return (cpu, *gpus)

    def details(self, device: Device) -> Details:
        """Return the hardware's name and memory. For a GPU without a CUDA context, they come from NVML."""
        if device.kind in ("cpu", "metal"):  # the GPU of Apple's chip shares the machine's memory
            return hardware.cpu()
        known = hardware.nvidia(device.name) if device.kind == "cuda" else Details()
        if not _torch().cuda.is_initialized():
            return known
        properties = _torch().cuda.get_device_properties(device.number)
        return Details(str(properties.name), int(properties.total_memory), known.driver)

    def usable_memory(self, device: Device) -> UsableMemory | None:
        """Return what Metal recommends, from the same function as PyTorch's own limits."""
        if device.kind != "metal":
            return None
        return UsableMemory(int(_torch().mps.recommended_max_memory()), _USABLE)

    def why_no_gpu(self) -> Sentence:
        """Return a sentence that says if the build supports no GPU or if the machine has none."""
        torch = _torch()
        if torch.cuda._is_compiled():
            return say(
                "PyTorch {version} supports NVIDIA GPUs, but the driver shows none here.",
                version=torch.__version__,
            )
        if torch.backends.mps.is_built():
            return say(
                "PyTorch {version} supports Metal, but macOS offers no Metal device here.",
                version=torch.__version__,
            )
        return say("PyTorch {version} is a CPU-only build.", version=torch.__version__)

    def needs_restart(self) -> Sentence | None:
        """Return a sentence if CUDA_VISIBLE_DEVICES hides the GPU."""
        return hardware.hidden_by_cuda(FRAMEWORK.title) if _torch().cuda._is_compiled() else None

    def capabilities(self, device: Device) -> tuple[Capability, ...]:
        """Return the capabilities: operations are not observed, and only CUDA's allocator keeps a peak."""
        why_not = {"placement": NOT_REPORTED}
        if device.kind not in ("cuda", "rocm"):
            why_not["allocator_peak"] = _no_peak(device.name)
        return FRAMEWORK.capabilities(device.kind, why_not)

    def enter(self, device: Device) -> TorchScope:
        """Make `device` the default device of this thread."""
        return TorchScope(device)

    def synchronize(self) -> None:
        """Wait for every GPU that has a context. A CPU's operation has finished when its call returns."""
        torch = _torch()
        for index in self._in_use():
            torch.cuda.synchronize(index)
        if _mps():
            torch.mps.synchronize()

    def is_recorded(self) -> bool:
        """Return True unless PyTorch can use a Mac's GPU, which has no activity records."""
        return not _mps()

    def memory(self, device: Device) -> tuple[Reading, ...]:
        """Return the bytes in use and reserved on a GPU; a CPU's allocator does not report them."""
        torch = _torch()
        if device.kind == "metal":
            in_use, reserved = torch.mps.current_allocated_memory(), torch.mps.driver_allocated_memory()
            return allocator_readings(
                Sentence("torch.mps.current_allocated_memory"), int(in_use), int(reserved), device=device.name
            )
        if device.kind not in ("cuda", "rocm"):
            return no_allocator_readings(
                say("PyTorch's allocator does not report what it holds on {device}.", device=device.name)
            )
        index = device.number
        if index not in self._in_use():
            return no_allocator_readings(say("PyTorch has not used {device} yet.", device=device.name))
        stats = torch.cuda.memory_stats(index)  # what torch.cuda.memory_allocated reads, in one call
        in_use, reserved = (
            int(stats.get(f"{kind}_bytes.all.current", 0)) for kind in ("allocated", "reserved")
        )
        return allocator_readings(
            Sentence(f"torch.cuda.memory_stats({index})"), in_use, reserved, device=device.name
        )

    def allocator_retries(self) -> int | None:
        """Return the retries of all GPUs' allocators (`num_alloc_retries` of torch.cuda.memory_stats)."""
        cuda = module("torch").cuda
        if not cuda.is_initialized():
            return None
        return sum(int(cuda.memory_stats(index).get("num_alloc_retries", 0)) for index in self._in_use())

    def compiled(self) -> Compiled:
        """Return what was compiled by Dynamo and by the compilers that it calls, including backward graphs.

        The times are those that Dynamo measures itself; the function that returns them is private (2.13).
        """
        dynamo = module("torch._dynamo.utils")
        if dynamo is None:  # nothing has used a compiler
            return Compiled(0.0, 0)
        # With get: reading a missing counter by index would create an entry that the user can see.
        programs = dynamo.counters.get("frames", {}).get("ok", 0)
        return Compiled(dynamo.calculate_time_spent()["total_wall_time"], programs)

    def observe(self) -> TorchObservation:
        """Reset the allocators' peaks and begin an observation without operations (adr/0009)."""
        return TorchObservation(self)

    def observe_closely(self) -> Observation:
        """Begin an observation that uses PyTorch's profiler to detect if any operation ran.

        If PyTorch counts a GPU (CUDA or ROCm), begin the same observation as `observe`, without the profiler.
        """
        if self._gpus():
            return self.observe()
        from jupyter_mlgpu.measure.frameworks.torch.counting import CountingObservation  # only for races

        return CountingObservation(self.observe(), self.devices()[0])

    def placed_values(self, values: Mapping[str, object]) -> Sequence[PlacedValue]:
        """Return the tensors and modules among the values, with their devices."""
        return tensors(values)

    def left_on_cpu_note(self, placed: Sequence[PlacedValue]) -> Sentence | None:
        """Return a sentence that names modules whose weights are all on the CPU, and how to move them."""
        gpu = next((device for device in self.devices() if device.kind != "cpu"), None)
        models = [one for one in placed if one.what == "weights" and set(one.parts) == {"cpu:0"}]
        if gpu is None or not models:
            return None
        return say(
            "{models}, which PyTorch can use here. `{name}.to({device})` moves {what}; move its inputs, too. "
            "`%%mlc_race` shows if the GPU is faster.",
            models=placed_values.misplaced_note_of(models, gpu.name),
            name=models[0].name,
            device=repr(gpu.native_name.partition(":")[0]),
            what=placed_values.pronoun(models),
        )

    def misplaced_note(self, values: Mapping[str, object], device: Device) -> Sentence | None:
        """Return a sentence that names tensors and modules on another device, and how to move them."""
        misplaced = placed_values.misplaced_among(tensors(values), device.name)
        if not misplaced:
            return None
        first = misplaced[0]
        move = moving_call(values.get(first.name), device)
        # A tensor is replaced by its copy, a module moves its own weights. No line moves a list of tensors.
        code = {None: f"{first.name} = {first.name}.{move}", "weights": f"{first.name}.{move}"}.get(
            first.what
        )
        remedy = (
            say("Calling `.{code}` on each moves it", code=move)
            if code is None
            else say("`{code}` moves {what}", code=code, what=placed_values.pronoun(misplaced))
        )
        note = placed_values.misplaced_note_of(misplaced, device.name)
        return say("{told}: PyTorch computes where the data is. {remedy}.", told=note, remedy=remedy)

    def allocations(self) -> dict[int, int]:
        """Return the number of allocations so far on each GPU in use, by its number."""
        cuda = _torch().cuda
        return {
            index: cuda.memory_stats(index).get("allocation.all.allocated", 0) for index in self._in_use()
        }

    def peaks(self) -> dict[int, tuple[Peaks, PooledPeak]]:
        """Return the peaks of cells on each GPU in use, by its number, and the counter behind the peaks."""
        for index in self._in_use():
            if index not in self._peaks:
                shared = _shared_peaks()
                counter = PooledPeak(shared.read, shared.reset, _torch().cuda.memory_snapshot, index)
                self._peaks[index] = Peaks(counter.read, counter.reset), counter
                shared.before_reset[index] = self._peaks[index][0].note
        return self._peaks

    def _gpus(self) -> int:
        # PyTorch asks the driver each time, which takes milliseconds; only this variable changes the answer.
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        if self._device_count is None or self._device_count[0] != visible:
            self._device_count = (visible, int(_torch().cuda.device_count()))
        return self._device_count[1]

    def _in_use(self) -> list[int]:
        torch = _torch()
        if not torch.cuda.is_initialized():
            return []
        # A private function. If it is missing, every GPU counts as in use: waiting for one that is not in use
        # is better than not waiting for one that is.
        in_use = getattr(torch._C, "_cuda_hasPrimaryContext", lambda index: True)
        return [index for index in range(self._gpus()) if in_use(index)]


def _shared_peaks() -> UsersPeaks:
    """Return PyTorch's peak counters, which the user's code may read and reset, too."""
    # torch.cuda's functions call these. So a program that has imported torch.cuda's functions before these
    # are wrapped calls the wrappers, too.
    return users_peaks(_torch()._C, "_cuda_memoryStats", "_cuda_resetPeakMemoryStats", join_peaks)


class TorchObservation(Observation):
    """The observation of PyTorch in one cell."""

    def __init__(self, backend: TorchBackend) -> None:
        self._backend = backend
        self._nodes = _autograd_nodes()
        self._allocations = backend.allocations()
        self._on_metal = _bytes_on_metal()
        self._marks = {
            index: (peaks.start(), counter.pools.total) for index, (peaks, counter) in backend.peaks().items()
        }

    def finish(self) -> Observed:
        """Return the allocators' peaks, and the GPUs whose allocators were used."""
        reasons: list[Sentence] = [NOT_REPORTED]
        readings = []
        notes: list[Sentence] = []
        used = []
        gpus = [device for device in self._backend.devices() if device.kind != "cpu"]
        in_use = self._backend.allocations()
        for index, count in in_use.items():
            times = count - self._allocations.get(index, 0)
            reasons.append(
                say(
                    "Allocations on {device}: {times}.",
                    device=f"gpu:{index}",
                    times=times,
                )
            )
            if times:
                used.append(evidence.allocator(gpus[index], times))
            peaks, counter = self._backend.peaks()[index]
            # For a GPU first used in this cell, the peak so far is this cell's.
            mark, pooled = self._marks[index] if index in self._marks else (peaks.started_before(), 0)
            readings.append(_peak(peaks.finish(mark), counter, gpus[index].name))
            if counter.pools.total > pooled:
                notes.append(
                    say(
                        "This cell set memory aside for a CUDA graph, so the allocator's peak on "
                        "{device} may have been higher.",
                        device=gpus[index].name,
                    )
                )
        if not readings:
            readings = [no_peak_reading(_no_peak(say("the CPU") if not _mps() else "Metal"), _PEAK)]
        if any(now > before for now, before in zip(_bytes_on_metal(), self._on_metal, strict=True)):
            used.append(evidence.more_memory(gpus[0]))
        if used:
            return Observed(tuple(used), None, tuple(readings), tuple(notes))
        worked = _autograd_nodes() > self._nodes
        if in_use or _mps() or _another_accelerator():
            return Observed(
                None,
                joined(*reasons),
                tuple(readings),
                tuple(notes),
                worked=worked,
                default=device_of_new_tensors(),
            )
        # There is no GPU, or none with a context, and without a context nothing runs there.
        cpu = self._backend.devices()[0]
        if worked:
            return Observed((evidence.only_device(cpu),), None, tuple(readings))
        return Observed(None, evidence.may_have_run(cpu), tuple(readings), only=cpu.name)


def _peak(value: int, counter: PooledPeak, device: str) -> Reading:
    if counter.why_not is not None:
        return no_peak_reading(counter.why_not, _PEAK, device)
    return peak_reading(value, _PEAK_WITH_GRAPHS if counter.pools.total else _PEAK, device=device)


def _autograd_nodes() -> int:
    """Return the number of operations that this thread has recorded to compute gradients from.

    The counter is private (verified on 2.13.0). It grows with each operation on tensors that need a gradient,
    which shows that PyTorch worked. If it does not grow, nothing is known. Tensors on `meta` count, though
    nothing runs for them.
    """
    count = getattr(_torch()._C._autograd, "_get_sequence_nr", None)
    return 0 if count is None else int(count())


def _torch() -> Any:
    return module("torch")


def _mps() -> bool:
    return bool(_torch().backends.mps.is_available())


def _bytes_on_metal() -> tuple[int, int]:
    """Return the bytes of tensors on a Mac's GPU, and those that its driver has allocated for PyTorch."""
    if not _mps():
        return 0, 0
    mps = _torch().mps
    return int(mps.current_allocated_memory()), int(mps.driver_allocated_memory())


def _another_accelerator() -> bool:
    """Return True if PyTorch is built for an accelerator that `devices` does not list, such as Intel's."""
    current = getattr(getattr(_torch(), "accelerator", None), "current_accelerator", lambda: None)()
    return current is not None and current.type not in ("cuda", "mps")


def _no_peak(device: str) -> Sentence:
    """Return why a device has no peak. `device` is its name, or a Sentence that stands for the name."""
    return say("PyTorch's allocator tracks no peak for {device}.", device=device)
