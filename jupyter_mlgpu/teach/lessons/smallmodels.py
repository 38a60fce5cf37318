"""Plumbing of lesson 16: published measurements, timings, and tuning in Keras.

The GPT of 84 million weights is in `mlxgpt` and in `torchgpt`. Its weights are random: speed and memory do
not depend on what they are. Its matrices have the proportions of lesson 15's GPT.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.teach.lessons import gpt

#: The size of the large GPT: tokens in its vocabulary, numbers of a token's vector, heads, and blocks.
VOCABULARY, WIDTH, HEADS, BLOCKS = 8192, 1024, 16, 6

#: Published measurements, read on 2026-11-29: chip, model, its weights in billions, GB/s by Apple's data
#: sheet, and tokens a second in 16, 8 and 4 bits. Llama 2: https://github.com/ggml-org/llama.cpp/discussions/4167.
#: Qwen3: https://github.com/ml-explore/mlx-lm/blob/main/mlx_lm/BENCHMARKS.md, after a prompt of 2,048 tokens.
PUBLISHED = (
    ("M4, 10 GPU cores", "Llama 2 7B", 6.74, 120, 7.43, 13.54, 24.11),
    ("M1 Max, 32 GPU cores", "Llama 2 7B", 6.74, 400, 23.03, 40.20, 61.19),
    ("M4 Max, 40 GPU cores", "Llama 2 7B", 6.74, 546, 31.64, 54.05, 83.06),
    ("M2 Ultra, 76 GPU cores", "Llama 2 7B", 6.74, 800, 41.02, 66.64, 94.27),
    ("M4 Max, 40 GPU cores", "Qwen3 4B", 4.02, 546, 52.0, 87.0, 135.0),
)


def milliseconds(
    work: Callable[[], object],
    runs: int = 5,
    pick: Callable[[Sequence[float]], float] = statistics.median,
) -> float:
    """Return the median of so many runs in milliseconds, or another pick, after a run that is not counted."""
    work()
    taken = []
    for _ in range(runs):
        start = real_time.perf_counter()
        work()
        taken.append(1000 * (real_time.perf_counter() - start))
    return pick(taken)


def loss_of(model: Any, rows: Any) -> float:
    """Return the mean loss of a Keras model over all next tokens of the rows."""
    from keras import losses, ops

    scores = model.predict(rows[:, :-1], verbose=0)
    every = losses.sparse_categorical_crossentropy(rows[:, 1:], scores, from_logits=True)
    return float(ops.mean(every))


def tune(
    model: Any, rows: Any, tests: Mapping[str, Any], rate: float, at: Sequence[int] = (0, 50, 100)
) -> dict[str, list[float]]:
    """Train the trainable weights of a Keras model; return the losses of all tests after the steps of `at`.

    The batches are `gpt.BATCH` rows each, the optimizer is Adam with gradients of at most length 1.
    """
    import keras

    crossentropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(rate, global_clipnorm=1.0), crossentropy)
    data = gpt.training_data(rows, lambda some: (some[:, :-1], some[:, 1:]), at[-1])
    losses = {name: [loss_of(model, test)] for name, test in tests.items()}
    for start, end in pairwise(at):
        part = slice(start * gpt.BATCH, end * gpt.BATCH)
        model.fit(data["x"][part], data["y"][part], batch_size=gpt.BATCH, shuffle=False, verbose=0)
        for name, test in tests.items():
            losses[name].append(loss_of(model, test))
    return losses


def compared(weights: str, size: float, rate: float, ms: float) -> dict[str, object]:
    """Return a row of a table: `size` in bytes, GB/s of one product in that type, and ms for a token."""
    return {
        "weights": weights,
        "MB": round(size / 1e6),
        "GB/s of one product": round(rate, 1),
        "tokens/s predicted": round(rate * 1e9 / size, 1),
        "tokens/s measured": round(1000 / ms, 1),
    }
