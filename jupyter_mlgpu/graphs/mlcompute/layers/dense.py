"""Matrix products: fully connected, matmul, Gram matrix; and the embedding, which picks rows of a matrix."""

from __future__ import annotations

import math

from jupyter_mlgpu.graphs.mlcompute.layers.base import PICTURE, Layer, Pass
from jupyter_mlgpu.graphs.mlcompute.ops import Ops, Value
from jupyter_mlgpu.graphs.mlcompute.tensors import Tensor


def linear(ops: Ops, x: Value, matrix: Value, biases: Value | None = None) -> Value:
    """Return x W^T + b over the last axis, with W [outputs, inputs]: all rows in one product."""
    rows = ops.reshape(x, (math.prod(x.shape[:-1]), x.shape[-1]))
    result = ops.product(rows, matrix)
    result = result if biases is None else ops.shift(result, biases, 1)
    return ops.reshape(result, (*x.shape[:-1], matrix.shape[0]))


class FullyConnected(Layer):
    """y = x W^T + b over the last axis, with weights W [outputs, inputs] and biases b [outputs]."""

    weights: Tensor
    biases: Tensor | None = None

    def settle(self) -> None:
        weights = self.own("weights", [None, None])
        self.parameters = (*weights, *self.own("biases", self.weights.shape[:1]))

    def compute(self, run: Pass, x: Value) -> Value:
        return linear(run.ops, x, run[self.weights], run[self.biases])


class MatMul(Layer, sources=2, title="matmul"):
    """alpha X Y of the last two axes, each optionally transposed; the axes before them are broadcast."""

    alpha: float = 1.0
    transposes_x: bool = False
    transposes_y: bool = False

    def compute(self, run: Pass, x: Value, y: Value) -> Value:
        x = _transposed(run.ops, x) if self.transposes_x else x
        y = _transposed(run.ops, y) if self.transposes_y else y
        result = run.ops.matmul(x, y)
        return result if self.alpha == 1 else result * self.alpha


def _transposed(ops: Ops, x: Value) -> Value:
    rank = len(x.shape)
    return ops.transpose(x, (*range(rank - 2), rank - 1, rank - 2))


class GramMatrix(Layer, axes=PICTURE):
    """scale F F^T with F [channels, height * width] of each picture: how much channels occur together.

    The result is [batch, channels, channels] (Gatys et al., A neural algorithm of artistic style, 2015).
    """

    scale: float = 1.0

    def compute(self, run: Pass, x: Value) -> Value:
        features = run.ops.reshape(x, (*x.shape[:2], -1))
        return run.ops.matmul(features, _transposed(run.ops, features)) * self.scale


class Embedding(Layer, takes="any"):
    """Row i of the weights [count, dimension] for each whole number i. A number beyond the rows is an error.

    The row `padding_index` is not trained, as with padding_idx in PyTorch.
    """

    weights: Tensor
    padding_index: int | None = None

    def settle(self) -> None:
        self.parameters = self.own("weights", [None, None])
        self.limits = {0: self.weights.shape[0]}

    def compute(self, run: Pass, numbers: Value) -> Value:
        rows = run.ops.take(run[self.weights], numbers, 0)
        if self.padding_index is None:
            return rows
        padding = run.ops.reshape(run.ops.equal(numbers, self.padding_index), (*numbers.shape, 1))
        return run.ops.where(padding, run.ops.stop_gradient(rows), rows)
