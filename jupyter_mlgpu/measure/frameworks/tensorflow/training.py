"""Training and inference with Keras on TensorFlow.

The batch lies on the device, and only the first steps wait for the device. `model.fit` is not used, so that a
step is the same work as with the other frameworks.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

from jupyter_mlgpu.measure.frameworks.base import Device
from jupyter_mlgpu.measure.frameworks.benchmarks import CaseRunner, Option, Set, Training
from jupyter_mlgpu.measure.frameworks.keras.models import build, draw, optimizer, run_on
from jupyter_mlgpu.measure.frameworks.models import Model

OPTIONS: Mapping[str, Option] = {
    "bf16": Option("Keras's policy mixed_bfloat16: layers in bfloat16, weights and optimizer in float32"),
    "fp16": Option("Keras's policy mixed_float16, with loss scaling: for GPUs without bfloat16"),
    "function": Option("the step as a graph (tf.function)"),
    "xla": Option("the graph compiled by XLA (jit_compile=True)", slow_to_start=True),
}

_TYPES = {"bf16": "bfloat16", "fp16": "float16"}


class TensorFlowTraining:
    """A Keras model in training or inference on a device of TensorFlow, such as `/GPU:0`."""

    def __init__(
        self,
        model: Model,
        batch: int,
        options: Collection[str],
        device: str = "/CPU:0",
        training: bool = True,
        rate: float | None = None,
    ) -> None:
        import tensorflow as tf

        self._tf, self._device = tf, device
        self.type_ran = next((kind for one, kind in _TYPES.items() if one in options), "float32")
        self.note: str | None = None
        with tf.device(device):
            self._model = build(model, options)
            self._inputs, self._labels = (tf.constant(one) for one in draw(model, batch))
            self._scaled = "fp16" in options
            self._optimizer = self._make_optimizer(model, rate)
        step = self._train if training else self._infer
        if {"function", "xla"} & set(options):
            step = tf.function(step, jit_compile="xla" in options, autograph=False)
        self._step, self._last = step, None
        self.parameters = sum(math.prod(one.shape) for one in self._model.trainable_variables)

    def run(self, steps: int) -> None:
        """Run `steps` steps; on a GPU they may still be running when this returns."""
        with self._tf.device(self._device):
            for _ in range(steps):
                self._last = self._step()

    def wait(self) -> None:
        """Wait until all steps are done; a device works in order, so this fetches a new number from it."""
        with self._tf.device(self._device):
            (self._tf.zeros(()) + 1.0).numpy()
        if self._last is not None:
            self._tf.reduce_mean(self._last).numpy()

    def loss(self) -> float:
        """Return the loss of the last training step (of inference, the mean of all outputs); synchronizes."""
        return float(self._tf.reduce_mean(self._last))

    def close(self) -> None:
        """Free the memory on the device."""
        self.wait()
        self._model = self._optimizer = self._inputs = self._labels = self._last = None
        del self._step

    def _train(self) -> Any:
        tf = self._tf
        weights = self._model.trainable_variables
        with tf.GradientTape() as tape:
            logits = tf.cast(self._model(self._inputs, training=True), tf.float32)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(self._labels, logits)
            loss = tf.reduce_mean(losses)
            scaled = self._optimizer.scale_loss(loss) if self._scaled else loss
        self._optimizer.apply(tape.gradient(scaled, weights), weights)
        return loss

    def _infer(self) -> Any:
        return self._model(self._inputs, training=False)

    def _make_optimizer(self, model: Model, rate: float | None) -> Any:
        import keras

        found = optimizer(model, rate)
        if self._scaled:
            found = keras.optimizers.LossScaleOptimizer(found)
        found.build(self._model.trainable_variables)
        return found


def _sets(model: Model, kind: str) -> tuple[Set, ...]:
    if kind == "cuda":
        # The published figures of an RTX 3090 use float16 and XLA.
        return ("bf16", "function"), ("fp16", "xla"), ("bf16", "xla")
    if kind == "metal":  # has no XLA, and no bfloat16
        return (), ("function",), ("fp16", "function")
    return (), ("function",), ("xla",)


def _fastest(model: Model, kind: str) -> tuple[Set, ...]:
    if kind == "cuda":
        return ("bf16", "function"), ("bf16", "xla")
    return ("function",), *((("fp16", "function"),) if kind == "metal" else ())


def _start(device: Device, model: Model, batch: int, options: Set, training: bool) -> CaseRunner:
    run_on("tensorflow")
    return TensorFlowTraining(model, batch, options, device.native_name, training)


TRAINING = Training("tensorflow", OPTIONS, _sets, _fastest, _start)
