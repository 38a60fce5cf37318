"""Tensors, the nodes of a graph, and the data that fills them.

A tensor has a shape, a type and a name. It has no values before a graph is executed, unless it is given some:
then it is a constant, or a layer's weights. `tensor_data` wraps values, and belongs to no graph.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jupyter_mlgpu.graphs.mlcompute.names import ENUMERATIONS, choose, insist

if TYPE_CHECKING:
    from jupyter_mlgpu.graphs.mlcompute.structure import Step

Array = NDArray[Any]
Shape = tuple[int, ...]

#: Apple's data types as NumPy types. Float64 is not Apple's.
_WORDS = [word for word in (*ENUMERATIONS["MLCDataType"], "Float64") if word != "Invalid"]
DTYPES = {word: np.dtype("bool" if word == "Boolean" else word.lower()) for word in _WORDS}
TYPES = {dtype: word for word, dtype in DTYPES.items()}
FLOATS = frozenset({"Float16", "Float32", "Float64"})

_numbers = itertools.count(1)


def show(array: Array) -> str:
    """Return the values in a row, as C prints them with `%g`."""
    return " ".join(f"{value:g}" for value in array.reshape(-1).astype(np.float64))


class TensorData:
    """Values, as a NumPy array; it is not a node of a graph, so it has no gradient."""

    def __init__(self, values: ArrayLike) -> None:
        self.array = np.asarray(values)
        #: Numbers from a plain list have no type of their own, and take the tensor's.
        self.typed = isinstance(values, np.ndarray | np.generic)
        wrong = f"tensor_data takes numbers, and was given values of type {self.array.dtype}."
        insist(self.array.dtype.kind in "fiub", wrong)

    def numpy(self) -> Array:
        """Return the values."""
        return self.array

    def print(self) -> None:
        """Print the values with `%g`."""
        print(show(self.array))

    def __repr__(self) -> str:
        return f"MLCTensorData {list(self.array.shape)} {self.array.dtype}: {show(self.array)}"


class Tensor:
    """A node of a graph. Its name is `data` and a number in the order of creation.

    Attributes:
        name: as it is printed.
        shape: the batch size, if any, is its first number.
        data_type: one of Apple's words, such as Float32.
        step: the layer that makes it, with its sources; None for a tensor from outside.
    """

    def __init__(self, shape: Sequence[int], data_type: str, step: Step | None = None) -> None:
        self.name = f"data{next(_numbers)}"
        self.shape: Shape = tuple(shape)
        self.data_type, self.step = data_type, step
        self._value: Any = None  # anything that NumPy can read, such as an engine's own array
        self._gradient: Any = None
        self.own = False  # has values of its own: a constant, or weights
        self._before_reading: Callable[[], None] | None = None

    @property
    def dtype(self) -> np.dtype[Any]:
        return DTYPES[self.data_type]

    def numpy(self) -> Array:
        """Return the values of the last execution, or its own values; wait for the device.

        Raises:
            GraphError: it has none yet.
        """
        if self._before_reading is not None:
            self._before_reading()
        why = f"{self.step.layer.title} makes it" if self.step else "it is an input"
        insist(self.has_values, f"{self} has no values yet: {why}, so execute a graph with it first.")
        return np.asarray(self._value)

    @property
    def has_values(self) -> bool:
        return self._value is not None

    @property
    def gradient(self) -> Array:
        """The gradient of the sum of the losses by each value, after `execute` or `execute_gradient`.

        Raises:
            GraphError: no training graph has computed it.
        """
        wrong = f"{self} has no gradient: call execute_gradient of a training graph first."
        insist(self._gradient is not None, wrong)
        return np.asarray(self._gradient)

    def print(self) -> None:
        """Print name and values, as Apple's bridge does: `MLCTensor data5 : 1 2.1`."""
        print(f"MLCTensor {self.name} : {show(self.numpy())}")

    def short(self) -> str:
        """Return the first values and, if there are more than six, the mean of all."""
        values = self.numpy().reshape(-1)
        return show(values) if len(values) <= 6 else f"{show(values[:6])} ... (mean {values.mean():g})"

    def fill(self, data: TensorData | ArrayLike, batch: int | None = None) -> Array:
        """Return the data in this tensor's shape and type. Only the number of elements must match.

        `batch` replaces the first number of the shape.

        Raises:
            GraphError: the number of elements or the type differs.
        """
        given = data if isinstance(data, TensorData) else TensorData(data)
        array, shape = given.array, self.shape if batch is None else (batch, *self.shape[1:])
        found = f"{array.dtype} of shape {list(array.shape)}"
        hint = f"pass the array with .astype({self.dtype.name!r})"
        fits = array.dtype == self.dtype or not given.typed
        insist(fits, f"{self} takes {self.data_type} and was given {found}; {hint}.")
        wanted = f"{math.prod(shape)} values{'' if batch is None else f' for a batch of {batch}'}"
        wrong = f"{self} takes {wanted} and was given {array.size}, of shape {list(array.shape)}."
        insist(array.size == math.prod(shape), wrong)
        return array.astype(self.dtype, copy=False).reshape(shape)

    def __str__(self) -> str:
        return f"{self.name} {list(self.shape)}"

    def __repr__(self) -> str:
        return f"MLCTensor {self} {self.data_type}{f' : {self.short()}' if self.has_values else ''}"


class TensorParameter:
    """A tensor that the optimizer updates although it belongs to no layer, such as positions of words."""

    def __init__(self, tensor: Tensor) -> None:
        wrong = f"{tensor} cannot be a parameter: give tensor() float data or random=..."
        insist(tensor.own and tensor.data_type in FLOATS, wrong)
        self.tensor = tensor


def tensor(
    shape: Sequence[int],
    data_type: str = "Float32",
    *,
    data: TensorData | ArrayLike | None = None,
    fill: float | None = None,
    random: str | None = None,
    seed: int | None = None,
) -> Tensor:
    """Return a tensor of this shape. With `data`, `fill` or `random` it is a constant or weights.

    `random` is `uniform` (between -1 and 1), or `glorot_uniform` or `xavier`: uniform within sqrt(6 / (inputs
    + outputs)) of 0 (Glorot and Bengio, 2010); the shape is [outputs, inputs, ...]. Apple does not document
    the bounds of its word uniform; these are ours.

    Raises:
        GraphError: a shape that is not whole numbers from 1 on, an unknown type, data that does not fit.
    """
    sizes = tuple(shape)
    whole = all(isinstance(size, int | np.integer) and size > 0 for size in sizes)
    insist(whole, f"tensor takes a shape of whole numbers from 1 on, and was given {list(sizes)}.")
    result = Tensor([int(size) for size in sizes], choose(DTYPES, data_type, "tensor"))
    result.own = any(one is not None for one in (data, fill, random))
    if data is not None:
        result._value = result.fill(data).copy()
    elif fill is not None:
        result._value = np.full(result.shape, fill, result.dtype)
    elif random is not None:
        floats = result.data_type in FLOATS
        insist(floats, f"{result} of type {result.data_type} cannot be random: only floats can.")
        kind = choose(["Uniform", "GlorotUniform", "Xavier"], random, "tensor")
        outputs, inputs, *field = (*result.shape, 1)
        bound = 1.0 if kind == "Uniform" else math.sqrt(6 / ((inputs + outputs) * math.prod(field)))
        values = np.random.default_rng(seed).uniform(-bound, bound, result.shape)
        result._value = values.astype(result.dtype)
    return result
