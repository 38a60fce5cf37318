"""The lessons' exercises, with their reference answers, and `check`, which finds them by name."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from jupyter_mlgpu.errors import UsageError
from jupyter_mlgpu.lessons.checking import Answer, Exercise, Inputs, Numbers, Verdict, judge


def _add_three(x: Any, y: Any, z: Any) -> Any:
    return x + y + z


def _columns(rows: int, draw: random.Random) -> Inputs:
    # Never 0: a summand that is left out, or taken twice, must show.
    return {name: _column(*(draw.randint(1, 9) for _ in range(rows))) for name in ("x", "y", "z")}


def _column(*values: float) -> Numbers:
    return Numbers((len(values), 1), values)


def run_in_tensorflow(answer: Answer, inputs: Inputs) -> Numbers | None:
    """What `answer` gives when TensorFlow has made a graph of it; None where it returns None or dots."""
    import tensorflow as tf

    tensors = [tf.reshape(tf.constant(one.values, tf.float32), one.shape) for one in inputs.values()]
    at_once = answer(*tensors)
    if at_once is None or at_once is ...:
        return None
    result = tf.function(answer).get_concrete_function(*tensors)(*tensors).numpy()
    return Numbers(result.shape, tuple(result.ravel().tolist()))


_LESSON_01 = Exercise(
    name="add_three",
    task="return the sum of x, y and z",
    reference=_add_three,
    # Each summand has its own decimal place: what is missing shows in the sum.
    example={"x": _column(1, 2, 3), "y": _column(10, 20, 30), "z": _column(100, 200, 300)},
    fresh=lambda draw: _columns(draw.randint(2, 6), draw),
    run=run_in_tensorflow,
)

#: Each exercise by its name, which is that of the function a learner writes.
EXERCISES: Mapping[str, Exercise] = {one.name: one for one in (_LESSON_01,)}


def check(name: str, answer: Answer) -> Verdict:
    """Try a learner's answer to the exercise `name`. Raises UsageError where there is no such exercise."""
    if name not in EXERCISES:
        raise UsageError(f"There is no exercise {name!r}. Write one of these: {', '.join(EXERCISES)}.")
    return judge(EXERCISES[name], answer)
