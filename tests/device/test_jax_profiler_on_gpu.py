"""`jax.profiler` in our cells sees on a real CUDA GPU what it sees without us. In a process of its own.

PyTorch's profiler keeps CUPTI once it has had it, so it must not have been used before.
"""

from __future__ import annotations

import gzip
import json

from jupyter_mlgpu.measure.gpu.activity_switch import PROFILER
from jupyter_mlgpu.measure.runtime import Runtime


def kernels(folder):
    """Names and durations in microseconds on the GPU's streams, from the Chrome trace that JAX writes."""
    (file,) = folder.rglob("*.trace.json.gz")
    events = json.loads(gzip.decompress(file.read_bytes()))["traceEvents"]
    named = {"process_name": {}, "thread_name": {}}
    for event in events:
        if event.get("name") in named:
            named[event["name"]][event["pid"], event.get("tid")] = event["args"]["name"]
    gpus = {pid for (pid, _), name in named["process_name"].items() if "GPU" in name}
    streams = {
        key for key, name in named["thread_name"].items() if key[0] in gpus and name.startswith("Stream #")
    }
    return [
        (event["name"], event["dur"])
        for event in events
        if event.get("ph") == "X" and (event["pid"], event["tid"]) in streams
    ]


def test_jaxs_profiler_sees_the_same_in_our_cell_as_without_us(jax, tmp_path):
    import jax.numpy as jnp

    x = jnp.ones((64, 64))
    add = jax.jit(lambda one: one + 1)
    seen, records = [], []

    def work():
        jax.block_until_ready([add(x) for _ in range(2_000)])

    def profiled():
        folder = tmp_path / str(len(seen))
        with jax.profiler.trace(str(folder)):
            work()
        found = kernels(folder)
        seen.append((len(found), sum(duration for _, duration in found)))

    work()
    profiled()
    runtime = Runtime()
    runtime.recorder.patient = True
    try:
        for cell, waits in ((work, True), (profiled, True), (work, False), (profiled, False), (work, False)):
            measurement = runtime.recorder.start("cell", waits=waits)
            cell()
            records.append(measurement.stop())
    finally:
        runtime.close()
    profiled()
    print(seen)
    assert [count for count, _ in seen] == [2_000] * 4
    assert max(time for _, time in seen) < 1.02 * min(time for _, time in seen)
    said = [one.reading("device_time").why_missing for one in records]
    assert said == [None, PROFILER, None, PROFILER, None]
    assert [one.gpu_work[0].launches for one in records[::2]] == [2_000] * 3
