"""Find how much memory a cell may use now, before the machine pages or the GPU refuses."""

from __future__ import annotations

import os
from pathlib import Path

from jupyter_mlgpu.explain.memory_forecast import MemoryLimit
from jupyter_mlgpu.measure.probes import memory
from jupyter_mlgpu.measure.probes.nvml import Nvml
from jupyter_mlgpu.measure.probes.process_memory import process_memory
from jupyter_mlgpu.record.sentence import say


def room(quantity: str, nvml: Nvml | None = None, root: Path = Path("/")) -> MemoryLimit | None:
    """Return the room for a peak of this quantity, or None if it is not known.

    For the process, it is what it holds now plus what is free in the machine or, if that is less, in its
    container. For an allocator, it is the memory of the smallest NVIDIA GPU without what other processes hold
    there. A Mac's GPU uses the machine's memory. `root` is the file system that has the container's limit.
    """
    if quantity == "peak_memory_process" or memory.unified():
        return _process(root)
    return _gpu(nvml or Nvml())


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
