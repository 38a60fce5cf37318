"""Products of matrices: fully connected, matmul, Gram matrix; and the embedding, which picks rows of one."""

from __future__ import annotations

import math

from jupyter_mlgpu.mlcompute.layers.base import Layer, Run, Spec, broadcast, weights
from jupyter_mlgpu.mlcompute.ops import Ops, Value
from jupyter_mlgpu.mlcompute.tensors import Tensor


def linear(ops: Ops, x: Value, matrix: Value, biases: Value | None = None) -> Value:
    """x W^T + b over the last axis, with W [outputs, inputs]: all rows in one product."""
    rows = ops.reshape(x, (math.prod(x.shape[:-1]), x.shape[-1]))
    result = ops.matmul(rows, ops.transpose(matrix, (1, 0)))
    result = result if biases is None else result + biases
    return ops.reshape(result, (*x.shape[:-1], matrix.shape[0]))


class FullyConnected(Layer):
    """y = x W^T + b over the last axis, with weights W [outputs, inputs] and biases b [outputs]."""

    def __init__(self, matrix: Tensor, biases: Tensor | None = None) -> None:
        self.weights = weights("fully_connected_layer", "weights", matrix, [None, None])
        self.biases = biases
        self.parameters = (matrix,)
        if biases is not None:
            self.parameters += (weights("fully_connected_layer", "biases", biases, [matrix.shape[0]]),)

    def results(self, *sources: Tensor) -> list[Spec]:
        (source,) = sources
        self.need_floats(*sources, *self.parameters)
        outputs, inputs = self.weights.shape
        if len(source.shape) < 2 or source.shape[-1] != inputs:
            self.refuse(
                sources, f"its weights [{outputs}, {inputs}] need {inputs} numbers along the last axis"
            )
        return [Spec((*source.shape[:-1], outputs), source.data_type)]

    def compute(self, run: Run, *sources: Value) -> Value:
        return linear(
            run.ops, sources[0], run[self.weights], None if self.biases is None else run[self.biases]
        )


class MatMul(Layer):
    """alpha X Y of the last two axes, each transposed first if asked; the axes before them are broadcast."""

    least = most = 2

    def __init__(self, alpha: float = 1.0, transposes_x: bool = False, transposes_y: bool = False) -> None:
        self.alpha, self.transposes_x, self.transposes_y = alpha, transposes_x, transposes_y

    title = "matmul"

    def results(self, *sources: Tensor) -> list[Spec]:
        self.need_floats(*sources)
        x, y = sources
        if min(len(x.shape), len(y.shape)) < 2:
            self.refuse(sources, "both need two axes or more")
        rows, inner = x.shape[-2:][:: -1 if self.transposes_x else 1]
        other, columns = y.shape[-2:][:: -1 if self.transposes_y else 1]
        if inner != other:
            self.refuse(sources, f"rows of {inner} do not meet columns of {other}")
        before = broadcast(self, sources, [one.shape[:-2] for one in sources])
        return [Spec((*before, rows, columns), x.data_type)]

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

    def __init__(self, scale: float = 1.0) -> None:
        self.scale = scale

    def results(self, *sources: Tensor) -> list[Spec]:
        (source,) = sources
        self.need_floats(source)
        self.need_rank(source, 4, "[batch, channels, height, width]")
        batch, channels = source.shape[:2]
        return [Spec((batch, channels, channels), source.data_type)]

    def compute(self, run: Run, *sources: Value) -> Value:
        batch, channels, height, width = sources[0].shape
        features = run.ops.reshape(sources[0], (batch, channels, height * width))
        return run.ops.matmul(features, _turned(run.ops, features)) * self.scale


class Embedding(Layer):
    """Row i of the weights [count, dimension] for each whole number i. One beyond the rows is an error."""

    def __init__(self, table: Tensor, padding_index: int | None = None) -> None:
        self.weights = weights("embedding_layer", "weights", table, [None, None])
        self.padding_index = padding_index
        self.limits = {0: table.shape[0]}
        self.parameters = (table,)

    def results(self, *sources: Tensor) -> list[Spec]:
        (source,) = sources
        if source.data_type not in ("Int32", "Int64"):
            self.refuse(sources, f"it needs Int32 or Int64, and this is {source.data_type}")
        return [Spec((*source.shape, self.weights.shape[1]), self.weights.data_type)]

    def compute(self, run: Run, *sources: Value) -> Value:
        rows = run.ops.take(run[self.weights], sources[0], 0)
        if self.padding_index is None:
            return rows
        # Its row learns nothing, as with padding_idx in PyTorch.
        shape = (*sources[0].shape, 1)
        padding = run.ops.reshape(run.ops.equal(sources[0], self.padding_index), shape)
        return run.ops.where(padding, run.ops.stop_gradient(rows), rows)
