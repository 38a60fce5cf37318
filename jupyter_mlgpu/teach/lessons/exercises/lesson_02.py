"""Lesson 02: the sum of three tensors as a graph, and a sum in as few rounds as possible."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.checking import Answer, Arguments, Exercise


def add_three(x: Any, y: Any, z: Any) -> Any:
    """Return the sum of three tensors of the same shape."""
    return x + y + z


def add_in_halves(numbers: Sequence[int]) -> tuple[int, int]:
    """Return the sum of the numbers, and the number of rounds of additions it takes."""
    if len(numbers) == 1:
        return numbers[0], 0
    half = len(numbers) // 2
    left, rounds_left = add_in_halves(numbers[:half])
    right, rounds_right = add_in_halves(numbers[half:])
    return left + right, 1 + max(rounds_left, rounds_right)


def _column(*values: float) -> np.ndarray[Any, Any]:
    return np.array(values, np.float32).reshape(-1, 1)


def _fresh(draw: random.Random) -> Arguments:
    rows = draw.randint(2, 6)
    # Never 0, so that a summand left out or added twice changes the sum.
    return {name: _column(*(draw.randint(1, 9) for _ in range(rows))) for name in ("x", "y", "z")}


def _fresh_numbers(draw: random.Random) -> Arguments:
    # At least five numbers: for one or two, rounds one after the other are as many.
    return {"numbers": [draw.randint(1, 99) for _ in range(draw.randint(5, 20))]}


def run_in_tensorflow(answer: Answer, arguments: Arguments) -> object:
    """Call `answer` in a graph of TensorFlow; return None if it returns None or dots."""
    import tensorflow as tf

    tensors = [tf.constant(one) for one in arguments.values()]
    at_once = answer(*tensors)
    if at_once is None or at_once is ...:
        return None
    return tf.function(answer).get_concrete_function(*tensors)(*tensors)


EXERCISES = (
    Exercise(
        name="add_three",
        task=say("return the sum of x, y and z"),
        reference=add_three,
        # Each summand has its own decimal place, so the sum shows which one is missing.
        example={"x": _column(1, 2, 3), "y": _column(10, 20, 30), "z": _column(100, 200, 300)},
        fresh=_fresh,
        run=run_in_tensorflow,
    ),
    Exercise(
        name="add_in_halves",
        task=say("return the sum of the numbers together with the rounds that it takes"),
        reference=add_in_halves,
        # Each number has its own decimal place; 4 additions, in 3 rounds.
        example={"numbers": [1, 10, 100, 1000, 10000]},
        fresh=_fresh_numbers,
    ),
)
