"""Lesson 16: bytes of a model, scales of rows, two weights in a byte, LoRA, and a scale with less error."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.checking import Arguments, Exercise


def model_bytes(parameters: float, bits: float, group: int) -> float:
    """Return the bytes of so many weights, with a scale of 16 bits for each group of weights."""
    return parameters * (bits + 16 / group) / 8


def quantize(weights: Any, largest: int) -> tuple[Any, Any]:
    """Return whole numbers from -largest to largest, and the scale of each row: `[..., n]`, `[..., 1]`."""
    scale = np.abs(weights).max(axis=-1, keepdims=True) / largest
    return np.rint(weights / scale), scale


def unpack(packed: Any) -> Any:
    """Return the two numbers from -8 to 7 in each byte, the lower four bits first: `[n]` to `[2 * n]`."""
    low, high = packed & 15, packed >> 4
    return np.stack([low, high], axis=-1).reshape(-1).astype("int8") - 8


def adapted(x: Any, w: Any, a: Any, b: Any) -> Any:
    """Return the product of x with w + a b, without ever making a matrix of the size of w."""
    return x @ w + (x @ a) @ b


def best_scale(row: Any, largest: int, shares: Sequence[float]) -> float:
    """Return the share of the usual scale with the smallest squared error of the row."""

    def error(share: float) -> float:
        scale = share * np.abs(row).max() / largest
        numbers = np.clip(np.rint(row / scale), -largest, largest)
        return float(((numbers * scale - row) ** 2).sum())

    return min(shares, key=error)


def _numbers(draw: random.Random, *shape: int) -> Any:
    return np.random.default_rng(draw.getrandbits(32)).normal(size=shape)


def _fresh_weights(draw: random.Random) -> Arguments:
    rows = _numbers(draw, 3, 4)
    # The largest of each row in size is negative, and rows differ in size.
    rows[:, draw.randrange(4)] = [-3.0, -8.0, -20.0]
    return {"weights": rows, "largest": draw.choice([7, 127])}


def _fresh_bytes(draw: random.Random) -> Arguments:
    return {"packed": np.array([draw.randrange(256) for _ in range(draw.randint(3, 5))], "uint8")}


def _fresh_adapter(draw: random.Random) -> Arguments:
    rows, inputs, outputs, rank = 2, draw.randint(4, 6), draw.randint(3, 5), 2
    shapes = {"x": (rows, inputs), "w": (inputs, outputs), "a": (inputs, rank), "b": (rank, outputs)}
    return {name: _numbers(draw, *shape) for name, shape in shapes.items()}


def _fresh_row(draw: random.Random) -> Arguments:
    row = _numbers(draw, 64)
    row[draw.randrange(64)] = draw.choice([4.0, 5.0, 6.0])
    # With a fifth of the scale most weights no longer fit, so it is never the best.
    return {"row": row, "largest": 7, "shares": [1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.2]}


EXERCISES = (
    Exercise(
        name="model_bytes",
        task=say("return the bytes of the weights together with those of their scales"),
        reference=model_bytes,
        # 640 weights of half a byte are 320 bytes, 20 scales of 2 bytes are 40.
        example={"parameters": 640, "bits": 4, "group": 32},
        fresh=lambda draw: {
            "parameters": 64 * draw.randint(5, 500),
            "bits": draw.choice([2, 4, 8]),
            "group": draw.choice([16, 32, 64]),
        },
    ),
    Exercise(
        name="quantize",
        task=say("give each row the scale that makes its largest number, in size, `largest`"),
        reference=quantize,
        example={"weights": np.array([[1.0, -2.0, 7.0], [10.0, -70.0, 31.0]]), "largest": 7},
        fresh=_fresh_weights,
    ),
    Exercise(
        name="unpack",
        task=say("return the two numbers of each byte, the one in the lower four bits first, less 8 each"),
        reference=unpack,
        # 0x9F: 15 - 8 = 7 below, 9 - 8 = 1 above. 0x81: -7 below, 0 above.
        example={"packed": np.array([0x9F, 0x81], "uint8")},
        fresh=_fresh_bytes,
    ),
    Exercise(
        name="adapted",
        task=say("return x times w, plus what the two small matrices add to it"),
        reference=adapted,
        example={
            "x": np.array([[1.0, 2.0]]),
            "w": np.array([[100.0, 200.0], [300.0, 400.0]]),
            "a": np.array([[1.0], [3.0]]),
            "b": np.array([[1.0, 2.0]]),
        },
        fresh=_fresh_adapter,
    ),
    Exercise(
        name="best_scale",
        task=say("return the share of the usual scale with which the squared errors add up to least"),
        reference=best_scale,
        # With a third of the scale, the 9 becomes 3 and costs 36, and all others are exact.
        example={"row": np.array([9.0, *[1.0] * 60]), "largest": 3, "shares": [1.0, 2 / 3, 1 / 3]},
        fresh=_fresh_row,
    ),
)
