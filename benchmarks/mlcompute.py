"""How long a training step of a static graph takes, beside the same model's in Keras, on the CPU.

    python -m benchmarks.mlcompute

Target: at most 1.3 times Keras's step. Three models (mlcompute_models.py), batches of 32, float32. A pair is
one epoch of 44 steps with each library, right after one another; of Keras's `fit`, the time from the end of
its first step to the end of its last, so that what `fit` does once is not counted against it. Of ours,
likewise, and each step includes handing over the arrays and reading the loss.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks.machine import describe
from benchmarks.mlcompute_models import BATCH, MODELS, Model, batches, digits, shaped
from benchmarks.pairing import interleave, times
from benchmarks.report import as_data, legend, ms, options, quartiles, table, verdict, write
from jupyter_mlgpu.explain.statistics import median_interval

TARGET = 1.3


def main() -> int:
    """Print a line a model; 1 where the target is missed."""
    arguments = options("mlcompute", __doc__ or "", 20).parse_args()
    machine = describe(("jupyter_mlgpu", "tensorflow", "keras", "numpy"))
    rows, verdicts, figures = [["model", "ours", "Keras", "ratio", "interval", "target 1.3"]], [], {}
    for name in MODELS:
        step = stepping(name)
        for on in (False, True) * 2:  # compiling, and the first use of everything
            step(on)
        pairs = interleave(arguments.pairs, step)
        ratios = [pair.ratio for pair in pairs]
        found, middle = median_interval(ratios), quartiles(ratios)
        verdicts.append(verdict(found, TARGET))
        rows.append(
            [
                name,
                ms(quartiles([pair.on for pair in pairs]).median),
                ms(quartiles([pair.off for pair in pairs]).median),
                f"{middle.median:.2f}",
                f"{found.low:.2f} to {found.high:.2f}" if found else "none: too few pairs",
                verdicts[-1],
            ]
        )
        figures[name] = {"ratio": as_data(middle, found), "pairs": times(pairs), "verdict": verdicts[-1]}
    print("; ".join(f"{name} {value}" for name, value in machine.items()))
    print(table(rows))
    print(legend(verdicts))
    if arguments.out:
        write(arguments.out, {"machine": machine, "target_ratio": TARGET, "models": figures})
    return int("missed" in verdicts)


def stepping(name: str) -> Callable[[bool], float]:
    """A function that trains an epoch, with ours or with Keras, and gives the seconds of a step."""
    import keras

    x, y, _, _ = digits(0)
    ours, theirs = shaped(name, x)
    model = MODELS[name](0)

    class Watch(keras.callbacks.Callback):  # type: ignore[misc]
        """The moments at which steps ended."""

        def __init__(self) -> None:
            super().__init__()
            self.ends: list[float] = []

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            self.ends.append(time.perf_counter())

    def seconds(on: bool) -> float:
        if on:
            ends = _ends(model, ours, y)
        else:
            watch = Watch()
            model.keras.fit(theirs, y, BATCH, 1, verbose=0, callbacks=[watch], shuffle=False)
            ends = watch.ends
        return (ends[-1] - ends[0]) / (len(ends) - 1)

    return seconds


def _ends(model: Model, x: Any, y: Any) -> list[float]:
    ends = []
    for some, labels in batches(x, y):
        model.learn(some, labels)
        ends.append(time.perf_counter())
    return ends


if __name__ == "__main__":
    sys.exit(main())
