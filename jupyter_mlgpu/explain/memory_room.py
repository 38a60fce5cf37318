"""Find how much memory a cell may use now, before the machine pages or the GPU refuses.

A Mac's GPU shares the machine's memory, but should not use all of it. Metal's recommendedMaxWorkingSetSize
is about what it can allocate without becoming slower (Apple's documentation).
"""

from __future__ import annotations

import os
from pathlib import Path

from jupyter_mlgpu.explain.memory_forecast import MemoryLimit
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.probes import memory
from jupyter_mlgpu.measure.probes.nvml import Nvml
from jupyter_mlgpu.measure.probes.process_memory import process_memory
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import say


def room(
    quantity: str, nvml: Nvml | None = None, root: Path = Path("/"), *, on_gpu: bool = False
) -> MemoryLimit | None:
    """Return the room for a peak of this quantity, or None if it is not known.

    For the process, it is what it holds now plus what is free in the machine or, if that is less, in its
    container. For an allocator, it is the memory of the smallest NVIDIA GPU without what other processes hold
    there. On a Mac it is that of the process in both cases. With `on_gpu`, or for an allocator, it is what
    macOS recommends for the GPU if that is less. `root` is the file system that has the container's limit.
    """
    on_gpu = on_gpu or quantity == "peak_memory_allocator"
    if memory.unified():
        return _on_mac(root) if on_gpu else _process(root)
    return _process(root) if quantity == "peak_memory_process" else _gpu(nvml or Nvml())


def used_gpu(record: Record) -> bool:
    """Return True if the cell used a GPU; if that is not known, if it was sent to one."""
    device = record.device
    if device.ran_on is not None:
        return any(one.kind != "cpu" for one in device.ran_on)
    return any(not name.startswith("cpu") for name in (*device.requested.values(), *device.only.values()))


def _on_mac(root: Path) -> MemoryLimit:
    limit, usable = _process(root), registry.usable_memory()
    if usable is None or usable.bytes >= limit.bytes:
        return limit
    return MemoryLimit(
        usable.bytes, say("the most that macOS recommends for the GPU, {source}", source=usable.source)
    )


def _process(root: Path) -> MemoryLimit:
    whole = memory.machine()
    own, _ = process_memory()
    limit = MemoryLimit(own + whole.free, say("what this process holds plus what is free on this machine"))
    container = memory.container(whole.total, root)
    if container is not None and own + container.free < limit.bytes:
        return MemoryLimit(
            own + container.free, say("what this process holds plus what is free in its container")
        )
    return limit


def _gpu(nvml: Nvml) -> MemoryLimit | None:
    rooms = [_room_on(nvml, index) for index in range(nvml.count().value or 0)]
    known = [one for one in rooms if one is not None]
    if not known:
        return None
    return MemoryLimit(min(known), say("the GPU's memory minus what other processes hold"))


def _room_on(nvml: Nvml, index: int) -> float | None:
    info = nvml.memory(index).value
    if info is None:
        return None
    users = nvml.processes(index).value or ()
    others = sum(one.used or 0 for one in users if one.pid != os.getpid())
    return info.total - others
