"""Measure how long a training step of a static graph takes, over the same model's in Keras, on the CPU.

Three models, batches of 32, float32. A pair is one epoch of 44 steps with each library, right after one
another; from the end of its first step to the end of its last, so that what Keras's `fit` does once is not
counted. Each of our steps includes handing over the arrays and reading the loss. Target: 1.3 times as long.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.report import Table, add_pairs, ratio_figure
from benchmarks.statistics import interleave
from tests.support.mlcompute_models import BATCH, MODELS, batches, digits, shaped

PACKAGES = ("jupyter_mlgpu", "tensorflow", "keras", "numpy")
TARGET = 1.3


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the number of pairs."""
    add_pairs(parser, 20)


def measure(options: argparse.Namespace) -> Iterator[Table]:
    """Train each model with both libraries in turn."""
    figures = []
    for name in MODELS:
        step = _stepping(name)
        for on in (False, True) * 2:  # compiling, and the first use of everything
            step(on)
        figures.append(ratio_figure(name, interleave(options.pairs, step, name), TARGET))
    yield Table("A training step: mlcompute (on) over Keras (off)", figures, value="ratio")


def _stepping(name: str) -> Callable[[bool], float]:
    """Return a function that trains an epoch, with ours or with Keras, and returns the seconds of a step."""
    import keras

    x, y, _, _ = digits(0)
    ours, theirs = shaped(name, x)
    model = MODELS[name](0)

    class LiveCounters(keras.callbacks.Callback):  # type: ignore[misc]
        """Notes the moments at which steps ended."""

        def __init__(self) -> None:
            super().__init__()
            self.ends: list[float] = []

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            self.ends.append(time.perf_counter())

    def seconds(on: bool) -> float:
        ends = []
        if on:
            for some, labels in batches(ours, y):
                model.learn(some, labels)
                ends.append(time.perf_counter())
        else:
            watch = LiveCounters()
            model.keras.fit(theirs, y, BATCH, 1, verbose=0, callbacks=[watch], shuffle=False)
            ends = watch.ends
        return (ends[-1] - ends[0]) / (len(ends) - 1)

    return seconds
