"""Lesson 06: the backward pass through a layer, tanh, a tape, and layer normalization."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.checking import Answer, Arguments, Exercise


def layer_back(taken: Any, w: Any, d_result: Any) -> Any:
    """Return the gradients with respect to `taken`, `w` and the bias of the layer `taken @ w + b`."""
    d_taken = d_result @ w.T
    d_w = taken.T @ d_result
    d_b = d_result.sum(axis=0)
    return d_taken, d_w, d_b


def tanh_back(hidden: Any, d_hidden: Any) -> Any:
    """Return the gradient with respect to `before`, if hidden = tanh(before)."""
    return (1 - hidden * hidden) * d_hidden


def walk_back(tape: Any, last: Any) -> Any:
    """Return the slope of `last` along every name on a tape of (result, takes, rule)."""
    slopes = {last: 1.0}
    for result, takes, rule in reversed(tape):
        for name, slope in zip(takes, rule(slopes[result]), strict=True):
            slopes[name] = slopes.get(name, 0) + slope
    return slopes


def normalize_back(taken: Any, d_result: Any) -> Any:
    """Return the gradient with respect to `taken`.

    Each row of `taken` became (row - its mean) / its standard deviation.
    """
    spread = taken.std(axis=1, keepdims=True)
    result = (taken - taken.mean(axis=1, keepdims=True)) / spread
    through_mean = d_result.mean(axis=1, keepdims=True)
    through_spread = result * (d_result * result).mean(axis=1, keepdims=True)
    return (d_result - through_mean - through_spread) / spread


class LinearRule:
    """The rule of an operation on numbers, whose slope along each of them is known."""

    def __init__(self, slopes: Sequence[float]) -> None:
        self.slopes = slopes

    def __call__(self, d_result: Any) -> list[Any]:
        return [slope * d_result for slope in self.slopes]


def walk(answer: Answer, arguments: Arguments) -> object:
    """Return what the answer finds on a tape with these operations: (result, takes, slope along each)."""
    operations = arguments["operations"]
    assert isinstance(operations, list)
    tape = [(result, takes, LinearRule(slopes)) for result, takes, slopes in operations]
    return answer(tape, tape[-1][0])


def _fresh_layer(draw: random.Random) -> Arguments:
    rows, wide, out = draw.sample(range(2, 7), 3)
    numbers = np.random.default_rng(draw.getrandbits(32))
    return {
        "taken": numbers.normal(size=(rows, wide)),
        "w": numbers.normal(size=(wide, out)),
        "d_result": numbers.normal(size=(rows, out)),
    }


def _fresh_bend(draw: random.Random) -> Arguments:
    shape = (draw.randint(2, 4), draw.randint(2, 4))
    numbers = np.random.default_rng(draw.getrandbits(32))
    return {"hidden": np.tanh(numbers.normal(size=shape)), "d_hidden": numbers.normal(size=shape)}


def _fresh_operations(draw: random.Random) -> Arguments:
    """Return a tape in which each operation takes the result before it, and `x` is taken again and again."""
    names = ["x", *(f"step{number}" for number in range(1, draw.randint(3, 5)))]
    operations = [
        (result, [before, "x"], [draw.randint(2, 9), draw.randint(2, 9)])
        for before, result in pairwise(names)
    ]
    return {"operations": operations}


def _fresh_rows(draw: random.Random) -> Arguments:
    shape = (draw.randint(2, 4), draw.randint(4, 7))
    numbers = np.random.default_rng(draw.getrandbits(32))
    return {"taken": numbers.normal(3, 2, size=shape), "d_result": numbers.normal(size=shape)}


EXERCISES = (
    Exercise(
        name="layer_back",
        task=say("return d_taken together with the slopes along the weights, d_w, and along the bias, d_b"),
        reference=layer_back,
        # Two rows of data. Each number has its own decimal place.
        example={
            "taken": np.array([[1.0, 10.0, 100.0], [2.0, 20.0, 200.0]]),
            "w": np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]),
            "d_result": np.array([[1.0, 0.0], [1.0, 3.0]]),
        },
        fresh=_fresh_layer,
    ),
    Exercise(
        name="tanh_back",
        task=say("return the slope of the loss along what tanh took"),
        reference=tanh_back,
        # In the middle, halfway to both ends, and at an end.
        example={
            "hidden": np.array([0.0, 0.5, -0.5, 1.0]),
            "d_hidden": np.array([1.0, 10.0, 100.0, 1000.0]),
        },
        fresh=_fresh_bend,
    ),
    Exercise(
        name="walk_back",
        task=say("return the slope of the tape's last result along every name, in a dictionary"),
        reference=walk_back,
        # x is taken twice: x * 10 is a, and a * 2 + x * 5 is b.
        example={"operations": [("a", ["x"], [10]), ("b", ["a", "x"], [2, 5])]},
        fresh=_fresh_operations,
        run=walk,
    ),
    Exercise(
        name="normalize_back",
        task=say("return the slope of the loss along the numbers that were normalized, row by row"),
        reference=normalize_back,
        # The standard deviation is 1 in the first row and 2 in the second; both become [-1, -1, 1, 1].
        example={
            "taken": np.array([[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 4.0, 4.0]]),
            "d_result": np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 8.0]]),
        },
        fresh=_fresh_rows,
    ),
)
