"""The machine around a case: what is free, who else is there, what it draws (`monitor.MachineMonitor`)."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from jupyter_mlgpu.experiment.bench.quantity import Quantity, unknown
from jupyter_mlgpu.measure.frameworks.base import Device
from jupyter_mlgpu.measure.probes import memory
from jupyter_mlgpu.measure.probes.base import Probe
from jupyter_mlgpu.measure.probes.gpus import Gpu, Gpus
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.sentence import Sentence, joined, say

#: Others' share of the processor's time from which it is told.
SHARE = 0.05

WHICH = say("This machine has several GPUs, and it is not known which one the framework uses.")


class LocalMonitor:
    """This machine. `gpus` finds NVIDIA's GPUs; the probes are the recorder's own."""

    def __init__(self, gpus: Callable[[], Gpus], energy: Probe, peak: Probe, root: Path = Path("/")) -> None:
        self._gpus = gpus
        self._energy = energy
        self._peak = peak
        self._root = root

    def free_memory(self, device: Device) -> Quantity:
        """Of a GPU its memory but what other programs hold: what our framework keeps for itself is ours."""
        if device.kind == "cpu" or memory.unified():
            whole = memory.machine()
            container = memory.container(whole.total, self._root)
            return Quantity(whole.free if container is None else min(whole.free, container.free), "bytes")
        gpu = self._gpu(device)
        if isinstance(gpu, str):
            return unknown("bytes", gpu)
        nvml = self._gpus().nvml
        told = nvml.memory(gpu.index)
        if told.value is None:
            return unknown("bytes", joined(told.why_missing or ""))
        users = nvml.processes(gpu.index).value or ()
        held = sum(one.used or 0 for one in users if one.pid != os.getpid())
        # In a container the driver may tell our own process under a number that is not ours.
        if not memory.sees_the_machines_processes() and len(users) == 1:
            held = 0
        return Quantity(told.value.total - held, "bytes")

    def others(self, device: Device) -> Callable[[], tuple[str, ...]]:
        """Of a CPU the share of its time that others took, of a GPU the processes that NVML tells."""
        if device.kind == "cpu":
            return _processor()
        gpu = self._gpu(device)
        if isinstance(gpu, str):
            return lambda: ()
        before = self._processes(gpu)
        return lambda: tuple(dict.fromkeys([*before, *self._processes(gpu)]))

    def energy(self, device: Device) -> Callable[[], Quantity]:
        """The reading of the device's own counter; on a CPU that of the processor."""
        stop = self._energy.start()

        def ended() -> Quantity:
            found = stop()
            readings = [found] if isinstance(found, Reading) else list(found)
            return self._energy_of(device, readings)

        return ended

    def peak_memory(self, device: Device) -> Callable[[], Quantity]:
        """The peak of this process."""
        stop = self._peak.start()

        def ended() -> Quantity:
            found = stop()
            reading = found if isinstance(found, Reading) else found[0]
            return Quantity(reading.value, "bytes", reading.why_missing)

        return ended

    def _gpu(self, device: Device) -> Gpu | Sentence:
        """NVML's GPU for a framework's, or why it cannot be told (its numbers: `measure/probes/nvml.py`)."""
        gpus = self._gpus()
        if not gpus.gpus:
            return joined(gpus.why_none or "")
        if len(gpus.gpus) == 1:
            return gpus.gpus[0]
        number = device.number
        same = len({one.label.partition("(")[2] for one in gpus.gpus}) == 1
        if same and "CUDA_VISIBLE_DEVICES" not in os.environ and number < len(gpus.gpus):
            return gpus.gpus[number]
        return WHICH

    def _processes(self, gpu: Gpu) -> list[str]:
        users = self._gpus().nvml.processes(gpu.index).value or ()
        if not memory.sees_the_machines_processes():
            # One of them is this process, under a number that cannot be told from here.
            return [f"{len(users) - 1} more processes, not seen from here"] if len(users) > 1 else []
        return [
            f"{memory.program(one.pid)} (process {one.pid}"
            + (")" if one.used is None else f", {units.size(one.used)})")
            for one in users
            if one.pid != os.getpid()
        ]

    def _energy_of(self, device: Device, readings: Sequence[Reading]) -> Quantity:
        scope = "machine" if device.kind == "cpu" else "device"
        fitting = [one for one in readings if one.scope == scope]
        if len(fitting) > 1 and scope == "device":
            gpu = self._gpu(device)
            if isinstance(gpu, str):
                return unknown("J", gpu)
            fitting = [one for one in fitting if gpu.label in one.source] or fitting[:1]
        known = next((one for one in fitting if one.value), None)
        if known is not None:
            return Quantity(known.value, "J")
        whys = [one.why_missing for one in (*fitting, *readings) if one.why_missing]
        nothing = say("No energy counter is available for {device}.", device=device.name)
        return unknown("J", whys[0] if whys else nothing)


def _processor() -> Callable[[], tuple[str, ...]]:
    """Watch the processor's time: what was neither idle nor ours, of all cores."""
    import psutil

    def sample() -> tuple[Any, float]:
        return psutil.cpu_times(), real_time.process_time()

    before, ours_before = sample()

    def ended() -> tuple[str, ...]:
        after, ours_after = sample()
        return others_of_processor(before._asdict(), after._asdict(), ours_after - ours_before)

    return ended


def others_of_processor(before: dict[str, float], after: dict[str, float], ours: float) -> tuple[str, ...]:
    """What others took of the processor between two looks at its times, in seconds; `ours` is this process's.

    `steal` is what the host of a virtual machine gave to others (Linux, proc(5)); guests' time is counted
    under user already.
    """
    took = {name: after[name] - before[name] for name in after if name not in ("guest", "guest_nice")}
    whole = sum(took.values())
    if whole <= 0:
        return ()
    stolen = took.get("steal", 0.0)
    busy = whole - took.get("idle", 0.0) - took.get("iowait", 0.0) - stolen
    found = []
    if (busy - ours) / whole > SHARE:
        found.append(f"other programs with {(busy - ours) / whole:.0%} of the cores' time")
    if stolen / whole > SHARE:
        found.append(f"other virtual machines with {stolen / whole:.0%} of the cores' time")
    return tuple(found)


def local_monitor() -> LocalMonitor:
    """With the counters and probes of this process's runtime."""
    from jupyter_mlgpu.measure import runtime
    from jupyter_mlgpu.measure.probes.cell import energy, peak_memory_process

    mine = runtime.current()
    return LocalMonitor(
        mine.gpus.get, energy.probe(mine.instruments), peak_memory_process.probe(mine.instruments)
    )
