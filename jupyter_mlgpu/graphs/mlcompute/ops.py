"""The operations on arrays in which every layer is written, and which an engine implements.

A layer states its formula once, in these operations, for arrays of any engine; `+ - * /` and unary `-` are
the arrays' own. A plain number takes the type of the array it is combined with. Shapes are known and
constant, axes count from 0. Pictures are [batch, channels, height, width].

An engine must have UNARY, BINARY and TESTS, and for an array x:

    constant(array)                    an array without a gradient
    cast(x, dtype)
    stop_gradient(x)                   x, through which no gradient passes
    where(condition, x, y)             with broadcasting
    matmul(x, y)                       of the last two axes; those before them are broadcast
    sum(x, axes, keep=False)           `keep` leaves axes of size 1
    max(x, axes, keep=False)           equal largest ones share the gradient
    argmax(x, axis)                    Int32; the first of equal ones
    reshape(x, shape)                  transpose(x, axes)        concatenate(parts, axis)
    slice(x, slices)                   pad(x, widths, value=0.0)
    take(x, indices, axis)             the values at these places of the axis, in the shape of the indices
    take_along(x, indices, axis)       result[..., j, ...] = x[..., indices[..., j, ...], ...]
    put_along(x, indices, updates, axis, add)     x with the updates where `take_along` would have read
    random_uniform(shape, dtype, seed)            from 0 to 1; the same for the same pair of whole numbers

The methods with a body below are formulas in these operations. They are correct as they are, and an engine
may replace them with a kernel of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

Value = Any
"""An array of an engine: NumPy's with its history (tape.py), TensorFlow's, or only a shape (shapes.py)."""
Pair = tuple[int, int]

# In UNARY, round takes halves to the even number; TESTS return Boolean.
UNARY = """abs acos acosh asin asinh atan atanh ceil cos cosh erf exp expm1 floor log log1p round sign
 sin sinh sqrt tan tanh"""
BINARY, TESTS = "maximum minimum power", "equal less less_equal logical_and logical_or logical_not"


class Ops:
    """The operations that a program is made of, one method each."""

    if TYPE_CHECKING:

        def __getattr__(self, word: str) -> Any: ...

    def min(self, x: Value, axes: Sequence[int], keep: bool = False) -> Value:
        return -self.max(-x, axes, keep)

    def argmin(self, x: Value, axis: int) -> Value:
        return self.argmax(-x, axis)

    def mean(self, x: Value, axes: Sequence[int], keep: bool = False) -> Value:
        return self.sum(x, axes, keep) / math.prod(x.shape[axis] for axis in axes)

    def relu(self, x: Value) -> Value:
        return self.maximum(x, 0.0)

    def product(self, x: Value, matrix: Value) -> Value:
        """Return x W^T of two matrices."""
        return self.matmul(x, self.transpose(matrix, (1, 0)))

    def shift(self, x: Value, biases: Value, axis: int) -> Value:
        """Return x with a number added for each place of one axis: the second of a picture, or the last."""
        return x + self.reshape(biases, (-1, *[1] * (len(x.shape) - axis - 1)))

    def sigmoid(self, x: Value) -> Value:
        """Return 1 / (1 + e^-x), in a form that cannot overflow."""
        return 0.5 * (self.tanh(0.5 * x) + 1.0)

    def softplus(self, x: Value) -> Value:
        """Return log(1 + e^x), in a form that cannot overflow."""
        return self.maximum(x, 0.0) + self.log1p(self.exp(-self.abs(x)))

    def log_softmax(self, x: Value, axis: int) -> Value:
        """Return x - log(sum e^x); the largest x is subtracted first to avoid overflow."""
        x = x - self.stop_gradient(self.max(x, [axis], True))
        return x - self.log(self.sum(self.exp(x), [axis], True))

    def softmax(self, x: Value, axis: int) -> Value:
        return self.exp(self.log_softmax(x, axis))

    def cross_entropy(self, x: Value, labels: Value) -> Value:
        """Return - sum of labels * log softmax x, over the second axis."""
        return -self.sum(labels * self.log_softmax(x, 1), [1])

    def split(self, x: Value, parts: int | Sequence[int], axis: int) -> list[Value]:
        """Split into so many equal parts, or into parts of these lengths."""
        lengths = [x.shape[axis] // parts] * parts if isinstance(parts, int) else parts
        before, ends = [slice(None)] * axis, pairwise(accumulate(lengths, initial=0))
        return [self.slice(x, [*before, slice(*both)]) for both in ends]

    def stack(self, values: Sequence[Value]) -> Value:
        """Stack arrays of one shape along a new first axis."""
        return self.concatenate([self.reshape(one, (1, *one.shape)) for one in values], 0)

    def patches(self, x: Value, kernel: Pair, strides: Pair, dilations: Pair) -> Value:
        """Return the patch of each place of a window: [batch, channels, rows, kernel, columns, kernel]."""
        for axis, size, stride, dilation in zip((2, 4), kernel, strides, dilations, strict=True):
            places = np.arange(0, x.shape[axis] - dilation * (size - 1), stride)
            x = self.take(x, places[:, None] + dilation * np.arange(size), axis)
        return x

    def convolution(self, x: Value, weights: Value, strides: Pair, dilations: Pair, groups: int) -> Value:
        """Convolve without padding: multiply every patch with every filter, as one matrix product.

        Weights are [outputs, channels of a group, height, width].
        """
        outputs, channels, *kernel = weights.shape
        seen = self.patches(x, (kernel[0], kernel[1]), strides, dilations)
        batch, _, rows, _, columns, _ = seen.shape
        size = channels * math.prod(kernel)
        seen = self.reshape(self.transpose(seen, (0, 2, 4, 1, 3, 5)), (batch * rows * columns, groups, size))
        filters = self.transpose(self.reshape(weights, (groups, outputs // groups, size)), (0, 2, 1))
        result = self.transpose(self.matmul(self.transpose(seen, (1, 0, 2)), filters), (1, 0, 2))
        return self.transpose(self.reshape(result, (batch, rows, columns, outputs)), (0, 3, 1, 2))

    def convolution_transpose(
        self, x: Value, weights: Value, strides: Pair, dilations: Pair, groups: int
    ) -> Value:
        """Return what a convolution does to gradients: each value spreads over a window.

        It is a convolution of x with zeros between its values, with reversed filters. Weights are [channels,
        outputs of a group, height, width].
        """
        channels, outputs, rows, columns = weights.shape
        reach = (dilations[0] * (rows - 1), dilations[1] * (columns - 1))
        x = self.pad(self.apart(x, strides), [(0, 0), (0, 0), (reach[0],) * 2, (reach[1],) * 2])
        back = slice(None, None, -1)
        turned = self.slice(weights, [slice(None), slice(None), back, back])
        turned = self.reshape(turned, (groups, channels // groups, outputs, rows, columns))
        shape = (groups * outputs, channels // groups, rows, columns)
        turned = self.reshape(self.transpose(turned, (0, 2, 1, 3, 4)), shape)
        return self.convolution(x, turned, (1, 1), dilations, groups)

    def apart(self, x: Value, steps: Pair) -> Value:
        """Insert zeros, so that the values are `steps` apart in the last two axes."""
        if tuple(steps) == (1, 1):
            return x
        first, second, height, width = x.shape
        x = self.reshape(x, (first, second, height, 1, width, 1))
        x = self.pad(x, [(0, 0)] * 3 + [(0, steps[0] - 1), (0, 0), (0, steps[1] - 1)])
        x = self.reshape(x, (first, second, height * steps[0], width * steps[1]))
        ends = [slice(0, (size - 1) * step + 1) for size, step in zip((height, width), steps, strict=True)]
        return self.slice(x, [slice(None), slice(None), *ends])

    def pool(self, x: Value, kind: str, kernel: Pair, strides: Pair, dilations: Pair) -> Value:
        """Return the `max` or `mean` of each patch."""
        seen = self.patches(x, kernel, strides, dilations)
        return self.max(seen, (3, 5)) if kind == "max" else self.mean(seen, (3, 5))
