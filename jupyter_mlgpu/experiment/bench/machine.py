"""The monitor of this machine: memory, other programs, energy, sensors (see `monitor.MachineMonitor`)."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from jupyter_mlgpu.experiment.bench import sensors
from jupyter_mlgpu.experiment.bench.monitor import SensorReadings
from jupyter_mlgpu.experiment.bench.quantity import Quantity, unknown
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.base import Device
from jupyter_mlgpu.measure.probes import memory
from jupyter_mlgpu.measure.probes.base import Probe
from jupyter_mlgpu.measure.probes.gpus import Gpu, Gpus
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.sentence import Sentence, joined, say

#: The least share of the processor's time for which other programs are reported.
SHARE = 0.05

WHICH = say("This machine has several GPUs, and it is not known which one the framework uses.")


class LocalMonitor:
    """The monitor of this machine. `gpus` finds NVIDIA's GPUs; the probes are the recorder's own."""

    def __init__(self, gpus: Callable[[], Gpus], energy: Probe, peak: Probe, root: Path = Path("/")) -> None:
        self._gpus = gpus
        self._energy = energy
        self._peak = peak
        self._root = root

    def free_memory(self, device: Device) -> Quantity:
        """Return the memory of a device that a case may use.

        On a GPU, what our own process holds counts as free. On a Mac's GPU, it is at most what macOS
        recommends.
        """
        if device.kind == "cpu" or memory.unified():
            whole = memory.machine()
            container = memory.container(whole.total, self._root)
            free = whole.free if container is None else min(whole.free, container.free)
            usable = None if device.kind == "cpu" else registry.usable_memory()
            return Quantity(free if usable is None else min(free, usable.bytes), "bytes")
        gpu = self._gpu(device)
        if isinstance(gpu, str):
            return unknown("bytes", gpu)
        nvml = self._gpus().nvml
        info = nvml.memory(gpu.index)
        if info.value is None:
            return unknown("bytes", joined(info.why_missing or ""))
        users = nvml.processes(gpu.index).value or ()
        used_by_others = sum(one.used or 0 for one in users if one.pid != os.getpid())
        # In a container the driver may report our own process with a number that is not ours.
        if not memory.sees_the_machines_processes() and len(users) == 1:
            used_by_others = 0
        return Quantity(info.value.total - used_by_others, "bytes")

    def others(self, device: Device) -> Callable[[], tuple[str, ...]]:
        """Watch for other programs: by their share of a CPU's time, or by NVML's processes of a GPU."""
        if device.kind == "cpu":
            return _processor()
        gpu = self._gpu(device)
        if isinstance(gpu, str):
            return lambda: ()
        before = self._processes(gpu)
        return lambda: tuple(dict.fromkeys([*before, *self._processes(gpu)]))

    def energy(self, device: Device) -> Callable[[], Quantity]:
        """Read the device's own energy counter; for a CPU that of the processor."""
        stop = self._energy.start()

        def stop_and_read() -> Quantity:
            found = stop()
            readings = [found] if isinstance(found, Reading) else list(found)
            return self._energy_of(device, readings)

        return stop_and_read

    def sensors(self, device: Device) -> Callable[[], SensorReadings]:
        """Read NVML for a GPU; for a CPU the sensors of the processor."""
        if device.kind == "cpu":
            return sensors.of_processor(self._root)
        gpu = self._gpu(device)
        if isinstance(gpu, str):
            nothing = sensors.none(gpu)
            return lambda: nothing
        nvml = self._gpus().nvml
        return lambda: sensors.of_gpu(nvml, gpu)

    def peak_memory(self, device: Device) -> Callable[[], Quantity]:
        """Watch the peak memory of this process."""
        stop = self._peak.start()

        def stop_and_read() -> Quantity:
            found = stop()
            reading = found if isinstance(found, Reading) else found[0]
            return Quantity(reading.value, "bytes", reading.why_missing)

        return stop_and_read

    def _gpu(self, device: Device) -> Gpu | Sentence:
        """Return NVML's GPU for a framework's device, or why it is not known.

        `measure/probes/nvml.py` says how the two number GPUs."""
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
            # One of them is this process, with a number that is not known here.
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
    """Measure the processor time that was neither idle nor ours, on all cores."""
    import psutil

    def sample() -> tuple[Any, float]:
        return psutil.cpu_times(), real_time.process_time()

    before, ours_before = sample()

    def stop_and_read() -> tuple[str, ...]:
        after, ours_after = sample()
        return others_of_processor(before._asdict(), after._asdict(), ours_after - ours_before)

    return stop_and_read


def others_of_processor(before: dict[str, float], after: dict[str, float], ours: float) -> tuple[str, ...]:
    """Return what others took of the processor between two readings of its times, in seconds.

    `ours` is this process's time. `steal` is what the host of a virtual machine gave to others (Linux,
    proc(5)); guests' time is counted under user already.
    """
    spent = {name: after[name] - before[name] for name in after if name not in ("guest", "guest_nice")}
    whole = sum(spent.values())
    if whole <= 0:
        return ()
    stolen = spent.get("steal", 0.0)
    busy = whole - spent.get("idle", 0.0) - spent.get("iowait", 0.0) - stolen
    found = []
    if (busy - ours) / whole > SHARE:
        found.append(f"other programs with {(busy - ours) / whole:.0%} of the cores' time")
    if stolen / whole > SHARE:
        found.append(f"other virtual machines with {stolen / whole:.0%} of the cores' time")
    return tuple(found)


def local_monitor() -> LocalMonitor:
    """Return the monitor with the counters and probes of this process's runtime."""
    from jupyter_mlgpu.measure import runtime
    from jupyter_mlgpu.measure.probes.cell import energy, peak_memory_process

    process_runtime = runtime.current()
    return LocalMonitor(
        process_runtime.gpus.get,
        energy.probe(process_runtime.instruments),
        peak_memory_process.probe(process_runtime.instruments),
    )
