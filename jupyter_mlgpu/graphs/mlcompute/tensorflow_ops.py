"""The operations of ops.py in TensorFlow, with its own kernels for heavy ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jupyter_mlgpu.graphs.mlcompute.ops import UNARY, Ops, Pair, Value

TO_LAST, TO_FIRST = (0, 2, 3, 1), (0, 3, 1, 2)


class TensorFlowOps(Ops):
    """The operations of TensorFlow; `tf` is the module."""

    def __init__(self, tf: Any) -> None:
        self._tf = tf
        for word in f"{UNARY} sigmoid softplus logical_and logical_or logical_not".split():
            setattr(self, word, getattr(tf.math, word))
        for word in ("maximum", "minimum", "equal", "less", "less_equal"):
            setattr(self, word, self._both(getattr(tf.math, word)))
        for word in ("cast", "matmul", "reshape", "transpose", "stop_gradient", "constant", "stack", "split"):
            setattr(self, word, getattr(tf, word))
        for word in ("sum", "mean", "max"):
            setattr(self, word, self._reduced(getattr(tf, f"reduce_{word}")))
        for word in ("softmax", "log_softmax"):
            setattr(self, word, getattr(tf.nn, word))
        self.power, self.concatenate = self._both(tf.pow), tf.concat

    def _alike(self, x: Any, y: Any) -> tuple[Any, Any]:
        """Return both as tensors; a plain number takes the type of the other one."""
        dtype = next((one.dtype for one in (x, y) if hasattr(one, "dtype")), None)
        return self._tf.convert_to_tensor(x, dtype), self._tf.convert_to_tensor(y, dtype)

    def _both(self, function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        return lambda x, y: function(*self._alike(x, y))

    def _reduced(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, axes, keep=False: function(x, list(axes), keep)

    def where(self, condition: Value, x: Value, y: Value) -> Value:
        return self._tf.where(condition, *self._alike(x, y))

    def product(self, x: Value, matrix: Value) -> Value:
        return self._tf.matmul(x, matrix, transpose_b=True)

    def _last(self, function: Callable[..., Any], x: Value, *more: Any) -> Value:
        """Apply a function to a picture with channels last.

        TensorFlow removes transposes that undo each other.
        """
        return self._tf.transpose(function(self._tf.transpose(x, TO_LAST), *more), TO_FIRST)

    def shift(self, x: Value, biases: Value, axis: int) -> Value:
        add = self._tf.nn.bias_add
        return add(x, biases) if axis == len(x.shape) - 1 else self._last(add, x, biases)

    def relu(self, x: Value) -> Value:
        return self._last(self._tf.nn.relu, x) if len(x.shape) == 4 else self._tf.nn.relu(x)

    def cross_entropy(self, x: Value, labels: Value) -> Value:
        return self._tf.nn.softmax_cross_entropy_with_logits(labels, x, 1)

    def argmax(self, x: Value, axis: int) -> Value:
        return self._tf.argmax(x, axis, self._tf.int32)

    def argmin(self, x: Value, axis: int) -> Value:
        # For argmax(-x), TensorFlow 2.19's optimizer loses a reshape that follows (observed).
        return self._tf.argmin(x, axis, self._tf.int32)

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

    # TensorFlow's kernels for CPUs need channels last, and lack some gradients: with dilations, of groups,
    # and of depthwise convolutions with unequal strides. These cases are rewritten to others that exist.

    def convolution(self, x: Value, weights: Value, strides: Pair, dilations: Pair, groups: int) -> Value:
        tf, (outputs, channels) = self._tf, weights.shape[:2]
        filters = tf.transpose(self.apart(weights, dilations), (2, 3, 1, 0))
        if groups == 1:
            return self._last(tf.nn.conv2d, x, filters, strides, "VALID")
        if channels == 1 and strides[0] == strides[1]:
            filters = tf.reshape(filters, (*filters.shape[:2], groups, outputs // groups))
            return self._last(tf.nn.depthwise_conv2d, x, filters, (1, *strides, 1), "VALID")
        parts = zip(tf.split(x, groups, 1), tf.split(filters, groups, 3), strict=True)
        return tf.concat([self._last(tf.nn.conv2d, *both, strides, "VALID") for both in parts], 1)

    def pool(self, x: Value, kind: str, kernel: Pair, strides: Pair, dilations: Pair) -> Value:
        if dilations != (1, 1):
            return super().pool(x, kind, kernel, strides, dilations)
        function = self._tf.nn.max_pool2d if kind == "max" else self._tf.nn.avg_pool2d
        return self._last(function, x, kernel, strides, "VALID")
