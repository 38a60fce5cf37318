"""Layers in which a window moves over a picture: convolution and pooling."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jupyter_mlgpu.mlcompute.layers.base import Layer, Run, Spec, pair, weights
from jupyter_mlgpu.mlcompute.names import choose
from jupyter_mlgpu.mlcompute.ops import Ops, Pair, Value
from jupyter_mlgpu.mlcompute.tensors import Tensor

PICTURE = "[batch, channels, height, width]"


class _Window(Layer):
    """A window over a picture: strides, dilations and a padding policy, for height and width."""

    def __init__(
        self,
        kernel: Pair,
        strides: int | Sequence[int],
        dilations: int | Sequence[int],
        policy: str,
        padding: int | Sequence[int],
        call: str,
    ) -> None:
        self.kernel = kernel
        self.strides = pair(strides, "strides", call)
        self.dilations = pair(dilations, "dilation_rates", call)
        self.policy = choose("MLCPaddingPolicy", policy, call)
        self.padding = pair(padding, "padding_sizes", call, 0) if self.policy == "UsePaddingSize" else (0, 0)

    def reach(self, axis: int) -> int:
        """How far a window extends: dilation (kernel - 1) + 1."""
        return self.dilations[axis] * (self.kernel[axis] - 1) + 1

    def around(self, sizes: Sequence[int]) -> list[Pair]:
        """What is added before and after. `same`: so that size / stride results come out, rounded up.

        The odd one goes to the end, as TensorFlow has it (its guide on tf.nn.convolution).
        """
        if self.policy != "Same":
            return [(one, one) for one in self.padding]
        added = []
        for axis, size in enumerate(sizes):
            wanted = -(-size // self.strides[axis]) - 1
            total = max(wanted * self.strides[axis] + self.reach(axis) - size, 0)
            added.append((total // 2, total - total // 2))
        return added

    def places(self, source: Tensor) -> tuple[int, ...]:
        """How many places the window has: (size + padding - reach) / stride + 1, rounded down."""
        self.need_rank(source, 4, PICTURE)
        found = []
        for axis, (size, (before, after)) in enumerate(
            zip(source.shape[2:], self.around(source.shape[2:]), strict=True)
        ):
            if size + before + after < self.reach(axis):
                self.refuse(
                    [source], f"a window of {self.reach(axis)} does not fit in {size + before + after}"
                )
            found.append((size + before + after - self.reach(axis)) // self.strides[axis] + 1)
        return tuple(found)

    def padded(self, ops: Ops, x: Value, value: float = 0.0) -> Value:
        around = self.around(x.shape[2:])
        return ops.pad(x, [(0, 0), (0, 0), *around], value) if any(map(any, around)) else x


class Convolution(_Window):
    """result[o, y, x] = bias[o] + sum over c, i, j of weights[o, c, i, j] source[c, y s + i d, x s + j d]

    with strides s and dilation rates d (Dumoulin and Visin, A guide to convolution arithmetic, 2016).

    * standard: weights [outputs, channels / groups, height, width]. With groups, each part of the outputs
      sees its part of the channels alone.
    * depthwise: as many groups as channels; weights [channels * multiplier, 1, height, width].
    * transposed: the gradient of a standard one with regard to its source; weights
      [channels, outputs / groups, height, width]. `same` gives size * stride.
    """

    def __init__(
        self,
        filters: Tensor,
        biases: Tensor | None = None,
        *,
        convolution_type: str = "standard",
        strides: int | Sequence[int] = 1,
        dilation_rates: int | Sequence[int] = 1,
        group_count: int = 1,
        padding_policy: str = "valid",
        padding_sizes: int | Sequence[int] = 0,
    ) -> None:
        call = "convolution_layer"
        filters = weights(call, "weights", filters, [None] * 4)
        height, width = filters.shape[2:]
        super().__init__((height, width), strides, dilation_rates, padding_policy, padding_sizes, call)
        self.type = choose("MLCConvolutionType", convolution_type, call)
        self.groups = filters.shape[0] if self.type == "Depthwise" else group_count
        self.outputs = filters.shape[1] * group_count if self.type == "Transposed" else filters.shape[0]
        self.weights, self.biases = filters, biases
        self.parameters = (filters,)
        if biases is not None:
            self.parameters += (weights(call, "biases", biases, [self.outputs]),)

    @property
    def title(self) -> str:
        return "convolution" if self.type == "Standard" else f"{self.type.lower()} convolution"

    def results(self, *sources: Tensor) -> list[Spec]:
        (source,) = sources
        self.need_floats(*sources, *self.parameters)
        self.need_rank(source, 4, PICTURE)
        batch, channels, *sizes = source.shape
        if self.type == "Depthwise":
            self.groups = channels
        first = self.weights.shape[0] if self.type == "Transposed" else self.weights.shape[1] * self.groups
        if channels != first or self.outputs % self.groups or channels % self.groups:
            self.refuse(
                [source],
                f"its weights {list(self.weights.shape)} with {self.groups} group"
                f"{'s' * (self.groups > 1)} are for {first} channels",
            )
        if self.type != "Transposed":
            return [Spec((batch, self.outputs, *self.places(source)), source.data_type)]
        spread = [self._cut(axis, size)[2] for axis, size in enumerate(sizes)]
        if min(spread) < 1:
            self.refuse([source], f"a padding of {list(self.padding)} leaves nothing")
        return [Spec((batch, self.outputs, *spread), source.data_type)]

    def _cut(self, axis: int, size: int) -> tuple[int, int, int]:
        """Of a transposed one: how much it makes, how much of that is cut off before, and what is left."""
        stride = self.strides[axis]
        made = (size - 1) * stride + self.reach(axis)
        if self.policy == "Same":
            return made, max(made - size * stride, 0) // 2, size * stride
        return made, self.padding[axis], made - 2 * self.padding[axis]

    def compute(self, run: Run, *sources: Value) -> Value:
        ops, x, filters = run.ops, sources[0], run[self.weights]
        if self.type == "Transposed":
            cuts = [self._cut(axis, size) for axis, size in enumerate(x.shape[2:])]
            x = ops.convolution_transpose(x, filters, self.strides, self.dilations, self.groups)
            short = [(0, max(before + left - made, 0)) for made, before, left in cuts]
            x = ops.pad(x, [(0, 0), (0, 0), *short])
            cut = [slice(before, before + left) for _, before, left in cuts]
            x = ops.slice(x, [slice(None), slice(None), *cut])
        else:
            x = ops.convolution(self.padded(ops, x), filters, self.strides, self.dilations, self.groups)
        if self.biases is None:
            return x
        return x + ops.reshape(run[self.biases], (1, self.outputs, 1, 1))


class Pooling(_Window):
    """The largest number a window sees, their mean, or their L2 norm, the root of the sum of squares.

    Padding never wins, nor does it add to a norm. It counts in a mean if `count_includes_padding`.
    """

    def __init__(
        self,
        pooling_type: str,
        kernel_sizes: int | Sequence[int],
        strides: int | Sequence[int] | None = None,
        *,
        dilation_rates: int | Sequence[int] = 1,
        padding_policy: str = "valid",
        padding_sizes: int | Sequence[int] = 0,
        count_includes_padding: bool = False,
    ) -> None:
        call = "pooling_layer"
        kernel = pair(kernel_sizes, "kernel_sizes", call)
        strides = kernel if strides is None else strides
        super().__init__(kernel, strides, dilation_rates, padding_policy, padding_sizes, call)
        self.type = choose("MLCPoolingType", pooling_type, call)
        self.counts = count_includes_padding

    @property
    def title(self) -> str:
        return f"{self.type.lower()} pooling"

    def results(self, *sources: Tensor) -> list[Spec]:
        (source,) = sources
        self.need_floats(source)
        if any(2 * one > size for one, size in zip(self.padding, self.kernel, strict=True)):
            self.refuse(
                sources, f"a padding of {list(self.padding)} is more than half of {list(self.kernel)}"
            )
        return [Spec((*source.shape[:2], *self.places(source)), source.data_type)]

    def compute(self, run: Run, *sources: Value) -> Value:
        ops, (x,) = run.ops, sources
        window = (self.kernel, self.strides, self.dilations)
        if self.type == "Max":
            lowest = float(np.finfo(x.dtype.name).min)
            return ops.pool(self.padded(ops, x, lowest), "max", *window)
        mean = ops.pool(self.padded(ops, x * x if self.type == "L2Norm" else x), "mean", *window)
        if self.type == "L2Norm":
            return ops.sqrt(mean * float(self.kernel[0] * self.kernel[1]))
        if self.counts or not any(map(any, self.around(x.shape[2:]))):
            return mean
        # The share of each window that is no padding.
        ones = ops.constant(np.ones((1, 1, *x.shape[2:]), x.dtype.name))
        return mean / ops.pool(self.padded(ops, ones), "mean", *window)
