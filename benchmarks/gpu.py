"""Measure what CUPTI's records add to a cell, on a machine with an NVIDIA GPU and PyTorch.

Each cell runs with the records and without them, in turn, measured as a notebook's cell is, until its work on
the GPU has ended. Also: what an empty cell takes more, and the memory that the records take.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from benchmarks.report import (
    MIB,
    CannotMeasureError,
    Figure,
    Table,
    add_pairs,
    difference_figure,
    ratio_figure,
)
from benchmarks.statistics import exact, interleave
from jupyter_mlgpu.measure.runtime import Runtime
from jupyter_mlgpu.record.extras import installed

PACKAGES = ("torch",)
#: Empty cells in one measurement, and the seconds between two of them, as in a notebook that is run.
EMPTY, BETWEEN = 20, 0.02
ADDITIONS = "20,000 additions of 64 x 64"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the number of pairs."""
    add_pairs(parser, 13)


def measure(options: argparse.Namespace) -> Iterator[Table]:
    """Measure all cells in this process."""
    if not installed("torch"):
        raise CannotMeasureError("This case needs an NVIDIA GPU and PyTorch; PyTorch is not installed here.")
    import torch

    if not torch.cuda.is_available():
        raise CannotMeasureError("This case needs an NVIDIA GPU, and PyTorch finds none on this machine.")
    runtime = Runtime()
    cells = _cells(torch)
    for cell in cells.values():
        cell()
    torch.cuda.synchronize()
    before = _memory(torch)
    _time_cell(torch, runtime, lambda: None, True)
    _time_cell(torch, runtime, cells[ADDITIONS], True)
    more = [now - then for now, then in zip(_memory(torch), before, strict=True)]
    figures = [
        ratio_figure(name, interleave(options.pairs, partial(_time_cell, torch, runtime, cell), name))
        for name, cell in cells.items()
    ]
    about = torch.cuda.get_device_name()
    yield Table(f"Ratio of cells with records to those without, on {about}", figures)
    empty = interleave(options.pairs, partial(_time_empty, torch, runtime), "empty cell")
    yield Table("Our own work at both ends of an empty cell", [difference_figure("empty cell", empty)])
    runtime.close()
    places = ("the process", "the GPU")
    memory = [Figure(name, size, exact(size), MIB) for name, size in zip(places, more, strict=True)]
    yield Table("Memory that the records take", memory, method="One run.")


def _cells(torch: Any) -> dict[str, Callable[[], object]]:
    """Return the cells by name."""
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
        ADDITIONS: lambda: [x + 1 for _ in range(20_000)],
        "60 products of 8,192 in bfloat16": lambda: [big @ big for _ in range(60)],
        "a CUDA graph of 200 kernels, 100 times": lambda: [graph.replay() for _ in range(100)],
    }


@contextmanager
def _recording(runtime: Runtime, records: bool) -> Iterator[None]:
    """Measure without the records in the block, unless they are wanted."""
    gpu = runtime.recorder.gpu
    if not records:
        runtime.release()
        runtime.recorder.gpu = lambda: None
    yield
    runtime.recorder.gpu = gpu


def _time_cell(torch: Any, runtime: Runtime, cell: Callable[[], object], records: bool) -> float:
    """Return the seconds of the code's second run and its work on the GPU, without our work at both ends."""
    with _recording(runtime, records):
        measurement = runtime.recorder.start("cell", waits=False)
        cell()
        torch.cuda.synchronize()
        begun = time.perf_counter()
        cell()
        torch.cuda.synchronize()
        took = time.perf_counter() - begun
        measurement.stop()
    return took


def _time_empty(torch: Any, runtime: Runtime, records: bool) -> float:
    """Return the median seconds of our own work at both ends of an empty cell."""
    with _recording(runtime, records):
        runtime.recorder.start("before", waits=False).stop()
        torch.cuda.synchronize()
        took = []
        for _ in range(EMPTY):
            time.sleep(BETWEEN)
            begun = time.perf_counter()
            runtime.recorder.start("cell", waits=False).stop()
            took.append(time.perf_counter() - begun)
    return statistics.median(took)


def _memory(torch: Any) -> tuple[int, int]:
    """Return the bytes that this process holds, and that are in use on the GPU."""
    free, total = torch.cuda.mem_get_info()
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE"), total - free
