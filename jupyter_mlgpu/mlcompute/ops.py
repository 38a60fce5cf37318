"""The contract of engines: the few operations on arrays that every layer is written in.

A layer states its formula once, in these words, for arrays of whatever engine runs it; `+ - * /` and unary
`-` are the arrays' own. What stands here as an abstract word, an engine must have. What has a body is a
formula out of the others: right as it stands, and an engine may put a faster kernel of its own in its place.

Pictures are [batch, channels, height, width]. Shapes are known and constant. Axes count from 0.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Value = Any
"""An array of an engine: NumPy's with its history (tape.py), or TensorFlow's."""

Pair = tuple[int, int]
Unary = Callable[[Value], Value]


class Ops(ABC):
    """See the module. One number beside an array takes the array's type."""

    # One number in, one out.
    abs: Unary
    acos: Unary
    acosh: Unary
    asin: Unary
    asinh: Unary
    atan: Unary
    atanh: Unary
    ceil: Unary
    cos: Unary
    cosh: Unary
    erf: Unary
    exp: Unary
    expm1: Unary
    floor: Unary
    log: Unary
    log1p: Unary
    logical_not: Unary
    round: Unary  # halves go to the even number
    sign: Unary
    sin: Unary
    sinh: Unary
    sqrt: Unary
    stop_gradient: Unary
    tan: Unary
    tanh: Unary
    # Two in, with broadcasting; the comparisons and `logical` ones give Boolean.
    maximum: Callable[[Value, Value], Value]
    minimum: Callable[[Value, Value], Value]
    power: Callable[[Value, Value], Value]
    equal: Callable[[Value, Value], Value]
    less: Callable[[Value, Value], Value]
    less_equal: Callable[[Value, Value], Value]
    logical_and: Callable[[Value, Value], Value]
    logical_or: Callable[[Value, Value], Value]

    @abstractmethod
    def constant(self, array: NDArray[Any]) -> Value:
        """An array with no gradient."""

    @abstractmethod
    def cast(self, x: Value, dtype: np.dtype[Any]) -> Value: ...

    @abstractmethod
    def where(self, condition: Value, x: Value, y: Value) -> Value: ...

    @abstractmethod
    def matmul(self, x: Value, y: Value) -> Value:
        """Of the last two axes; those before them are broadcast."""

    @abstractmethod
    def sum(self, x: Value, axes: Sequence[int], keep: bool = False) -> Value: ...

    @abstractmethod
    def max(self, x: Value, axes: Sequence[int], keep: bool = False) -> Value:
        """Equal largest ones share the gradient."""

    @abstractmethod
    def argmax(self, x: Value, axis: int) -> Value:
        """Int32; the first of equal ones."""

    @abstractmethod
    def reshape(self, x: Value, shape: Sequence[int]) -> Value: ...

    @abstractmethod
    def transpose(self, x: Value, axes: Sequence[int]) -> Value: ...

    @abstractmethod
    def concatenate(self, parts: Sequence[Value], axis: int) -> Value: ...

    @abstractmethod
    def slice(self, x: Value, slices: Sequence[slice]) -> Value: ...

    @abstractmethod
    def pad(self, x: Value, widths: Sequence[Pair], value: float = 0.0) -> Value: ...

    @abstractmethod
    def take(self, x: Value, indices: Value, axis: int) -> Value:
        """What stands at these places of the axis, in the shape of the indices."""

    @abstractmethod
    def take_along(self, x: Value, indices: Value, axis: int) -> Value:
        """result[..., j, ...] = x[..., indices[..., j, ...], ...]"""

    @abstractmethod
    def put_along(self, x: Value, indices: Value, updates: Value, axis: int, add: bool) -> Value:
        """A copy of x in which the updates stand, or are added, where `take_along` would have read."""

    @abstractmethod
    def random_uniform(self, shape: Sequence[int], dtype: np.dtype[Any], seed: Value) -> Value:
        """Between 0 and 1; the same for the same pair of whole numbers."""

    def min(self, x: Value, axes: Sequence[int], keep: bool = False) -> Value:
        return -self.max(-x, axes, keep)

    def argmin(self, x: Value, axis: int) -> Value:
        return self.argmax(-x, axis)

    def mean(self, x: Value, axes: Sequence[int], keep: bool = False) -> Value:
        return self.sum(x, axes, keep) / math.prod(x.shape[axis] for axis in axes)

    def sigmoid(self, x: Value) -> Value:
        """1 / (1 + e^-x), in a form that cannot overflow."""
        return 0.5 * (self.tanh(0.5 * x) + 1.0)

    def softplus(self, x: Value) -> Value:
        """log(1 + e^x), in a form that cannot overflow."""
        return self.maximum(x, 0.0) + self.log1p(self.exp(-self.abs(x)))

    def log_softmax(self, x: Value, axis: int) -> Value:
        """x - log(sum e^x); the largest x is taken away first, so that nothing overflows."""
        x = x - self.stop_gradient(self.max(x, [axis], True))
        return x - self.log(self.sum(self.exp(x), [axis], True))

    def softmax(self, x: Value, axis: int) -> Value:
        return self.exp(self.log_softmax(x, axis))

    def patches(self, x: Value, kernel: Pair, strides: Pair, dilations: Pair) -> Value:
        """What a window sees at each of its places: [batch, channels, rows, kernel, columns, kernel]."""
        for axis, size, stride, dilation in zip((2, 4), kernel, strides, dilations, strict=True):
            places = np.arange(0, x.shape[axis] - dilation * (size - 1), stride)
            x = self.take(x, places[:, None] + dilation * np.arange(size), axis)
        return x

    def convolution(self, x: Value, weights: Value, strides: Pair, dilations: Pair, groups: int) -> Value:
        """Where the window lies inside x: every patch times every filter, as one product of matrices.

        Weights are [outputs, channels of a group, height, width].
        """
        outputs, channels, *kernel = weights.shape
        seen = self.patches(x, tuple(kernel), strides, dilations)
        batch, _, rows, _, columns, _ = seen.shape
        size = channels * math.prod(kernel)
        seen = self.reshape(self.transpose(seen, (0, 2, 4, 1, 3, 5)), (batch * rows * columns, groups, size))
        filters = self.transpose(self.reshape(weights, (groups, outputs // groups, size)), (0, 2, 1))
        result = self.transpose(self.matmul(self.transpose(seen, (1, 0, 2)), filters), (1, 0, 2))
        return self.transpose(self.reshape(result, (batch, rows, columns, outputs)), (0, 3, 1, 2))

    def convolution_transpose(
        self, x: Value, weights: Value, strides: Pair, dilations: Pair, groups: int
    ) -> Value:
        """What a convolution does to gradients: each value spreads over a window.

        It is a convolution of x with zeros between its values, by the filters turned round. Weights are
        [channels, outputs of a group, height, width].
        """
        batch, channels, height, width = x.shape
        _, outputs, rows, columns = weights.shape
        x = self.reshape(x, (batch, channels, height, 1, width, 1))
        x = self.pad(x, [(0, 0)] * 3 + [(0, strides[0] - 1), (0, 0), (0, strides[1] - 1)])
        x = self.reshape(x, (batch, channels, height * strides[0], width * strides[1]))
        more = (dilations[0] * (rows - 1), dilations[1] * (columns - 1))
        x = self.pad(x, [(0, 0), (0, 0), (more[0], more[0]), (more[1], more[1])])
        ends = (slice(0, x.shape[2] - strides[0] + 1), slice(0, x.shape[3] - strides[1] + 1))
        turned = self.slice(weights, [slice(None), slice(None), slice(None, None, -1), slice(None, None, -1)])
        turned = self.reshape(turned, (groups, channels // groups, outputs, rows, columns))
        turned = self.reshape(
            self.transpose(turned, (0, 2, 1, 3, 4)), (groups * outputs, channels // groups, rows, columns)
        )
        return self.convolution(
            self.slice(x, [slice(None)] * 2 + list(ends)), turned, (1, 1), dilations, groups
        )

    def pool(self, x: Value, kind: str, kernel: Pair, strides: Pair, dilations: Pair) -> Value:
        """`max` or `mean` of each patch."""
        seen = self.patches(x, kernel, strides, dilations)
        return self.max(seen, (3, 5)) if kind == "max" else self.mean(seen, (3, 5))
