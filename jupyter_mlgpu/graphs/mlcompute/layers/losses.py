"""The nine losses: one number, or one per prediction, that is small if predictions are near their labels.

If Apple's headers leave the formula open, it is that of `tf.losses` of TensorFlow 1, which has the same names
and arguments (reduction, weights, label_smoothing, epsilon, delta).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from jupyter_mlgpu.graphs.mlcompute.layers.base import Layer, Pass
from jupyter_mlgpu.graphs.mlcompute.names import insist
from jupyter_mlgpu.graphs.mlcompute.ops import Ops, Value
from jupyter_mlgpu.graphs.mlcompute.tensors import FLOATS, Tensor


def _huber(o: Ops, x: Value, z: Value, loss: Loss) -> Value:
    error = o.abs(x - z)
    near = o.minimum(error, loss.delta)
    return 0.5 * near * near + loss.delta * (error - near)


def _log(o: Ops, x: Value, z: Value, loss: Loss) -> Value:
    return -z * o.log(x + loss.epsilon) - (1.0 - z) * o.log(1.0 - x + loss.epsilon)


# x are predictions, z labels. Classes are along dimension 1.
_LOSSES: dict[str, Callable[[Ops, Value, Value, Any], Value]] = {
    "MeanAbsoluteError": lambda o, x, z, loss: o.abs(x - z),
    "MeanSquaredError": lambda o, x, z, loss: (x - z) * (x - z),
    # x are any numbers, whose softmax are the probabilities.
    "SoftmaxCrossEntropy": lambda o, x, z, loss: o.cross_entropy(x, z),
    # x are any numbers, whose sigmoid is the probability: log(1 + e^x) - z x.
    "SigmoidCrossEntropy": lambda o, x, z, loss: o.softplus(x) - z * x,
    # x are probabilities.
    "CategoricalCrossEntropy": lambda o, x, z, loss: -o.sum(z * o.log(x + loss.epsilon), [1]),
    # Labels 0 and 1 stand for -1 and 1.
    "Hinge": lambda o, x, z, loss: o.maximum(1.0 - (2.0 * z - 1.0) * x, 0.0),
    # e^2 / 2 up to delta, from there on a straight line.
    "Huber": _huber,
    # x and z have length 1 along dimension 1.
    "CosineDistance": lambda o, x, z, loss: 1.0 - o.sum(x * z, [1]),
    # x is the probability of 1.
    "Log": _log,
}
_OF_CLASSES = ("SoftmaxCrossEntropy", "CategoricalCrossEntropy", "CosineDistance")
_SMOOTHED = ("SoftmaxCrossEntropy", "CategoricalCrossEntropy", "SigmoidCrossEntropy")


_WORDS = {"loss_type": "MLCLossType", "reduction_type": ("None", "Sum", "Mean")}


class Loss(Layer, sources=(2, 3), takes="any", words=_WORDS, named="{loss_type} loss"):
    """One of MLCLossType, times a weight, and reduced: `mean`, `sum` or `none`.

    Sources are predictions, labels and optionally a weight per loss. Labels have the predictions' shape and
    type; the two cross entropies of classes also take class numbers (Int32 or Int64) without dimension 1.
    Smoothing s makes labels z (1 - s) + s / classes (for the sigmoid one, s / 2).
    """

    loss_type: str
    reduction_type: str = "mean"
    _: KW_ONLY
    weight: float = 1.0
    label_smoothing: float = 0.0
    class_count: int | None = None
    epsilon: float = 1e-7
    delta: float = 1.0

    def verify(self, predictions: Tensor, labels: Tensor, *weights: Tensor) -> None:
        shape, classes, found = predictions.shape, self.loss_type in _OF_CLASSES, predictions.data_type
        insist(found in FLOATS, f"predictions must be floats, and are {found}")
        counted = not classes or (len(shape) > 1 and self.class_count in (None, shape[1]))
        insist(counted, f"it needs {self.class_count or 'the'} classes along dimension 1")
        each = (*shape[:1], *shape[2:]) if classes else shape
        by_number = labels.data_type in ("Int32", "Int64") and self.loss_type in _OF_CLASSES[:2]
        wanted = "labels must have the predictions' shape, or be class numbers without dimension 1"
        insist(labels.shape == (each if by_number else shape), wanted)
        fits = not weights or weights[0].shape in (each, ())
        insist(fits, f"there is one weight for each of the losses, {list(each)}")
        self.limits = {1: shape[1]} if by_number else {}

    def compute(self, run: Pass, x: Value, z: Value, *weights: Value) -> Value:
        ops = run.ops
        if 1 in self.limits:
            places = np.arange(x.shape[1], dtype=z.dtype.name).reshape(1, -1, *[1] * (len(x.shape) - 2))
            numbers = ops.reshape(z, (z.shape[0], 1, *z.shape[1:]))
            z = ops.cast(ops.equal(numbers, ops.constant(places)), np.dtype(x.dtype.name))
        if self.label_smoothing and self.loss_type in _SMOOTHED:
            share = self.label_smoothing / (2 if self.loss_type == "SigmoidCrossEntropy" else x.shape[1])
            z = z * (1.0 - self.label_smoothing) + share
        losses = _LOSSES[self.loss_type](ops, x, z, self) * self.weight
        losses = losses * weights[0] if weights else losses
        axes = range(len(losses.shape))
        if self.reduction_type == "None":
            return losses
        return ops.sum(losses, axes) if self.reduction_type == "Sum" else ops.mean(losses, axes)
