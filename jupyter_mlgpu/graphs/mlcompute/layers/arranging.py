"""Layers that move numbers: join, cut, reshape, transpose, slice, gather, scatter, pad, resize."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

import numpy as np

from jupyter_mlgpu.graphs.mlcompute.layers.base import MANY, PICTURE, Layer, Pass, Sizes
from jupyter_mlgpu.graphs.mlcompute.names import insist
from jupyter_mlgpu.graphs.mlcompute.ops import Value
from jupyter_mlgpu.graphs.mlcompute.tensors import Shape, Tensor


class Concatenation(Layer, sources=(2, MANY), takes="any"):
    """Tensors one after another along a dimension; their other sizes are equal."""

    dimension: int = 1

    def compute(self, run: Pass, *parts: Value) -> Value:
        return run.ops.concatenate(parts, self.dimension % len(parts[0].shape))


class Split(Layer, takes="any"):
    """A tensor cut along a dimension into so many equal parts, or parts of these lengths."""

    parts: int | Sequence[int]
    dimension: int = 1

    def compute(self, run: Pass, x: Value) -> Value:
        axis = self.dimension % len(x.shape)
        size, parts = x.shape[axis], self.parts
        lengths = [size // max(parts, 1)] * parts if isinstance(parts, int) else list(parts)
        fits = sum(lengths) == size and min(lengths) > 0
        insist(fits, f"{parts} does not divide its {size} along {self.dimension}")
        return list(run.ops.split(x, lengths, axis))


class Reshape(Layer, takes="any"):
    """The same numbers in the same order, in another shape. One size may be -1 and then takes the rest."""

    shape: Sequence[int]

    def verify(self, source: Tensor) -> None:
        self._source_shape: Shape = source.shape

    def compute(self, run: Pass, x: Value) -> Value:
        shape = list(self.shape)
        if shape and self._source_shape and shape[0] != -1:
            # A smaller batch than the one for which the graph was made reduces the first size.
            shape[0] = shape[0] * x.shape[0] // self._source_shape[0]
        return run.ops.reshape(x, shape)


class Transpose(Layer, takes="any"):
    """Axis k of the result is axis dimensions[k] of the source. The batch stays first, as with Apple."""

    dimensions: Sequence[int]

    def compute(self, run: Pass, x: Value) -> Value:
        stays = self.dimensions and self.dimensions[0] == 0
        insist(stays, f"dimension 0 must stay first, and {list(self.dimensions)} moves it")
        return run.ops.transpose(x, self.dimensions)


class Slice(Layer, takes="any"):
    """From `start` to before `end` in steps of `stride`, for each dimension."""

    start: Sequence[int]
    end: Sequence[int]
    stride: Sequence[int] | None = None

    def settle(self) -> None:
        self.stride = [1] * len(self.start) if self.stride is None else self.stride

    def verify(self, source: Tensor) -> None:
        start, end, stride = list(self.start), list(self.end), list(self.stride or ())
        rows = list(zip_longest(start, end, stride, source.shape, fillvalue=-1))
        fits = all(0 <= first < last <= size and step > 0 for first, last, step, size in rows)
        found = f"start {start}, end {end}, stride {stride}"
        insist(fits, f"{found} must be 0 <= start < end <= size and from 1 on, for each dimension")

    def compute(self, run: Pass, x: Value) -> Value:
        ranges = zip(self.start, self.end, self.stride or (), strict=True)
        return run.ops.slice(x, [slice(*one) for one in ranges])


class Gather(Layer, sources=2, takes="any"):
    """result[.., j, ..] = source[.., indices[.., j, ..], ..]; sources are source and indices.

    Apple's header only says "the index of elements to gather". That it means elements, and not whole slices,
    is inferred from the scatter layer, and is what torch.gather does.
    """

    dimension: int = 1

    def verify(self, source: Tensor, indices: Tensor) -> None:
        self.limits = {1: source.shape[self.dimension]}

    def compute(self, run: Pass, source: Value, indices: Value) -> Value:
        return run.ops.take_along(source, indices, self.dimension % len(source.shape))


class Scatter(Layer, sources=3, takes="any", words={"reduction_type": ("None", "Sum")}):
    """The reverse of Gather: a copy in which result[.., indices[.., j, ..], ..] = source[.., j, ..].

    Sources are source, indices and the tensor that is copied first, as in scatterWithDimension of MLCGraph.h.
    With the reduction `sum` the source is added; with `none`, one of two numbers for the same place is kept.
    """

    dimension: int = 1
    reduction_type: str = "none"

    def verify(self, source: Tensor, indices: Tensor, copied: Tensor) -> None:
        self.limits = {1: copied.shape[self.dimension]}

    def compute(self, run: Pass, source: Value, indices: Value, copied: Value) -> Value:
        axis = self.dimension % len(copied.shape)
        return run.ops.put_along(copied, indices, source, axis, add=self.reduction_type == "Sum")


class Padding(Layer, words={"padding_type": "MLCPaddingType"}, axes=PICTURE, takes="numbers"):
    """A border: zeros, a constant, or the picture again, mirrored about its edge.

    `reflect` leaves the edge itself out (c b | a b c | b a), `symmetric` repeats it (b a | a b c | c b).
    Sizes are left, right, top, bottom.
    """

    padding_type: str
    sizes: Sequence[int]
    value: float = 0.0

    def settle(self) -> None:
        self.value = self.value if self.padding_type == "Constant" else 0.0
        fits = len(self.sizes) == 4 and all(isinstance(one, int) and one >= 0 for one in self.sizes)
        insist(fits, f"padding takes left, right, top and bottom, from 0 on, not {list(self.sizes)}.")

    def compute(self, run: Pass, x: Value) -> Value:
        left, right, top, bottom = self.sizes
        if self.padding_type in ("Zero", "Constant"):
            return run.ops.pad(x, [(0, 0), (0, 0), (top, bottom), (left, right)], self.value)
        height, width = (size - (self.padding_type == "Reflect") for size in x.shape[2:])
        fits = max(left, right) <= width and max(top, bottom) <= height
        insist(fits, f"a mirror shows no more than {height} rows and {width} columns")
        for axis, sizes in ((2, (top, bottom)), (3, (left, right))):
            mirrored = np.pad(np.arange(x.shape[axis]), sizes, self.padding_type.lower())  # type: ignore[call-overload]
            x = run.ops.take(x, mirrored, axis)
        return x


class Upsample(Layer, words={"sample_mode": "MLCSampleMode"}, axes=PICTURE):
    """A picture in another size [height, width], by the nearest number or by linear interpolation.

    Place i of the result is at i * old / new of the source (nearest, rounded down), at (i + 0.5) * old / new
    - 0.5 (linear), or, with aligned corners, at i * (old - 1) / (new - 1), which maps corners to corners.
    This is what torch.nn.functional.interpolate does.
    """

    shape: Sizes
    sample_mode: str = "nearest"
    aligns_corners: bool = False

    def settle(self) -> None:
        self.shape = self.pair("shape")

    def compute(self, run: Pass, x: Value) -> Value:
        for axis, new in ((2, self.shape[0]), (3, self.shape[1])):
            old, places = x.shape[axis], np.arange(new)
            if self.sample_mode == "Nearest":
                x = run.ops.take(x, places * old // new, axis)
                continue
            straight, centred = places * ((old - 1) / max(new - 1, 1)), (places + 0.5) * (old / new) - 0.5
            places = straight if self.aligns_corners else np.maximum(centred, 0.0)
            low = np.minimum(places.astype(np.int64), old - 1)
            share = (places - low).reshape([-1, 1] if axis == 2 else [-1]).astype(x.dtype.name)
            below, above = (run.ops.take(x, np.minimum(low + more, old - 1), axis) for more in (0, 1))
            x = below * run.ops.constant(1 - share) + above * run.ops.constant(share)
        return x
