"""`memory_during`: memory in use over time while a function runs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

from jupyter_mlgpu.measure import guarded, runtime
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.allocator import allocator_readings
from jupyter_mlgpu.measure.frameworks.imports import imported
from jupyter_mlgpu.measure.probes.cell.memory_process import MemoryInUse
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.sentence import Sentence
from jupyter_mlgpu.teach.lessons.machine import gpu

#: Sampling interval in seconds.
EVERY = 0.005

#: Returns the memory in use at this moment.
Meter = Callable[[], Reading]


@dataclass(frozen=True)
class MemoryCurve:
    """Points of (seconds since the start, MiB in use), and the `instrument` that measured them."""

    points: tuple[tuple[float, float], ...]
    instrument: str


def memory_during(work: Callable[[], object]) -> MemoryCurve:
    """Run `work`, and sample the memory in use every 5 ms from another thread.

    On a GPU this is the memory that the framework's allocator has in use. On a CPU with TensorFlow and
    oneDNN, it counts tensors of 256 KiB and more. Otherwise, or if an allocator reports nothing, it is the
    memory of this process. The first point is from before the work, the last from after it.
    """
    meter = _meter()
    begun = real_time.perf_counter()
    points: list[tuple[float, float]] = []

    def sample() -> None:
        in_use = meter().value
        if in_use is not None:
            points.append((real_time.perf_counter() - begun, in_use / 2**20))

    sample()
    end = runtime.current().sampler.add(sample, EVERY, after=EVERY)
    try:
        work()
        for backend in registry.loaded():
            guarded.wait(backend)
    finally:
        failed = end()
    if failed is not None:
        raise failed
    sample()
    return MemoryCurve(tuple(sorted(points)), meter().instrument)


def _meter() -> Meter:
    found = gpu()
    if found is not None:
        backend, device = found

        def of_allocator() -> Reading:
            return next(one for one in backend.memory(device) if one.quantity == "memory_allocator")

        if of_allocator().value is not None:
            return of_allocator
    if imported("tensorflow") and _onednn() is not None:
        return lambda: _onednn() or MemoryInUse().start()()
    return MemoryInUse().start()


def _onednn() -> Reading | None:
    """Return the memory that oneDNN's allocator has in use on the CPU; tensors below 256 KiB do not count."""
    try:
        memory_info = sys.modules["tensorflow"].config.experimental.get_memory_info("CPU:0")
    except (ValueError, RuntimeError):  # this build's allocator keeps no statistics
        return None
    return allocator_readings(
        Sentence("tf.config.experimental.get_memory_info('CPU:0')"), int(memory_info["current"])
    )[0]
