"""Measure training of four models, compared with an independent script that runs torch.compile in bfloat16.

    python -m benchmarks training                     # needs an NVIDIA GPU
    python -m benchmarks training --tiny --pairs 2    # small models, to see on any machine that it runs

`torch_reference` has the four models written again plainly. Our path and the reference take turns in one
process, eight turns in each repeat, so that a processor that gets slower does so for both. A tie is a ratio
of speeds whose interval lies above 0.98.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Iterator
from typing import Protocol

from benchmarks.report import RATIO, CannotMeasureError, Figure, Table, add_pairs
from benchmarks.statistics import MOST_REPEATS, speed_ratio, speed_verdict
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.models import MODELS, Model, tiny
from jupyter_mlgpu.record.extras import installed

PACKAGES = ("torch", "triton", "numpy")

#: Batches of the published measurements.
BATCHES = {"resnet50": 128, "mobilenetv2": 128, "distilbert": 64, "bert-large": 16}
TINY_BATCH = 4
#: Our options by path. LAYOUT stands for the layout of images, or the attention of text.
PATHS = {
    "eager": (),
    "tf32": ("tf32",),
    "bf16": ("bf16",),
    "layout": ("bf16", "LAYOUT"),
    "fused": ("bf16", "LAYOUT", "fused"),
    "fused_graphs": ("bf16", "LAYOUT", "fused", "cuda_graphs"),
    "layers": ("bf16", "LAYOUT", "fused", "compile_layers", "cuda_graphs"),
    "bf16_fused": ("bf16_weights", "LAYOUT", "fused"),
    "compile": ("LAYOUT", "bf16", "fused", "compile"),
    "cuda_graphs": ("LAYOUT", "bf16", "fused", "compile", "cuda_graphs"),
    "bf16_weights": ("LAYOUT", "bf16_weights", "fused", "compile", "cuda_graphs"),
    "max_autotune": ("LAYOUT", "bf16", "fused", "max_autotune", "cuda_graphs"),
}
#: The paths that `bench --quick` tries.
FASTEST = ("fused_graphs", "layers", "cuda_graphs")
#: Seconds of one repeat, and turns of each program in it.
REPEAT, TURNS = 0.8, 8
METHOD = (
    "Ratio of our speed to the reference's: geometric mean over repeats; 95 % interval of Student's t on the "
    "logarithms. Ties: the interval lies above 0.98."
)


class Training(Protocol):
    """A model in training, to be run a number of steps at a time."""

    def run(self, steps: int) -> None: ...
    def wait(self) -> None: ...


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the models and paths, and how often they train."""
    add = parser.add_argument
    add("--model", action="append", choices=MODELS, help="may be given again (default: all)")
    add("--path", action="append", choices=PATHS, help=f"may be given again (default: {', '.join(FASTEST)})")
    add("--tiny", action="store_true", help="small models, on the CPU if there is no GPU")
    add_pairs(parser, 5, f"repeats, 2 to {MOST_REPEATS}")


def measure(options: argparse.Namespace) -> Iterator[Table]:
    """Train each model by each path."""
    if not 2 <= options.pairs <= MOST_REPEATS:
        raise CannotMeasureError(f"--pairs must be 2 to {MOST_REPEATS}, found {options.pairs}.")
    if not installed("torch"):
        raise CannotMeasureError("This case needs PyTorch, which is not installed in this Python.")
    import torch

    from benchmarks.torch_reference import Reference

    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu" and not options.tiny:
        raise CannotMeasureError(
            "This case needs an NVIDIA GPU, and PyTorch finds none; --tiny runs anywhere."
        )
    about = torch.cuda.get_device_name() if device == "cuda" else "the CPU"
    for name in options.model or MODELS:
        model = tiny(MODELS[name]) if options.tiny else MODELS[name]
        batch = TINY_BATCH if options.tiny else BATCHES[name]
        reference = Reference(name, batch, device, options.tiny)
        warm_up(reference)
        print(f"{name}: the reference is ready", file=sys.stderr, flush=True)
        figures, notes = [], []
        for path in options.path or FASTEST:
            why = registry.training("torch").why_not(model, _chosen(path, model), device, True)
            if why is None:
                figures.append(_measure_path(path, model, reference, options.pairs, batch, device))
            else:
                notes.append(f"{path} was not measured: {why}")
        yield Table(f"{name}, batch {batch}, on {about}", figures, notes, METHOD)


def _chosen(path: str, model: Model) -> tuple[str, ...]:
    layout = "channels_last" if model.kind == "image" else "flash"
    return tuple(layout if one == "LAYOUT" else one for one in PATHS[path])


def _measure_path(
    path: str, model: Model, reference: Training, repeats: int, batch: int, device: str
) -> Figure:
    from jupyter_mlgpu.measure.frameworks.torch.training import TorchTraining

    ours = TorchTraining(model, batch, _chosen(path, model), device, True)
    try:
        warm_up(ours)
        steps = max(2, round(REPEAT / step_seconds(reference, 2) / TURNS))
        sides = take_turns(reference, ours, steps, repeats)
    finally:
        ours.close()
    found = speed_ratio(*sides)
    speeds = [f"{batch / statistics.median(one):,.0f}/s" for one in sides]
    columns = {"reference": speeds[0], "ours": speeds[1]}
    return Figure(path, found.value, found, RATIO, None, columns, speed_verdict(found))


def take_turns(
    reference: Training, ours: Training, steps: int, repeats: int, turns: int = TURNS
) -> tuple[list[float], list[float]]:
    """Return the seconds of a step of both in each repeat, in which each has several turns of `steps`.

    The one that begins alternates from turn to turn.
    """
    sides: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        of_turns: tuple[list[float], list[float]] = ([], [])
        for turn in range(turns):
            both = ((reference, of_turns[0]), (ours, of_turns[1]))
            for one, times in both if turn % 2 == 0 else both[::-1]:
                times.append(step_seconds(one, steps))
        for side, times in zip(sides, of_turns, strict=True):
            side.append(statistics.fmean(times))
    return sides


def warm_up(training: Training, most: int = 8) -> None:
    """Compile, then run up to `most` blocks of 5 steps until two take the same within 2 %."""
    training.run(2)
    training.wait()
    before = step_seconds(training, 5)
    for _ in range(most):
        now = step_seconds(training, 5)
        if abs(now - before) <= 0.02 * before:
            return
        before = now


def step_seconds(training: Training, steps: int) -> float:
    """Return the seconds of a step, over `steps`, with the device idle before and after."""
    training.wait()
    begun = time.perf_counter()
    training.run(steps)
    training.wait()
    return (time.perf_counter() - begun) / steps
