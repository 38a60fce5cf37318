"""What CUPTI's records cost a cell, on a machine with a GPU:

    python -m benchmarks.gpu_records [--pairs 13]

Each cell runs with the records and without them, in turn, measured as a notebook's cell is, until its work on
the GPU has ended. Prints JSON: the ratio of the times with an interval, and what an empty cell takes more.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

from benchmarks.pairing import Pair, interleave
from jupyter_mlgpu.explain.statistics import median_interval
from jupyter_mlgpu.measure.runtime import Runtime

#: Empty cells of which one is measured, and the seconds between two of them, as in a notebook that is run.
EMPTY, BETWEEN = 20, 0.02


def cells(torch: Any) -> dict[str, Callable[[], object]]:
    """By name, what is measured."""
    device = "cuda"
    x, big = torch.randn(64, 64, device=device), torch.randn(8192, 8192, device=device, dtype=torch.bfloat16)
    layer = torch.nn.TransformerEncoderLayer(256, 8, 1024, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 4, enable_nested_tensor=False).to(device)
    optimizer = torch.optim.AdamW(model.parameters())
    batch = torch.randn(16, 128, 256, device=device)
    graph = torch.cuda.CUDAGraph()
    torch.relu(x)
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        for _ in range(200):
            torch.relu(x)

    def train() -> None:
        for _ in range(10):
            optimizer.zero_grad()
            model(batch).square().mean().backward()
            optimizer.step()

    return {
        "10 training steps of a Transformer": train,
        "20,000 additions of 64 x 64": lambda: [x + 1 for _ in range(20_000)],
        "60 products of 8,192 in bfloat16": lambda: [big @ big for _ in range(60)],
        "a CUDA graph of 200 kernels, 100 times": lambda: [graph.replay() for _ in range(100)],
    }


def timed(torch: Any, runtime: Runtime, work: Callable[[], object], records: bool) -> float:
    """Seconds that the code and its work on the GPU take the second time, without our work at both ends."""
    gpu = runtime.recorder.gpu
    if not records:
        runtime.release()
        runtime.recorder.gpu = lambda: None
    measurement = runtime.recorder.start("cell", waits=False)
    work()
    torch.cuda.synchronize()
    begun = time.perf_counter()
    work()
    torch.cuda.synchronize()
    took = time.perf_counter() - begun
    measurement.stop()
    runtime.recorder.gpu = gpu
    return took


def empty(torch: Any, runtime: Runtime, records: bool) -> float:
    """Seconds that our own work takes at both ends of an empty cell, the median of some."""
    gpu = runtime.recorder.gpu
    if not records:
        runtime.release()
        runtime.recorder.gpu = lambda: None
    runtime.recorder.start("before", waits=False).stop()
    torch.cuda.synchronize()
    took = []
    for _ in range(EMPTY):
        time.sleep(BETWEEN)
        begun = time.perf_counter()
        runtime.recorder.start("cell", waits=False).stop()
        took.append(time.perf_counter() - begun)
    runtime.recorder.gpu = gpu
    return statistics.median(took)


def memory() -> tuple[int, int]:
    """Bytes that this process keeps, and that are in use on the GPU."""
    import torch

    free, total = torch.cuda.mem_get_info()
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE"), total - free


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--pairs", type=int, default=13)
    pairs = parser.parse_args().pairs
    import torch

    found: dict[str, Any] = {"gpu": torch.cuda.get_device_name(), "pairs": pairs}
    runtime = Runtime()
    work = cells(torch)
    for one in work.values():
        one()
    torch.cuda.synchronize()
    before = memory()
    timed(torch, runtime, lambda: None, True)
    timed(torch, runtime, work["20,000 additions of 64 x 64"], True)
    found["host_mib"], found["gpu_mib"] = (
        round((now - then) / 1024**2, 1) for now, then in zip(memory(), before, strict=True)
    )
    found["cells"] = [
        row(name, interleave(pairs, lambda on, one=one: timed(torch, runtime, one, on)))  # type: ignore[misc]
        for name, one in work.items()
    ]
    more = interleave(pairs, lambda on: empty(torch, runtime, on))
    found["empty_cell_more_us"] = interval([pair.difference * 1e6 for pair in more], 1)
    found["empty_cell_us"] = {
        "without": interval([pair.off * 1e6 for pair in more], 1),
        "with": interval([pair.on * 1e6 for pair in more], 1),
    }
    runtime.close()
    print(json.dumps(found, indent=1))


def row(name: str, pairs: list[Pair]) -> dict[str, object]:
    """A cell's ratio, with its interval, and its time without records."""
    off = sorted(pair.off for pair in pairs)[len(pairs) // 2]
    return {
        "cell": name,
        "ratio": interval([pair.ratio for pair in pairs], 4),
        "off_ms": round(off * 1e3, 2),
    }


def interval(values: list[float], digits: int) -> list[float]:
    """The median with its 95 % interval. Raises ValueError for fewer than 6 values."""
    found = median_interval(values)
    if found is None:
        raise ValueError(f"an interval needs 6 pairs, found {len(values)}")
    return [round(one, digits) for one in (found.value, found.low, found.high)]


if __name__ == "__main__":
    main()
