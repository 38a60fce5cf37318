"""The cells whose cost is measured: one that does nothing, and three of about 100 ms with TensorFlow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

#: How long a calibrated cell should take, in seconds.
LENGTH = 0.100

#: Run once, before anything is measured. Sizes are those of a first lesson; `steps` stands in a cell's
#: text, so each cell is compiled by IPython as a student's is.
SETUP = """
import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
x = tf.random.normal((32 * 2_000, 64))
y = tf.random.uniform((32 * 2_000,), 0, 10, tf.int32)
model = keras.Sequential([keras.Input((64,)), keras.layers.Dense(32, "relu"), keras.layers.Dense(10)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
a = tf.random.normal((64, 64))
b = tf.Variable(tf.random.normal((64, 64)))

@tf.function
def graph_step(value):
    return tf.nn.relu(value @ b)

def eager_step(value):
    return tf.nn.relu(value @ b)
"""


@dataclass(frozen=True, slots=True)
class Workload:
    """A cell; where its length can be chosen, `{steps}` in its code says how often it does its work."""

    name: str
    code: str

    @property
    def adjustable(self) -> bool:
        """Whether its length can be chosen."""
        return "{steps}" in self.code

    def cell(self, steps: int) -> str:
        """The code of the cell."""
        return self.code.format(steps=steps)


WORKLOADS = (
    Workload("empty cell", "pass"),
    Workload("Keras fit", "model.fit(x[:32 * {steps}], y[:32 * {steps}], batch_size=32, verbose=0);"),
    Workload("tf.function loop", "for _ in range({steps}): result = graph_step(a)"),
    Workload("eager loop", "for _ in range({steps}): result = eager_step(a)"),
)


def calibrate(measure: Callable[[int], float], length: float = LENGTH, rounds: int = 15) -> int:
    """The number of steps that takes about `length` seconds, as `measure(steps)` tells.

    Each round takes the faster of two runs, for other programs only ever make a run longer, and scales
    the last number by how far off it was, at most tenfold. That closes in also where a cell has a fixed
    cost besides its steps.
    """
    steps = 1
    for _ in range(rounds):
        seconds = min(measure(steps), measure(steps))
        better = max(1, round(steps * min(10.0, length / seconds)))
        if abs(better - steps) <= 0.02 * steps:
            break
        steps = better
    return steps
