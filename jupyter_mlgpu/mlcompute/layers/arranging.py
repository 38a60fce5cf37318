"""Layers that move numbers to other places: join, cut, reshape, transpose, slice, gather, scatter, pad,
resize.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from jupyter_mlgpu.errors import GraphError
from jupyter_mlgpu.mlcompute.layers.base import MANY, PICTURE, Layer, Run, Sizes
from jupyter_mlgpu.mlcompute.names import choose
from jupyter_mlgpu.mlcompute.ops import Ops, Value
from jupyter_mlgpu.mlcompute.tensors import Array, Shape, Tensor


class Concatenation(Layer):
    """Tensors one after another along a dimension; their other sizes are equal."""

    dimension: int = 1
    least, most, takes = 2, MANY, "any"

    def compute(self, run: Run, *sources: Value) -> Value:
        return run.ops.concatenate(sources, self.dimension % len(sources[0].shape))


class Split(Layer):
    """A tensor cut along a dimension: into so many equal parts, or parts of these lengths."""

    parts: int | Sequence[int]
    dimension: int = 1
    takes = "any"

    def _ends(self, size: int) -> list[int]:
        equal = isinstance(self.parts, int)
        lengths = [size // max(self.parts, 1)] * self.parts if isinstance(self.parts, int) else self.parts
        ends = [sum(lengths[:place]) for place in range(len(lengths) + 1)]
        return ends if ends[-1] == size and (equal or min(lengths) > 0) else []

    def verify(self, *sources: Tensor) -> None:
        size = sources[0].shape[self.dimension]
        if not self._ends(size):
            self.refuse(sources, f"{self.parts} does not divide its {size} along {self.dimension}")

    def compute(self, run: Run, *sources: Value) -> Value:
        (x,) = sources
        axis = self.dimension % len(x.shape)
        before = [slice(None)] * axis
        return [run.ops.slice(x, [*before, slice(*ends)]) for ends in pairwise(self._ends(x.shape[axis]))]


class Reshape(Layer):
    """The same numbers in the same order, in another shape. One size may be -1: what is left."""

    shape: Sequence[int]
    takes = "any"

    def verify(self, *sources: Tensor) -> None:
        self._made_for: Shape = sources[0].shape

    def compute(self, run: Run, *sources: Value) -> Value:
        (x,), shape = sources, list(self.shape)
        if shape and self._made_for and shape[0] != -1:
            # A smaller batch than the one that the graph was made for shrinks the first size.
            shape[0] = shape[0] * x.shape[0] // self._made_for[0]
        return run.ops.reshape(x, shape)


class Transpose(Layer):
    """Axis k of the result is axis dimensions[k] of the source. The batch stays first, as Apple has it."""

    dimensions: Sequence[int]
    takes = "any"

    def verify(self, *sources: Tensor) -> None:
        if not self.dimensions or self.dimensions[0] != 0:
            self.refuse(sources, f"dimension 0 must stay first, and {list(self.dimensions)} moves it")

    def compute(self, run: Run, *sources: Value) -> Value:
        return run.ops.transpose(sources[0], self.dimensions)


class Slice(Layer):
    """From `start` to before `end` in steps of `stride`, for each dimension."""

    start: Sequence[int]
    end: Sequence[int]
    stride: Sequence[int] | None = None
    takes = "any"

    def settle(self) -> None:
        self.stride = [1] * len(self.start) if self.stride is None else self.stride

    def verify(self, *sources: Tensor) -> None:
        shape, lists = sources[0].shape, (self.start, self.end, self.stride or ())
        fits = all(len(one) == len(shape) for one in lists) and all(
            0 <= a < b <= size and step > 0 for a, b, step, size in zip(*lists, shape, strict=True)
        )
        if not fits:
            found = f"start {list(self.start)}, end {list(self.end)}, stride {list(self.stride or ())}"
            self.refuse(
                sources, f"{found} must be 0 <= start < end <= size and from 1 on, for each dimension"
            )

    def compute(self, run: Run, *sources: Value) -> Value:
        ranges = zip(self.start, self.end, self.stride or (), strict=True)
        return run.ops.slice(sources[0], [slice(*one) for one in ranges])


class Gather(Layer):
    """result[.., j, ..] = source[.., indices[.., j, ..], ..]; sources are source and indices.

    Apple's header says "the index of elements to gather", no more. That elements, and not whole slices, are
    meant is judged from the scatter beside it, and is what torch.gather does.
    """

    dimension: int = 1
    least = most = 2
    takes = "any"

    def verify(self, *sources: Tensor) -> None:
        self.limits = {1: sources[0].shape[self.dimension]}

    def compute(self, run: Run, *sources: Value) -> Value:
        source, indices = sources
        return run.ops.take_along(source, indices, self.dimension % len(source.shape))


class Scatter(Layer):
    """The reverse of Gather: a copy in which result[.., indices[.., j, ..], ..] = source[.., j, ..].

    Sources are source, indices and what is copied first, as in scatterWithDimension of MLCGraph.h. With the
    reduction `sum` the source is added; with `none`, two numbers for one place leave either of them.
    """

    dimension: int = 1
    reduction_type: str = "none"
    least = most = 3
    takes = "any"

    def settle(self) -> None:
        sums = ["None", "Sum"]
        self.reduction_type = choose("MLCReductionType", self.reduction_type, "scatter_layer", sums)

    def verify(self, *sources: Tensor) -> None:
        self.limits = {1: sources[2].shape[self.dimension]}

    def compute(self, run: Run, *sources: Value) -> Value:
        source, indices, copied = sources
        axis = self.dimension % len(copied.shape)
        return run.ops.put_along(copied, indices, source, axis, add=self.reduction_type == "Sum")


class Padding(Layer):
    """A border: zeros, a constant, or the picture again, mirrored about its edge.

    `reflect` leaves the edge itself out (c b | a b c | b a), `symmetric` repeats it (b a | a b c | c b).
    Sizes are left, right, top, bottom.
    """

    padding_type: str
    sizes: Sequence[int]
    value: float = 0.0
    words, axes, takes = {"padding_type": "MLCPaddingType"}, PICTURE, "numbers"

    def settle(self) -> None:
        self.value = self.value if self.padding_type == "Constant" else 0.0
        if len(self.sizes) != 4 or not all(isinstance(one, int) and one >= 0 for one in self.sizes):
            raise GraphError(f"padding takes left, right, top and bottom, from 0 on, not {list(self.sizes)}.")

    def verify(self, *sources: Tensor) -> None:
        left, right, top, bottom = self.sizes
        least = {"Reflect": 1, "Symmetric": 0}.get(self.padding_type, -MANY)
        height, width = (size - least for size in sources[0].shape[2:])
        if max(left, right) > width or max(top, bottom) > height:
            self.refuse(sources, f"a mirror shows no more than {height} rows and {width} columns")

    def compute(self, run: Run, *sources: Value) -> Value:
        (x,), (left, right, top, bottom) = sources, self.sizes
        if self.padding_type in ("Zero", "Constant"):
            return run.ops.pad(x, [(0, 0), (0, 0), (top, bottom), (left, right)], self.value)
        for axis, sizes in ((2, (top, bottom)), (3, (left, right))):
            places = np.arange(x.shape[axis])
            mirrored = np.pad(places, sizes, "reflect" if self.padding_type == "Reflect" else "symmetric")
            x = run.ops.take(x, mirrored, axis)
        return x


class Upsample(Layer):
    """A picture in another size [height, width]: each place takes the nearest number, or mixes two beside it.

    Place i of the result lies at i * old / new of the source (nearest, rounded down), at
    (i + 0.5) * old / new - 0.5 (linear), or, with aligned corners, at i * (old - 1) / (new - 1), which takes
    corners to corners. As torch.nn.functional.interpolate has it.
    """

    shape: Sizes
    sample_mode: str = "nearest"
    aligns_corners: bool = False
    words, axes = {"sample_mode": "MLCSampleMode"}, PICTURE

    def settle(self) -> None:
        self.shape = self.pair("shape")

    def compute(self, run: Run, *sources: Value) -> Value:
        (x,) = sources
        for axis, new in ((2, self.shape[0]), (3, self.shape[1])):
            old, places = x.shape[axis], np.arange(new)
            if self.sample_mode == "Nearest":
                x = run.ops.take(x, places * old // new, axis)
            elif self.aligns_corners:
                x = _mix(run.ops, x, places * ((old - 1) / max(new - 1, 1)), axis)
            else:
                x = _mix(run.ops, x, np.maximum((places + 0.5) * (old / new) - 0.5, 0.0), axis)
        return x


def _mix(ops: Ops, x: Value, places: Array, axis: int) -> Value:
    low = np.minimum(places.astype(np.int64), x.shape[axis] - 1)
    high = np.minimum(low + 1, x.shape[axis] - 1)
    shape = [1] * axis + [-1] + [1] * (len(x.shape) - axis - 1)
    share = ops.constant((places - low).reshape(shape).astype(x.dtype.name))
    return ops.take(x, low, axis) * (1.0 - share) + ops.take(x, high, axis) * share
