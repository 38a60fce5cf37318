"""Products of matrices: fully connected, matmul, Gram matrix; and the embedding, which picks rows of one."""

from __future__ import annotations

import math

from jupyter_mlgpu.mlcompute.layers.base import PICTURE, Layer, Run
from jupyter_mlgpu.mlcompute.ops import Ops, Value
from jupyter_mlgpu.mlcompute.tensors import Tensor


def linear(ops: Ops, x: Value, matrix: Value, biases: Value | None = None) -> Value:
    """x W^T + b over the last axis, with W [outputs, inputs]: all rows in one product."""
    rows = ops.reshape(x, (math.prod(x.shape[:-1]), x.shape[-1]))
    result = ops.product(rows, matrix)
    result = result if biases is None else ops.shift(result, biases, 1)
    return ops.reshape(result, (*x.shape[:-1], matrix.shape[0]))


class FullyConnected(Layer):
    """y = x W^T + b over the last axis, with weights W [outputs, inputs] and biases b [outputs]."""

    weights: Tensor
    biases: Tensor | None = None

    def settle(self) -> None:
        self.need(weights=(self.weights, [None, None]))
        outputs = self.weights.shape[0]
        self.parameters = self.need(weights=(self.weights, [None, None]), biases=(self.biases, [outputs]))

    def compute(self, run: Run, *sources: Value) -> Value:
        return linear(run.ops, sources[0], run[self.weights], run[self.biases])


class MatMul(Layer):
    """alpha X Y of the last two axes, each transposed first if asked; the axes before them are broadcast."""

    alpha: float = 1.0
    transposes_x: bool = False
    transposes_y: bool = False
    least = most = 2
    title = "matmul"

    def compute(self, run: Run, *sources: Value) -> Value:
        x, y = sources
        x = _turned(run.ops, x) if self.transposes_x else x
        y = _turned(run.ops, y) if self.transposes_y else y
        result = run.ops.matmul(x, y)
        return result if self.alpha == 1 else result * self.alpha


def _turned(ops: Ops, x: Value) -> Value:
    rank = len(x.shape)
    return ops.transpose(x, (*range(rank - 2), rank - 1, rank - 2))


class GramMatrix(Layer):
    """scale F F^T with F [channels, height * width] of each picture: how much channels occur together.

    The result is [batch, channels, channels] (Gatys et al., A neural algorithm of artistic style, 2015).
    """

    scale: float = 1.0
    axes = PICTURE

    def compute(self, run: Run, *sources: Value) -> Value:
        batch, channels, height, width = sources[0].shape
        features = run.ops.reshape(sources[0], (batch, channels, height * width))
        return run.ops.matmul(features, _turned(run.ops, features)) * self.scale


class Embedding(Layer):
    """Row i of the weights [count, dimension] for each whole number i. One beyond the rows is an error.

    The row `padding_index` learns nothing, as with padding_idx in PyTorch.
    """

    weights: Tensor
    padding_index: int | None = None
    takes = "any"

    def settle(self) -> None:
        self.parameters = self.need(weights=(self.weights, [None, None]))
        self.limits = {0: self.weights.shape[0]}

    def compute(self, run: Run, *sources: Value) -> Value:
        rows = run.ops.take(run[self.weights], sources[0], 0)
        if self.padding_index is None:
            return rows
        padding = run.ops.reshape(run.ops.equal(sources[0], self.padding_index), (*sources[0].shape, 1))
        return run.ops.where(padding, run.ops.stop_gradient(rows), rows)
