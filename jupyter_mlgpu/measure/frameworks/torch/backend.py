"""PyTorch on CPU, CUDA and MPS.

Run on Linux CPUs. Where else, `FRAMEWORK` says. Nothing here creates a CUDA context: PyTorch counts its
GPUs without one, and what needs one waits until the user's program has it.

The device of a cell is PyTorch's default device, which reaches what makes tensors (`torch.zeros`,
`nn.Linear`) and nothing else: a tensor that is already somewhere is worked on there. PyTorch then looks at
every call from Python, at about 1 us each; so where the CPU is asked for and is the default anyway,
nothing is entered. Keras on PyTorch has a default device of its own, which is entered too.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from jupyter_mlgpu.measure.frameworks import evidence, hardware, misplaced_values
from jupyter_mlgpu.measure.frameworks.allocator import held, peak, unknown, unknown_peak
from jupyter_mlgpu.measure.frameworks.base import (
    Backend,
    Capability,
    Compiled,
    Details,
    Device,
    Observation,
    Observed,
)
from jupyter_mlgpu.measure.frameworks.imports import module
from jupyter_mlgpu.measure.frameworks.peaks import Peaks
from jupyter_mlgpu.measure.frameworks.torch import FRAMEWORK
from jupyter_mlgpu.measure.frameworks.torch.pools import PooledPeak
from jupyter_mlgpu.measure.frameworks.torch.scope import TorchScope
from jupyter_mlgpu.measure.frameworks.torch.tensors import tensors
from jupyter_mlgpu.measure.frameworks.users_peaks import UsersPeaks, join_peaks, users_peaks
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.sentence import Sentence, joined, say

# Short: a receipt holds little, and each is in it three times.
NOT_WATCHED = say("PyTorch does not report where its operations ran.")
_PEAK = Sentence("torch.cuda.max_memory_allocated")
_PEAK_WITH_GRAPHS = say("torch.cuda.max_memory_allocated, plus what CUDA graphs keep")


class TorchBackend(Backend):
    """PyTorch's devices, as the kit asks of them."""

    name = FRAMEWORK.name

    def __init__(self) -> None:
        self._counted: tuple[str | None, int] | None = None
        self._peaks: dict[int, tuple[Peaks, PooledPeak]] = {}

    def versions(self) -> Mapping[str, str]:
        """PyTorch's version, and that of the CUDA it was built for."""
        torch = _torch()
        found = {"torch": str(torch.__version__)}
        if torch.version.cuda:
            found["cuda"] = str(torch.version.cuda)
        return found

    def started(self) -> bool:
        """Whether there is a CUDA context, where there can be one."""
        return self._gpus() == 0 or bool(_torch().cuda.is_initialized())

    def devices(self) -> tuple[Device, ...]:
        """The CPU, and the GPUs that PyTorch counts."""
        cpu = Device(self.name, "cpu:0", "cpu", "cpu")
        if _mps():
            return (cpu, Device(self.name, "gpu:0", "metal", "mps"))
        kind = "rocm" if _torch().version.hip else "cuda"
        gpus = (Device(self.name, f"gpu:{one}", kind, f"cuda:{one}") for one in range(self._gpus()))
        return (cpu, *gpus)

    def details(self, device: Device) -> Details:
        """Name and memory from PyTorch where it has a context, else from the driver's own tool."""
        if device.kind in ("cpu", "metal"):  # the GPU of Apple's chip shares the machine's memory
            return hardware.cpu()
        told = hardware.nvidia(device.name) if device.kind == "cuda" else Details()
        if not _torch().cuda.is_initialized():
            return told
        properties = _torch().cuda.get_device_properties(device.number)
        return Details(str(properties.name), int(properties.total_memory), told.driver)

    def why_no_gpu(self) -> Sentence:
        """Whether the build or the machine is what lacks."""
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
        """Hidden by the variable of CUDA."""
        return hardware.hidden_by_cuda(FRAMEWORK.title) if _torch().cuda._is_compiled() else None

    def capabilities(self, device: Device) -> tuple[Capability, ...]:
        """Operations are not watched; the allocator keeps a peak for CUDA alone."""
        why_not = {"placement": NOT_WATCHED}
        if device.kind not in ("cuda", "rocm"):
            why_not["allocator_peak"] = _no_peak(device.name)
        return FRAMEWORK.capabilities(device.kind, why_not)

    def enter(self, device: Device) -> TorchScope:
        """Make `device` the default device of this thread."""
        return TorchScope(device)

    def synchronize(self) -> None:
        """Wait for every GPU that has a context; the CPU has finished when a call returns."""
        torch = _torch()
        for index in self._in_use():
            torch.cuda.synchronize(index)
        if _mps():
            torch.mps.synchronize()

    def is_recorded(self) -> bool:
        """Return whether there is no Mac's GPU; the CPU has finished when a call returns."""
        return not _mps()

    def memory(self, device: Device) -> tuple[Reading, ...]:
        """What tensors hold on a GPU, and what was reserved for them; a CPU's allocator does not tell."""
        torch = _torch()
        if device.kind == "metal":
            in_use, reserved = torch.mps.current_allocated_memory(), torch.mps.driver_allocated_memory()
            return held(
                Sentence("torch.mps.current_allocated_memory"), int(in_use), int(reserved), device=device.name
            )
        if device.kind not in ("cuda", "rocm"):
            return unknown(
                say("PyTorch's allocator does not report what it holds on {device}.", device=device.name)
            )
        index = device.number
        if index not in self._in_use():
            return unknown(say("PyTorch has not used {device} yet.", device=device.name))
        stats = torch.cuda.memory_stats(index)  # what torch.cuda.memory_allocated reads, in one call
        in_use, reserved = (
            int(stats.get(f"{one}_bytes.all.current", 0)) for one in ("allocated", "reserved")
        )
        return held(Sentence(f"torch.cuda.memory_stats({index})"), in_use, reserved, device=device.name)

    def allocator_retries(self) -> int | None:
        """Of CUDA's allocators (torch.cuda.memory_stats, num_alloc_retries)."""
        cuda = module("torch").cuda
        if not cuda.is_initialized():
            return None
        return sum(int(cuda.memory_stats(index).get("num_alloc_retries", 0)) for index in self._in_use())

    def compiled(self) -> Compiled:
        """Of Dynamo and all that it calls, backward graphs included, by its own clock (private, in 2.13)."""
        dynamo = module("torch._dynamo.utils")
        if dynamo is None:  # nothing has asked for a compiler
            return Compiled(0.0, 0)
        # Its counters make an entry for what is asked for and is not there: the user would find it.
        programs = dynamo.counters.get("frames", {}).get("ok", 0)
        return Compiled(dynamo.calculate_time_spent()["total_wall_time"], programs)

    def observe(self) -> TorchObservation:
        """Begin the allocators' peaks afresh; operations are not watched (adr/0009)."""
        return TorchObservation(self)

    def observe_closely(self) -> Observation:
        """Have PyTorch's profiler tell as well whether anything ran; not where there is an NVIDIA GPU."""
        if self._gpus():
            return self.observe()
        from jupyter_mlgpu.measure.frameworks.torch.counting import CountingObservation  # races are seldom

        return CountingObservation(self.observe(), self.devices()[0])

    def stays(self, values: Mapping[str, object], device: Device) -> Sentence | None:
        """Tensors and modules: PyTorch works where they are, whatever its default device is."""
        found = misplaced_values.elsewhere(tensors(values), device.name)
        if not found:
            return None
        first, move = found[0], f"to({device.native_name!r})"
        code = {None: f"{first.name} = {first.name}.{move}", "weights": f"{first.name}.{move}"}.get(
            first.what
        )
        remedy = (
            say("Calling `.{code}` on each moves it", code=move)
            if code is None
            else say("`{code}` moves {what}", code=code, what=misplaced_values.it(found))
        )
        told = misplaced_values.misplaced_values_note(found, device.name)
        return say("{told}: PyTorch computes where the data is. {remedy}.", told=told, remedy=remedy)

    def allocations(self) -> dict[int, int]:
        """How often the allocator of each GPU in use has handed out memory so far."""
        cuda = _torch().cuda
        return {
            index: cuda.memory_stats(index).get("allocation.all.allocated", 0) for index in self._in_use()
        }

    def peaks(self) -> dict[int, tuple[Peaks, PooledPeak]]:
        """A counter for the allocator's peak of each GPU in use, and what it counts."""
        for index in self._in_use():
            if index not in self._peaks:
                users = _users_peaks()
                counter = PooledPeak(users.read, users.reset, _torch().cuda.memory_snapshot, index)
                self._peaks[index] = Peaks(counter.read, counter.reset), counter
                users.before_reset[index] = self._peaks[index][0].note
        return self._peaks

    def _gpus(self) -> int:
        # PyTorch asks the driver each time, which takes milliseconds; only this variable changes the answer.
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        if self._counted is None or self._counted[0] != visible:
            self._counted = (visible, int(_torch().cuda.device_count()))
        return self._counted[1]

    def _in_use(self) -> list[int]:
        torch = _torch()
        if not torch.cuda.is_initialized():
            return []
        # Private; without it, waiting for a GPU too many beats not waiting.
        in_use = getattr(torch._C, "_cuda_hasPrimaryContext", lambda index: True)
        return [index for index in range(self._gpus()) if in_use(index)]


def _users_peaks() -> UsersPeaks:
    # What torch.cuda's own functions call, whoever has these from before.
    return users_peaks(_torch()._C, "_cuda_memoryStats", "_cuda_resetPeakMemoryStats", join_peaks)


class TorchObservation(Observation):
    """PyTorch's part in one cell."""

    def __init__(self, backend: TorchBackend) -> None:
        self._backend = backend
        self._nodes = _autograd_nodes()
        self._allocations = backend.allocations()
        self._marks = {
            index: (peaks.start(), counter.pools.total) for index, (peaks, counter) in backend.peaks().items()
        }

    def finish(self) -> Observed:
        """What the allocators tell: their peaks, and whether a GPU's was used at all."""
        told: list[Sentence] = [NOT_WATCHED]
        readings = []
        notes: list[Sentence] = []
        used = []
        gpus = [device for device in self._backend.devices() if device.kind != "cpu"]
        in_use = self._backend.allocations()
        for index, count in in_use.items():
            times = count - self._allocations.get(index, 0)
            told.append(
                say(
                    "Allocations on {device}: {times}.",
                    device=f"gpu:{index}",
                    times=times,
                )
            )
            if times:
                used.append(evidence.allocator(gpus[index], times))
            peaks, counter = self._backend.peaks()[index]
            # A GPU first used in this cell: its peak so far is this cell's.
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
            readings = [unknown_peak(_no_peak(say("the CPU") if not _mps() else "Metal"), _PEAK)]
        if used:
            return Observed(tuple(used), None, tuple(readings), tuple(notes))
        if in_use or _mps() or _another_accelerator():
            return Observed(None, joined(*told), tuple(readings), tuple(notes))
        # No GPU, or none of which there is a context: without one nothing runs there.
        cpu = self._backend.devices()[0]
        if _autograd_nodes() > self._nodes:
            return Observed((evidence.only_device(cpu),), None, tuple(readings))
        return Observed(None, evidence.may_have_run(cpu), tuple(readings), only=cpu.name)


def _peak(value: int, counter: PooledPeak, device: str) -> Reading:
    if counter.why_not is not None:
        return unknown_peak(counter.why_not, _PEAK, device)
    return peak(value, _PEAK_WITH_GRAPHS if counter.pools.total else _PEAK, device=device)


def _autograd_nodes() -> int:
    """How many operations this thread has noted for a gradient (private; seen working on 2.13.0).

    It grows with each one on tensors that need a gradient: a sign that PyTorch worked. Where it does not
    grow, nothing is known. Tensors on `meta` count, though nothing runs for them.
    """
    count = getattr(_torch()._C._autograd, "_get_sequence_nr", None)
    return 0 if count is None else int(count())


def _torch() -> Any:
    return module("torch")


def _mps() -> bool:
    return bool(_torch().backends.mps.is_available())


def _another_accelerator() -> bool:
    """Whether this PyTorch is built for an accelerator that `devices` does not list, such as Intel's."""
    current = getattr(getattr(_torch(), "accelerator", None), "current_accelerator", lambda: None)()
    return current is not None and current.type not in ("cuda", "mps")


def _no_peak(name: str) -> Sentence:
    return say("PyTorch's allocator tracks no peak for {device}.", device=name)
