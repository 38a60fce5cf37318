"""Measure what tracing adds to cells of PyTorch: light tracing, `--ops`, and PyTorch's own profiler.

All conditions share a kernel and run the same cell, in an order drawn anew in each round (from a fixed seed).
Differences are taken within a round. Training cells are calibrated to 0.1 and 1 s, and PyTorch computes with
one thread, because threads that wait for each other hide what tracing adds. No time includes reading the
profile: with `--ops` that comes after the reply.

Targets: light tracing adds at most 3 ms and 1.5 % of the bare cell; `--ops` takes at most 1.05 times as long
as PyTorch's profiler.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from statistics import median

from benchmarks.kernel import KERNEL_PACKAGES, LOAD, Kernel, running_kernel
from benchmarks.report import CannotMeasureError, Table, add_pairs, difference_figure, ratio_figure
from benchmarks.statistics import Pair, calibrate

PACKAGES = (*KERNEL_PACKAGES, "torch")
#: Light tracing may add this many seconds to a cell, and this part of the cell's own time.
TARGET_FIXED, TARGET_SHARE = 0.003, 0.015
#: `--ops` may take so many times as long as the framework's own profiler.
TARGET_OPS = 1.05
#: Seconds of training cells without tracing.
LENGTHS = (0.1, 1.0)
#: Rounds before the first one that counts.
WARM_UP = 2
SEED = 0
_ENVIRONMENT = {"KINETO_LOG_LEVEL": "99", "OMP_NUM_THREADS": "1"}

#: Layers of 4096 in batches of 4096 keep a GPU busy; the small steps wait for Python.
_SETUP = """
import torch

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"

def make_step(rows, width):
    x, y = torch.randn(rows, width, device=device), torch.randint(0, 10, (rows,), device=device)
    layers = torch.nn.Linear(width, width), torch.nn.ReLU(), torch.nn.Linear(width, 10)
    model = torch.nn.Sequential(*layers).to(device)
    optimizer = torch.optim.Adam(model.parameters())

    def step():
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step

activities = [torch.profiler.ProfilerActivity.CPU]
if device == "cuda":
    activities.append(torch.profiler.ProfilerActivity.CUDA)
"""
#: Cells of training by name: the rows and the width of its batches.
TRAINING = {"training steps": (64, 256), "large training steps on the GPU": (4096, 4096)}


@dataclass(frozen=True, slots=True)
class Condition:
    """How a cell is run: `before` is an untimed cell, `code` the timed one around `{cell}`."""

    before: str
    code: str = "{cell}"


BARE, LIGHT, OPS, PROFILER = "bare", "light tracing", "--ops", "PyTorch's profiler"
CONDITIONS = {
    BARE: Condition("%mlc_trace off"),
    LIGHT: Condition("%mlc_trace on"),
    OPS: Condition("%mlc_trace on", "%%mlc_trace --ops\n{cell}"),
    PROFILER: Condition(
        # The last profile is deleted before, because that takes a while.
        "profiler = None\n%mlc_trace off",
        "profiler = torch.profiler.profile(activities=activities)\nprofiler.start()\n{cell}\nprofiler.stop()",
    ),
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the number of rounds."""
    add_pairs(parser, 60, "rounds")


def measure(options: argparse.Namespace) -> Iterator[Table]:
    """Measure an empty cell and the training cells."""
    if find_spec("torch") is None:
        raise CannotMeasureError("This case needs PyTorch, which is not installed in this Python.")
    with running_kernel(_ENVIRONMENT) as kernel:
        kernel.run(_SETUP)
        kernel.run(LOAD)
        yield table("empty cell", _take_rounds(kernel, "pass", options.pairs))
        on_gpu = kernel.value("device == 'cuda'")
        for name, (rows, width) in TRAINING.items():
            if width > 256 and not on_gpu:
                continue
            kernel.run(f"step = make_step({rows}, {width})")
            for length in LENGTHS:
                steps = calibrate(
                    lambda count: _time_cell(kernel, CONDITIONS[BARE], _training(count)), length
                )
                yield table(f"{name}, {steps:,}", _take_rounds(kernel, _training(steps), options.pairs))


def _training(steps: int) -> str:
    return f"for _ in range({steps}): loss = step()\nloss = loss.item()"


def _take_rounds(kernel: Kernel, cell: str, rounds: int) -> dict[str, list[float]]:
    """Return the seconds of the cell in each round, by condition."""
    times: dict[str, list[float]] = {name: [] for name in CONDITIONS}
    order = random.Random(SEED)
    for number in range(WARM_UP + rounds):
        for name in order.sample(list(CONDITIONS), len(CONDITIONS)):
            seconds = _time_cell(kernel, CONDITIONS[name], cell)
            if number >= WARM_UP:
                times[name].append(seconds)
        print(".", end="", flush=True, file=sys.stderr)
    print(file=sys.stderr)
    return times


def _time_cell(kernel: Kernel, condition: Condition, cell: str) -> float:
    kernel.run(condition.before)
    kernel.settle()
    return kernel.run(condition.code.format(cell=cell))


def table(title: str, times: Mapping[str, Sequence[float]]) -> Table:
    """Compare each condition with the bare cell."""
    bare = times[BARE]
    target = TARGET_FIXED + TARGET_SHARE * median(bare)
    figures = [
        difference_figure(
            name,
            [Pair(off, on) for off, on in zip(bare, seconds, strict=True)],
            target if name == LIGHT else None,
        )
        for name, seconds in times.items()
        if name != BARE
    ]
    pairs = [Pair(own, ours) for own, ours in zip(times[PROFILER], times[OPS], strict=True)]
    figures.append(ratio_figure(f"{OPS} over {PROFILER}", pairs, TARGET_OPS))
    return Table(f"Added to a cell of PyTorch: {title}", figures)
