"""The engine that computes only shapes: a layer's formula on shapes and types gives those of its results.

So no layer needs a second set of rules, and a mistake is found while a graph is built, before there is any
data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from jupyter_mlgpu.graphs.mlcompute.names import insist
from jupyter_mlgpu.graphs.mlcompute.ops import BINARY, TESTS, UNARY, Ops, Pair
from jupyter_mlgpu.graphs.mlcompute.tensors import TYPES, Array, Shape


def broadcast(*forms: Any) -> Form:
    """Return the broadcast form of arrays and plain numbers, by NumPy's rule.

    Sizes are equal, or 1, counted from the last.
    """
    arrays = [one for one in forms if hasattr(one, "shape")]
    types = sorted({TYPES[one.dtype] for one in arrays})
    insist(len(types) == 1, f"they are of different types, {' and '.join(types)}")
    result, rule = [], "shapes fit where each size is equal or 1, counted from the last"
    for axis in range(-max(len(one.shape) for one in arrays), 0):
        sizes = sorted({one.shape[axis] for one in arrays if -axis <= len(one.shape)} - {1})
        insist(len(sizes) < 2, f"{rule}, and {' and '.join(map(str, sizes))} are not")
        result.append(max(sizes, default=1))
    return Form(result, arrays[0].dtype)


class Form:
    """The shape and type of an array that has no values yet."""

    __array_ufunc__ = None  # NumPy then leaves `array * form` to the form

    def __init__(self, shape: Sequence[int], dtype: np.dtype[Any]) -> None:
        self.shape: Shape = tuple(int(size) for size in shape)
        self.dtype = np.dtype(dtype)

    __add__ = __sub__ = __mul__ = __truediv__ = __radd__ = __rsub__ = __rmul__ = __rtruediv__ = broadcast

    def __neg__(self) -> Form:
        return self

    def resized(self, axis: int, *sizes: int) -> Form:
        """Return the form with these sizes in place of one axis."""
        return Form((*self.shape[:axis], *sizes, *self.shape[axis + 1 :]), self.dtype)


class ShapeOps(Ops):
    """The operations on Forms. If something does not fit, the GraphError only says why."""

    def __init__(self) -> None:
        for words, function in ((UNARY, broadcast), (BINARY, broadcast), (TESTS, self._test)):
            for word in words.split():
                setattr(self, word, function)
        self.logical_and = self.logical_or = self.logical_not = self._logical
        self.stop_gradient = broadcast

    def _test(self, *forms: Any) -> Form:
        return Form(broadcast(*forms).shape, np.dtype(bool))

    def _logical(self, *forms: Any) -> Form:
        boolean = all(one.dtype == bool for one in forms)
        insist(boolean, f"it needs Boolean, and these are {TYPES[forms[0].dtype]}")
        return broadcast(*forms)

    def constant(self, array: Array) -> Form:
        return Form(array.shape, array.dtype)

    def cast(self, x: Form, dtype: np.dtype[Any]) -> Form:
        return Form(x.shape, dtype)

    def where(self, condition: Form, x: Any, y: Any) -> Form:
        chosen, mask = broadcast(x, y), self._logical(condition)
        return Form(broadcast(mask, self._test(chosen)).shape, chosen.dtype)

    def matmul(self, x: Form, y: Form) -> Form:
        fits = min(len(x.shape), len(y.shape)) > 1 and x.shape[-1] == y.shape[-2]
        insist(fits, f"rows {list(x.shape)} do not meet columns {list(y.shape)}")
        before = broadcast(Form((*x.shape[:-2], 1), x.dtype), Form((*y.shape[:-2], 1), y.dtype))
        return Form((*before.shape[:-1], x.shape[-2], y.shape[-1]), before.dtype)

    def sum(self, x: Form, axes: Sequence[int], keep: bool = False) -> Form:
        kept = [1 if axis in axes else size for axis, size in enumerate(x.shape) if keep or axis not in axes]
        return Form(kept, x.dtype)

    max = sum

    def argmax(self, x: Form, axis: int) -> Form:
        return Form(self.sum(x, [axis]).shape, np.dtype(np.int32))

    def reshape(self, x: Form, shape: Sequence[int]) -> Form:
        size, known = math.prod(x.shape), math.prod(one for one in shape if one != -1)
        whole = [size // max(known, 1) if one == -1 else one for one in shape]
        fits = list(shape).count(-1) < 2 and min(whole, default=1) > 0 and math.prod(whole) == size
        insist(fits, f"its {size} numbers do not make {list(shape)}")
        return Form(whole, x.dtype)

    def transpose(self, x: Form, axes: Sequence[int]) -> Form:
        order = sorted(axes) == list(range(len(x.shape)))
        insist(order, f"{list(axes)} is no order of its {len(x.shape)} dimensions")
        return Form([x.shape[axis] for axis in axes], x.dtype)

    def concatenate(self, parts: Sequence[Form], axis: int) -> Form:
        broadcast(*(Form((), part.dtype) for part in parts))
        others = {part.resized(axis, 1).shape for part in parts}
        insist(len(others) == 1, f"they differ in more than dimension {axis}")
        return parts[0].resized(axis, sum(part.shape[axis] for part in parts))

    def slice(self, x: Form, slices: Sequence[slice]) -> Form:
        cut = [len(range(*one.indices(size))) for one, size in zip(slices, x.shape, strict=False)]
        return Form((*cut, *x.shape[len(cut) :]), x.dtype)

    def pad(self, x: Form, widths: Sequence[Pair], value: float = 0.0) -> Form:
        return Form([size + sum(more) for size, more in zip(x.shape, widths, strict=True)], x.dtype)

    def take(self, x: Form, indices: Any, axis: int) -> Form:
        whole = indices.dtype.kind == "i"
        insist(whole, f"it chooses by Int32 or Int64, and finds {TYPES[indices.dtype]}")
        return x.resized(axis, *indices.shape)

    def take_along(self, x: Form, indices: Form, axis: int) -> Form:
        fits = self.take(x, indices, axis) and x.resized(axis, 1).shape == indices.resized(axis, 1).shape
        insist(fits, f"source and indices may differ in dimension {axis} alone")
        return Form(indices.shape, x.dtype)

    def put_along(self, x: Form, indices: Form, updates: Form, axis: int, add: bool) -> Form:
        fits = self.take_along(x, indices, axis).shape == updates.shape
        insist(fits, "source and indices must have one shape")
        return broadcast(x, Form((), updates.dtype))
