"""500 short cells on a real CUDA GPU, with graphs, profilers, interrupts and restarts: nothing is kept."""

from __future__ import annotations

import gc
import json
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from jupyter_mlgpu.measure.runtime import Runtime
from tests.support.kernels import Notebook
from tests.support.waiting import until

CELLS, SETTLED = 500, 100
MIB = 1024**2


def kept(torch):
    """What this process holds: MiB, descriptors and threads, and MiB of the GPU that are in use."""
    gc.collect()
    torch.cuda.synchronize()
    free, total = torch.cuda.mem_get_info()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return {
        "host_mib": pages * os.sysconf("SC_PAGE_SIZE") / MIB,
        "descriptors": len(os.listdir("/proc/self/fd")),
        "threads": threading.active_count(),
        "gpu_mib": (total - free) / MIB,
    }


@pytest.mark.slow
def test_500_cells_keep_nothing(torch):
    from torch.profiler import ProfilerActivity, profile

    x, big = torch.randn(64, 64, device="cuda"), torch.randn(2048, 2048, device="cuda", dtype=torch.bfloat16)
    graph = torch.cuda.CUDAGraph()
    torch.relu(x)
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        for _ in range(20):
            torch.relu(x)

    def profiled():
        with profile(activities=[ProfilerActivity.CUDA]):
            for _ in range(100):
                x + 1
            torch.cuda.synchronize()

    def interrupted():
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        try:
            while True:
                x + 1
        except KeyboardInterrupt:
            return

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    kinds = [
        ("additions", lambda: [x + 1 for _ in range(200)]),
        ("products that go on", lambda: [big @ big for _ in range(200)]),
        ("graphs", lambda: [graph.replay() for _ in range(20)]),
        ("nothing", lambda: None),
        ("copies", lambda: [x.cpu() for _ in range(20)]),
    ]
    runtime = Runtime()
    told, done, figures = [], threading.Semaphore(0), {}
    try:
        for number in range(CELLS):
            name, work = kinds[number % len(kinds)]
            if number % 25 == 24:
                name, work = "a profiler", profiled
            elif number % 30 == 29:
                name, work = "an interrupt", interrupted
            if number % 60 == 59:
                runtime.release()  # as `%mlc_trace off` does; the next cell switches the records on again
            measured = runtime.recorder.start("cell", waits=False)
            work()
            record = measured.stop()
            if record.unfinished:

                def tell(found, name=name, record=record):
                    told.append((name, record.with_gpu(found)))
                    done.release()

                measured.when_gpu_done(tell)
            else:
                told.append((name, record))
                done.release()
            if number in (SETTLED - 1, CELLS - 1):
                time.sleep(0.5)
                figures[number + 1] = kept(torch)
        for _ in range(CELLS):
            assert done.acquire(timeout=30)
    finally:
        signal.signal(signal.SIGALRM, before)
        runtime.close()
    unknown = {}
    for name, record in told:
        if record.reading("device_time").value is None:
            why = str(record.reading("device_time").why_missing)
            unknown.setdefault(why, []).append(name)
    print(json.dumps({**figures, "unknown": {why: len(names) for why, names in unknown.items()}}, indent=1))
    first, last = figures[SETTLED], figures[CELLS]
    assert last["host_mib"] < first["host_mib"] + 8
    assert last["descriptors"] <= first["descriptors"]
    assert last["threads"] <= first["threads"]
    assert last["gpu_mib"] <= first["gpu_mib"] + 1
    # All but those of a profiler, or that one has cut short, and the first, which switches the records on.
    assert len(told) - sum(map(len, unknown.values())) >= CELLS * 0.9


def test_cells_that_begin_at_once_after_each_other_have_all_their_launches(torch, tmp_path):
    notebook = Notebook(tmp_path, {})
    notebook.connect()
    notebook.run("%load_ext jupyter_mlgpu\nimport torch\nx = torch.ones(64, 64, device='cuda')")
    for _ in range(4):
        notebook.run("for _ in range(40_000):\n    x.add_(1)\ntorch.cuda.synchronize()")
    prepare = "import jupyter_mlgpu"
    until(lambda: notebook.evaluate("sum(one.unfinished for one in jupyter_mlgpu.records())", prepare) == 0)
    launches = "[work.launches for one in jupyter_mlgpu.records() for work in one.gpu_work]"
    assert notebook.evaluate(launches, prepare) == [40_000] * 4
    notebook.close()
