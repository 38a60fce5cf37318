"""Layers that move a window over a picture: convolution and pooling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY

import numpy as np

from jupyter_mlgpu.graphs.mlcompute.layers.base import PICTURE, Layer, Pass, Sizes
from jupyter_mlgpu.graphs.mlcompute.names import insist, plain_words
from jupyter_mlgpu.graphs.mlcompute.ops import Ops, Pair, Value
from jupyter_mlgpu.graphs.mlcompute.tensors import Tensor


class Window(Layer, axes=PICTURE):
    """A window over a picture: strides, dilation rates and a padding policy, for height and width."""

    _: KW_ONLY
    strides: Sizes = 1
    dilation_rates: Sizes = 1
    padding_policy: str = "valid"
    padding_sizes: Sizes = 0

    def pairs(self, kernel: Pair) -> None:
        """Set the attributes that are numbers to pairs, for height and width."""
        self.kernel = kernel
        self.strides, self.dilation_rates = self.pair("strides"), self.pair("dilation_rates")
        own = self.padding_policy == "UsePaddingSize"
        self.padding_sizes = self.pair("padding_sizes", 0) if own else (0, 0)

    def reach(self, axis: int) -> int:
        """Return the extent of a window: dilation (kernel - 1) + 1."""
        return int(self.dilation_rates[axis] * (self.kernel[axis] - 1) + 1)

    def around(self, sizes: Sequence[int]) -> list[Pair]:
        """Return the padding before and after. With `same`, there are size / stride results, rounded up.

        An odd one goes to the end, as in TensorFlow (its guide on tf.nn.convolution).
        """
        if self.padding_policy != "Same":
            return [(one, one) for one in self.padding_sizes]
        added = []
        for axis, size in enumerate(sizes):
            places = -(-size // self.strides[axis])
            total = max((places - 1) * self.strides[axis] + self.reach(axis) - size, 0)
            added.append((total // 2, total - total // 2))
        return added

    def padded(self, ops: Ops, x: Value, value: float = 0.0) -> Value:
        around = self.around(x.shape[2:])
        x = ops.pad(x, [(0, 0), (0, 0), *around], value) if any(map(any, around)) else x
        for axis, whole in enumerate(x.shape[2:]):
            fits = whole >= self.reach(axis)
            insist(fits, f"a window of {self.reach(axis)} does not fit in {whole}")
        return x


class Convolution(Window):
    """result[o, y, x] = bias[o] + sum over c, i, j of weights[o, c, i, j] source[c, y s + i d, x s + j d]

    with strides s and dilation rates d (Dumoulin and Visin, A guide to convolution arithmetic, 2016).

    * standard: weights [outputs, channels / groups, height, width]. With groups, each part of the outputs
      sees its part of the channels alone.
    * depthwise: as many groups as channels; weights [channels * multiplier, 1, height, width].
    * transposed: the gradient of a standard one with regard to its source; weights
      [channels, outputs / groups, height, width]. `same` gives size * stride.
    """

    weights: Tensor
    biases: Tensor | None = None
    _: KW_ONLY
    convolution_type: str = "standard"
    group_count: int = 1
    words = {"convolution_type": "MLCConvolutionType", "padding_policy": "MLCPaddingPolicy"}

    def settle(self) -> None:
        kind = self.convolution_type
        self.title = "convolution" if kind == "Standard" else f"{plain_words(kind)} convolution"
        weights = self.own("weights", [None] * 4)
        outputs, inside, height, width = self.weights.shape
        self.outputs = inside * self.group_count if kind == "Transposed" else outputs
        self.parameters = weights + self.own("biases", [self.outputs])
        self.pairs((height, width))

    def verify(self, source: Tensor) -> None:
        channels, (first, second) = source.shape[1], self.weights.shape[:2]
        groups = self.group_count = channels if self.convolution_type == "Depthwise" else self.group_count
        wanted = first if self.convolution_type == "Transposed" else second * groups
        fits = channels == wanted and self.outputs % groups == channels % groups == 0
        shape = f"its weights {list(self.weights.shape)} with {groups} group{'s' * (groups > 1)}"
        insist(fits, f"{shape} are for {wanted} channels")

    def compute(self, run: Pass, x: Value) -> Value:
        ops, how = run.ops, (self.strides, self.dilation_rates, self.group_count)
        if self.convolution_type == "Transposed":
            x = self._cut(ops, ops.convolution_transpose(x, run[self.weights], *how), x.shape[2:])
        else:
            x = ops.convolution(self.padded(ops, x), run[self.weights], *how)
        return x if self.biases is None else ops.shift(x, run[self.biases], 1)

    def _cut(self, ops: Ops, x: Value, sizes: Sequence[int]) -> Value:
        """Cut a transposed convolution by the padding of the convolution that it reverses."""
        slices, short = [slice(None), slice(None)], [(0, 0), (0, 0)]
        for axis, size in enumerate(sizes):
            made, wanted, before = x.shape[2 + axis], size * self.strides[axis], self.padding_sizes[axis]
            same = self.padding_policy == "Same"
            before, end = (max(made - wanted, 0) // 2, wanted) if same else (before, made - 2 * before)
            short.append((0, max(before + end - made, 0)))
            slices.append(slice(before, max(before + end, 0)))
        return ops.slice(ops.pad(x, short), slices)


class Pooling(Window, named="{pooling_type} pooling"):
    """The largest number in a window, their mean, or their L2 norm, the root of the sum of squares.

    Padding is never the largest, and adds nothing to a norm. It counts in a mean if `count_includes_padding`.
    """

    pooling_type: str
    kernel_sizes: Sizes
    _: KW_ONLY
    strides: Sizes = None  # default: the kernel sizes
    count_includes_padding: bool = False
    words = {"pooling_type": "MLCPoolingType", "padding_policy": "MLCPaddingPolicy"}

    def settle(self) -> None:
        self.strides = self.kernel_sizes if self.strides is None else self.strides
        self.pairs(self.pair("kernel_sizes"))

    def compute(self, run: Pass, x: Value) -> Value:
        ops, window = run.ops, (self.kernel, self.strides, self.dilation_rates)
        fits = all(2 * one <= size for one, size in zip(self.padding_sizes, self.kernel, strict=True))
        insist(fits, f"a padding of {list(self.padding_sizes)} is more than half of {list(self.kernel)}")
        if self.pooling_type == "Max":
            return ops.pool(self.padded(ops, x, float(np.finfo(x.dtype.name).min)), "max", *window)
        norm = self.pooling_type == "L2Norm"
        mean = ops.pool(self.padded(ops, x * x if norm else x), "mean", *window)
        if norm:
            return ops.sqrt(mean * float(self.kernel[0] * self.kernel[1]))
        if self.count_includes_padding or not any(map(any, self.around(x.shape[2:]))):
            return mean
        # The share of each window that is not padding.
        ones = ops.constant(np.ones((1, 1, *x.shape[2:]), x.dtype.name))
        return mean / ops.pool(self.padded(ops, ones), "mean", *window)
