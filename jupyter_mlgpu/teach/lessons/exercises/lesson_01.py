"""Lesson 01: the sum of three tensors, as a graph."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.checking import Answer, Arguments, Exercise


def add_three(x: Any, y: Any, z: Any) -> Any:
    """The sum of three tensors of the same shape."""
    return x + y + z


def _column(*values: float) -> np.ndarray[Any, Any]:
    return np.array(values, np.float32).reshape(-1, 1)


def _fresh(draw: random.Random) -> Arguments:
    rows = draw.randint(2, 6)
    # Never 0: a summand that is left out, or taken twice, must show.
    return {name: _column(*(draw.randint(1, 9) for _ in range(rows))) for name in ("x", "y", "z")}


def run_in_tensorflow(answer: Answer, arguments: Arguments) -> object:
    """What `answer` gives when TensorFlow has made a graph of it; None where it returns None or dots."""
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
        # Each summand has its own decimal place: what is missing shows in the sum.
        example={"x": _column(1, 2, 3), "y": _column(10, 20, 30), "z": _column(100, 200, 300)},
        fresh=_fresh,
        run=run_in_tensorflow,
    ),
)
