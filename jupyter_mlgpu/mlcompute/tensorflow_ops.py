"""The contract of ops.py in TensorFlow's words, with its own kernels for what is heavy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jupyter_mlgpu.mlcompute.ops import Ops, Pair, Value
from jupyter_mlgpu.mlcompute.tensors import Array

_SAME_NAME = [
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "ceil",
    "cos",
    "cosh",
    "erf",
    "exp",
    "expm1",
    "floor",
    "log",
    "log1p",
    "logical_not",
    "round",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "sigmoid",
    "softplus",
    "logical_and",
    "logical_or",
]
_BOTH = {"maximum": "maximum", "minimum": "minimum", "power": "pow", "equal": "equal", "less": "less"}

_TO_LAST, _TO_FIRST = (0, 2, 3, 1), (0, 3, 1, 2)


class TensorFlowOps(Ops):
    """See jupyter_mlgpu.mlcompute.ops.Ops. `tf` is the module."""

    def __init__(self, tf: Any) -> None:
        self._tf = tf
        for name in _SAME_NAME:
            setattr(self, name, getattr(tf.math, name))
        for name, theirs in (_BOTH | {"less_equal": "less_equal"}).items():
            setattr(self, name, self._both(getattr(tf.math, theirs)))
        self.stop_gradient = tf.stop_gradient

    def _alike(self, x: Any, y: Any) -> tuple[Any, Any]:
        """A plain number takes the type of the array beside it."""
        dtype = next((one.dtype for one in (x, y) if hasattr(one, "dtype")), None)
        return self._tf.convert_to_tensor(x, dtype), self._tf.convert_to_tensor(y, dtype)

    def _both(self, function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        return lambda x, y: function(*self._alike(x, y))

    def constant(self, array: Array) -> Value:
        return self._tf.constant(array)

    def cast(self, x: Value, dtype: np.dtype[Any]) -> Value:
        return self._tf.cast(x, dtype)

    def where(self, condition: Value, x: Value, y: Value) -> Value:
        return self._tf.where(condition, *self._alike(x, y))

    def matmul(self, x: Value, y: Value) -> Value:
        return self._tf.matmul(x, y)

    def sum(self, x: Value, axes: Sequence[int], keep: bool = False) -> Value:
        return self._tf.reduce_sum(x, list(axes), keep)

    def mean(self, x: Value, axes: Sequence[int], keep: bool = False) -> Value:
        return self._tf.reduce_mean(x, list(axes), keep)

    def max(self, x: Value, axes: Sequence[int], keep: bool = False) -> Value:
        return self._tf.reduce_max(x, list(axes), keep)

    def argmax(self, x: Value, axis: int) -> Value:
        return self._tf.argmax(x, axis, self._tf.int32)

    def argmin(self, x: Value, axis: int) -> Value:
        # Of argmax(-x), TensorFlow 2.19's optimiser loses a reshape that follows (seen).
        return self._tf.argmin(x, axis, self._tf.int32)

    def reshape(self, x: Value, shape: Sequence[int]) -> Value:
        return self._tf.reshape(x, shape)

    def transpose(self, x: Value, axes: Sequence[int]) -> Value:
        return self._tf.transpose(x, axes)

    def concatenate(self, parts: Sequence[Value], axis: int) -> Value:
        return self._tf.concat(parts, axis)

    def slice(self, x: Value, slices: Sequence[slice]) -> Value:
        return self._tf.convert_to_tensor(x)[tuple(slices)]

    def pad(self, x: Value, widths: Sequence[Pair], value: float = 0.0) -> Value:
        return self._tf.pad(x, list(map(list, widths)), constant_values=value)

    def take(self, x: Value, indices: Value, axis: int) -> Value:
        return self._tf.gather(x, indices, axis=axis)

    def take_along(self, x: Value, indices: Value, axis: int) -> Value:
        return self._tf.gather_nd(x, self._places(indices, axis))

    def put_along(self, x: Value, indices: Value, updates: Value, axis: int, add: bool) -> Value:
        put = self._tf.tensor_scatter_nd_add if add else self._tf.tensor_scatter_nd_update
        return put(x, self._places(indices, axis), updates)

    def _places(self, indices: Value, axis: int) -> Value:
        grid = list(np.indices(tuple(indices.shape)).astype(indices.dtype.name))
        return self._tf.stack([*grid[:axis], indices, *grid[axis + 1 :]], -1)

    def random_uniform(self, shape: Sequence[int], dtype: np.dtype[Any], seed: Value) -> Value:
        return self._tf.random.stateless_uniform(shape, seed, dtype=dtype)

    def log_softmax(self, x: Value, axis: int) -> Value:
        return self._tf.nn.log_softmax(x, axis)

    def softmax(self, x: Value, axis: int) -> Value:
        return self._tf.nn.softmax(x, axis)

    # TensorFlow's kernels for CPUs want channels last, and no more than that: gradients with dilations, of
    # groups, and of depthwise convolutions with unequal strides are missing there, so these are brought to
    # those that exist.

    def convolution(self, x: Value, weights: Value, strides: Pair, dilations: Pair, groups: int) -> Value:
        outputs, channels = weights.shape[:2]
        filters = self._tf.transpose(self._spread(weights, dilations), (2, 3, 1, 0))
        x = self._tf.transpose(x, _TO_LAST)
        if groups == 1:
            result = self._tf.nn.conv2d(x, filters, strides, "VALID")
        elif channels == 1 and strides[0] == strides[1]:
            rows, columns = filters.shape[:2]
            filters = self._tf.reshape(filters, (rows, columns, groups, outputs // groups))
            result = self._tf.nn.depthwise_conv2d(x, filters, (1, *strides, 1), "VALID")
        else:
            parts = zip(self._tf.split(x, groups, 3), self._tf.split(filters, groups, 3), strict=True)
            result = self._tf.concat(
                [self._tf.nn.conv2d(part, filter_, strides, "VALID") for part, filter_ in parts], 3
            )
        return self._tf.transpose(result, _TO_FIRST)

    def convolution_transpose(
        self, x: Value, weights: Value, strides: Pair, dilations: Pair, groups: int
    ) -> Value:
        spread = self._spread(weights, dilations)
        batch, _, height, width = x.shape
        rows, columns = spread.shape[2:]
        made = ((height - 1) * strides[0] + rows, (width - 1) * strides[1] + columns)
        pairs = zip(self._tf.split(x, groups, 1), self._tf.split(spread, groups, 0), strict=True)
        results = [
            self._tf.nn.conv2d_transpose(
                self._tf.transpose(part, _TO_LAST),
                self._tf.transpose(filters, (2, 3, 1, 0)),
                (batch, *made, filters.shape[1]),
                strides,
                "VALID",
            )
            for part, filters in pairs
        ]
        return self._tf.transpose(self._tf.concat(results, 3), _TO_FIRST)

    def _spread(self, weights: Value, dilations: Pair) -> Value:
        """Filters with zeros between their numbers, which is what dilation means."""
        if dilations == (1, 1):
            return weights
        outputs, channels, rows, columns = weights.shape
        x = self._tf.reshape(weights, (outputs, channels, rows, 1, columns, 1))
        x = self._tf.pad(x, [[0, 0]] * 3 + [[0, dilations[0] - 1], [0, 0], [0, dilations[1] - 1]])
        x = self._tf.reshape(x, (outputs, channels, rows * dilations[0], columns * dilations[1]))
        return x[:, :, : (rows - 1) * dilations[0] + 1, : (columns - 1) * dilations[1] + 1]

    def pool(self, x: Value, kind: str, kernel: Pair, strides: Pair, dilations: Pair) -> Value:
        if dilations != (1, 1):
            return super().pool(x, kind, kernel, strides, dilations)
        function = self._tf.nn.max_pool2d if kind == "max" else self._tf.nn.avg_pool2d
        return self._tf.transpose(
            function(self._tf.transpose(x, _TO_LAST), kernel, strides, "VALID"), _TO_FIRST
        )
