"""Layers that move numbers to other places: join, cut, reshape, transpose, slice, gather, scatter, pad,
resize.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from jupyter_mlgpu.errors import GraphError
from jupyter_mlgpu.mlcompute.layers.base import Layer, Run, Spec, pair
from jupyter_mlgpu.mlcompute.names import choose
from jupyter_mlgpu.mlcompute.ops import Ops, Value
from jupyter_mlgpu.mlcompute.tensors import Array, Tensor

_INTEGERS = ("Int32", "Int64")


class Concatenation(Layer):
    """Tensors one after another along a dimension; their other sizes are equal."""

    least, most = 2, 10**6

    def __init__(self, dimension: int = 1) -> None:
        self.dimension = dimension

    def results(self, *sources: Tensor) -> list[Spec]:
        self.need_one_type(*sources)
        axis = self.axis(sources[0], self.dimension)
        others = {(*source.shape[:axis], *source.shape[axis + 1 :]) for source in sources}
        if len(others) > 1 or len({len(source.shape) for source in sources}) > 1:
            self.refuse(sources, f"they differ in more than dimension {self.dimension}")
        shape = list(sources[0].shape)
        shape[axis] = sum(source.shape[axis] for source in sources)
        return [Spec(tuple(shape), sources[0].data_type)]

    def compute(self, run: Run, *sources: Value) -> Value:
        return run.ops.concatenate(sources, self.dimension % len(sources[0].shape))


class Split(Layer):
    """A tensor cut along a dimension: into so many equal parts, or parts of these lengths."""

    def __init__(self, parts: int | Sequence[int], dimension: int = 1) -> None:
        self.parts = parts if isinstance(parts, int) else tuple(parts)
        self.dimension = dimension

    def _ends(self, size: int) -> list[int]:
        count = self.parts if isinstance(self.parts, int) else len(self.parts)
        lengths = [size // max(count, 1)] * count if isinstance(self.parts, int) else self.parts
        return [sum(lengths[:place]) for place in range(count + 1)]

    def results(self, *sources: Tensor) -> list[Spec]:
        (source,) = sources
        axis = self.axis(source, self.dimension)
        ends = self._ends(source.shape[axis])
        lengths = [after - before for before, after in pairwise(ends)]
        if ends[-1] != source.shape[axis] or not lengths or min(lengths) < 1:
            self.refuse(
                sources, f"{self.parts} does not divide its {source.shape[axis]} along {self.dimension}"
            )
        shape = source.shape
        return [Spec((*shape[:axis], length, *shape[axis + 1 :]), source.data_type) for length in lengths]

    def compute(self, run: Run, *sources: Value) -> list[Value]:
        (x,) = sources
        axis = self.dimension % len(x.shape)
        before, ends = [slice(None)] * axis, self._ends(x.shape[axis])
        return [run.ops.slice(x, [*before, slice(a, b)]) for a, b in pairwise(ends)]


class Reshape(Layer):
    """The same numbers in the same order, in another shape. One size may be -1: what is left."""

    def __init__(self, shape: Sequence[int]) -> None:
        self.shape = tuple(shape)

    def results(self, *sources: Tensor) -> list[Spec]:
        (source,) = sources
        size, known = math.prod(source.shape), math.prod(one for one in self.shape if one != -1)
        wrong = self.shape.count(-1) > 1 or any(one < 1 and one != -1 for one in self.shape)
        if wrong or size % known or (-1 not in self.shape and size != known):
            self.refuse(sources, f"its {size} numbers do not make {list(self.shape)}")
        shape = tuple(size // known if one == -1 else one for one in self.shape)
        self._declared = source.shape, shape
        return [Spec(shape, source.data_type)]

    def compute(self, run: Run, *sources: Value) -> Value:
        (x,) = sources
        before, after = self._declared
        if not after or not before:
            return run.ops.reshape(x, after)
        # A smaller batch than the one the graph was made for shrinks the first size.
        return run.ops.reshape(x, (after[0] * x.shape[0] // before[0], *after[1:]))


class Transpose(Layer):
    """Axis k of the result is axis dimensions[k] of the source. The batch stays first, as Apple has it."""

    def __init__(self, dimensions: Sequence[int]) -> None:
        self.dimensions = tuple(dimensions)

    def results(self, *sources: Tensor) -> list[Spec]:
        (source,) = sources
        if sorted(self.dimensions) != list(range(len(source.shape))) or self.dimensions[0] != 0:
            self.refuse(
                sources,
                f"dimensions must be 0 and then the others in some order, not {list(self.dimensions)}",
            )
        return [Spec(tuple(source.shape[axis] for axis in self.dimensions), source.data_type)]

    def compute(self, run: Run, *sources: Value) -> Value:
        return run.ops.transpose(sources[0], self.dimensions)


class Slice(Layer):
    """From `start` to before `end` in steps of `stride`, for each dimension."""

    def __init__(self, start: Sequence[int], end: Sequence[int], stride: Sequence[int] | None = None) -> None:
        self.start, self.end = tuple(start), tuple(end)
        self.stride = (1,) * len(self.start) if stride is None else tuple(stride)

    def results(self, *sources: Tensor) -> list[Spec]:
        (source,) = sources
        ranges = list(zip(self.start, self.end, self.stride, strict=False))
        fits = len(source.shape) == len(self.start) == len(self.end) == len(self.stride) and all(
            0 <= a < b <= size and step > 0 for (a, b, step), size in zip(ranges, source.shape, strict=True)
        )
        if not fits:
            self.refuse(
                sources,
                f"start {list(self.start)}, end {list(self.end)} and stride {list(self.stride)} must give "
                "for each dimension 0 <= start < end <= size and a stride from 1 on",
            )
        return [Spec(tuple(len(range(*one)) for one in ranges), source.data_type)]

    def compute(self, run: Run, *sources: Value) -> Value:
        ranges = zip(self.start, self.end, self.stride, strict=True)
        return run.ops.slice(sources[0], [slice(*one) for one in ranges])


class Gather(Layer):
    """result[.., j, ..] = source[.., indices[.., j, ..], ..]; sources are source and indices.

    Apple's header says "the index of elements to gather", no more. That elements, and not whole slices, are
    meant is judged from the scatter beside it, and is what torch.gather does.
    """

    least = most = 2

    def __init__(self, dimension: int = 1) -> None:
        self.dimension = dimension

    def results(self, *sources: Tensor) -> list[Spec]:
        source, indices = sources
        _check_indices(self, source, indices, self.axis(source, self.dimension))
        return [Spec(indices.shape, source.data_type)]

    def compute(self, run: Run, *sources: Value) -> Value:
        source, indices = sources
        return run.ops.take_along(source, indices, self.dimension % len(source.shape))


class Scatter(Layer):
    """The reverse of Gather: a copy in which result[.., indices[.., j, ..], ..] = source[.., j, ..].

    Sources are source, indices and what is copied first, as in scatterWithDimension of MLCGraph.h. With the
    reduction `sum` the source is added; with `none`, two numbers for one place leave either of them.
    """

    least = most = 3

    def __init__(self, dimension: int = 1, reduction_type: str = "none") -> None:
        self.dimension = dimension
        self.reduction = choose("MLCReductionType", reduction_type, "scatter_layer", ["None", "Sum"])

    def results(self, *sources: Tensor) -> list[Spec]:
        source, indices, copied = sources
        self.need_one_type(source, copied)
        _check_indices(self, copied, indices, self.axis(copied, self.dimension))
        if source.shape != indices.shape:
            self.refuse(sources, "the first two must have one shape")
        return [Spec(copied.shape, copied.data_type)]

    def compute(self, run: Run, *sources: Value) -> Value:
        source, indices, copied = sources
        axis = self.dimension % len(copied.shape)
        return run.ops.put_along(copied, indices, source, axis, add=self.reduction == "Sum")


def _check_indices(layer: Layer, source: Tensor, indices: Tensor, axis: int) -> None:
    if indices.data_type not in _INTEGERS:
        layer.refuse([source, indices], f"the indices must be Int32 or Int64, and are {indices.data_type}")
    same = [
        a == b or place == axis for place, (a, b) in enumerate(zip(source.shape, indices.shape, strict=False))
    ]
    if len(source.shape) != len(indices.shape) or not all(same):
        layer.refuse([source, indices], f"they may differ in dimension {axis} alone")
    layer.limits = {1: source.shape[axis]}


class Padding(Layer):
    """A border: zeros, a constant, or the picture again, mirrored about its edge.

    `reflect` leaves the edge itself out (c b | a b c | b a), `symmetric` repeats it (b a | a b c | c b).
    Sizes are left, right, top, bottom.
    """

    def __init__(self, padding_type: str, sizes: Sequence[int], value: float = 0.0) -> None:
        self.type = choose("MLCPaddingType", padding_type, "padding_layer")
        self.sizes = tuple(sizes)
        if len(self.sizes) != 4 or not all(isinstance(one, int) and one >= 0 for one in self.sizes):
            raise GraphError(
                f"padding_layer takes left, right, top and bottom, from 0 on, not {list(sizes)}."
            )
        self.value = value if self.type == "Constant" else 0.0

    def results(self, *sources: Tensor) -> list[Spec]:
        (source,) = sources
        self.need_rank(source, 4, "[batch, channels, height, width]")
        left, right, top, bottom = self.sizes
        *before, height, width = source.shape
        most = {"Reflect": -1, "Symmetric": 0}.get(self.type)
        if most is not None and (max(left, right) > width + most or max(top, bottom) > height + most):
            self.refuse(
                sources, f"a mirror shows no more than {height + most} rows and {width + most} columns"
            )
        return [Spec((*before, height + top + bottom, width + left + right), source.data_type)]

    def compute(self, run: Run, *sources: Value) -> Value:
        (x,) = sources
        left, right, top, bottom = self.sizes
        if self.type in ("Zero", "Constant"):
            return run.ops.pad(x, [(0, 0), (0, 0), (top, bottom), (left, right)], self.value)
        for axis, sizes in ((2, (top, bottom)), (3, (left, right))):
            places = np.arange(x.shape[axis])
            mirrored = np.pad(places, sizes, "reflect" if self.type == "Reflect" else "symmetric")
            x = run.ops.take(x, mirrored, axis)
        return x


class Upsample(Layer):
    """A picture in another size [height, width]: each place takes the nearest number, or mixes the two beside
    it.

    Place i of the result lies at i * old / new of the source (nearest, rounded down), at
    (i + 0.5) * old / new - 0.5 (linear), or, with aligned corners, at i * (old - 1) / (new - 1), which takes
    corners to corners. As torch.nn.functional.interpolate has it.
    """

    def __init__(
        self, shape: int | Sequence[int], sample_mode: str = "nearest", aligns_corners: bool = False
    ) -> None:
        self.shape = pair(shape, "shape", "upsample_layer")
        self.mode = choose("MLCSampleMode", sample_mode, "upsample_layer")
        self.aligns_corners = aligns_corners

    def results(self, *sources: Tensor) -> list[Spec]:
        (source,) = sources
        self.need_floats(source)
        self.need_rank(source, 4, "[batch, channels, height, width]")
        return [Spec((*source.shape[:2], *self.shape), source.data_type)]

    def compute(self, run: Run, *sources: Value) -> Value:
        (x,) = sources
        for axis, new in ((2, self.shape[0]), (3, self.shape[1])):
            old, places = x.shape[axis], np.arange(new)
            if self.mode == "Nearest":
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
