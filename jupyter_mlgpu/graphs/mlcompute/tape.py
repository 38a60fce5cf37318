"""Reverse-mode differentiation over NumPy: arrays that remember what they were made of.

Each operation computes its result and records, for every argument, how a gradient of the result becomes a
gradient of that argument (the chain rule: times the derivative). `backward` walks these records from the
result to the beginning and adds up the gradients (Griewank and Walther, Evaluating Derivatives, chapter 3).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from jupyter_mlgpu.graphs.mlcompute.ops import TESTS, Ops, Pair
from jupyter_mlgpu.graphs.mlcompute.tensors import Array

Back = Callable[[Array], Array]

_numbers = itertools.count()


def _two(function: Callable[..., Any], to_x: Any, to_y: Any) -> Callable[[Any, Any], Value]:
    """Return an operation on two arrays, from functions from the result's gradient to those of each."""

    def operation(x: Any, y: Any) -> Value:
        a, b = plain(x), plain(y)
        back_x = (x, lambda g: _fold(to_x(g, a, b), a.shape))
        return Value(function(a, b), back_x, (y, lambda g: _fold(to_y(g, a, b), b.shape)))

    return operation


def _fold(gradient: Array, shape: tuple[int, ...]) -> Array:
    """Sum a gradient over the axes that broadcasting has repeated."""
    gradient = gradient.sum(tuple(range(gradient.ndim - len(shape))))
    repeated = tuple(axis for axis, size in enumerate(shape) if size == 1 and gradient.shape[axis] != 1)
    return gradient.sum(repeated, keepdims=True) if repeated else gradient


class Value:
    """An array and, for each argument it was made of, the function from its gradient to the argument's.

    Values are numbered in order of creation: each has a higher number than those it was made of.
    """

    __array_ufunc__ = None  # NumPy then leaves `array * value` to the value

    def __init__(self, array: Any, *parents: tuple[Any, Back]) -> None:
        self.array: Array = np.asarray(array)
        self.shape, self.dtype = self.array.shape, self.array.dtype
        self.parents = [(one, back) for one, back in parents if isinstance(one, Value)]
        self.number = next(_numbers)

    __add__ = __radd__ = _two(np.add, lambda g, x, y: g, lambda g, x, y: g)
    __sub__ = _two(np.subtract, lambda g, x, y: g, lambda g, x, y: -g)
    __rsub__ = _two(lambda x, y: y - x, lambda g, x, y: -g, lambda g, x, y: g)
    __mul__ = __rmul__ = _two(np.multiply, lambda g, x, y: g * y, lambda g, x, y: g * x)
    __truediv__ = _two(np.divide, lambda g, x, y: g / y, lambda g, x, y: -g * x / (y * y))
    __rtruediv__ = _two(lambda x, y: y / x, lambda g, x, y: -g * y / (x * x), lambda g, x, y: g / x)

    def __neg__(self) -> Value:
        return Value(-self.array, (self, np.negative))


def backward(starts: Iterable[tuple[Value, Array]]) -> dict[Value, Array]:
    """Return the gradients of the sum of all `start * gradient`."""
    gradients: dict[Value, Array] = {}
    arriving: dict[Value, Array] = {}
    for value, gradient in starts:
        arriving[value] = arriving.get(value, 0) + gradient
    while arriving:
        # Take the newest value: all that it went into has been processed already.
        value = max(arriving, key=lambda one: one.number)
        gradients[value] = arriving.pop(value)
        for parent, back in value.parents:
            arriving[parent] = arriving.get(parent, 0) + back(gradients[value])
    return gradients


def plain(x: Any) -> Any:
    """Return the array without its history."""
    return x.array if isinstance(x, Value) else x


def _winner(function: Callable[..., Any], beats: Callable[..., Any]) -> Any:
    """Return an operation whose gradient goes to the chosen argument.

    Equal arguments get half of it each, as in PyTorch.
    """

    def share(g: Array, x: Any, y: Any) -> Any:
        return g * (beats(x, y) + 0.5 * np.equal(x, y)).astype(g.dtype)

    return _two(function, share, lambda g, x, y: share(g, y, x))


def _power_to_exponent(g: Array, x: Any, y: Any) -> Any:
    return g * np.power(x, y) * np.log(np.where(x > 0, x, 1)).astype(g.dtype)


# For each word: the function from x to y, and the derivative.
_UNARY: dict[str, tuple[Callable[..., Any], Callable[[Any, Any], Any]]] = {
    "abs": (np.abs, lambda x, y: np.sign(x)),
    "acos": (np.arccos, lambda x, y: -1 / np.sqrt(1 - x * x)),
    "acosh": (np.arccosh, lambda x, y: 1 / np.sqrt(x * x - 1)),
    "asin": (np.arcsin, lambda x, y: 1 / np.sqrt(1 - x * x)),
    "asinh": (np.arcsinh, lambda x, y: 1 / np.sqrt(x * x + 1)),
    "atan": (np.arctan, lambda x, y: 1 / (1 + x * x)),
    "atanh": (np.arctanh, lambda x, y: 1 / (1 - x * x)),
    "ceil": (np.ceil, lambda x, y: 0.0),
    "cos": (np.cos, lambda x, y: -np.sin(x)),
    "cosh": (np.cosh, lambda x, y: np.sinh(x)),
    "erf": (np.vectorize(math.erf, [float]), lambda x, y: 2 / math.sqrt(math.pi) * np.exp(-x * x)),
    "exp": (np.exp, lambda x, y: y),
    "expm1": (np.expm1, lambda x, y: y + 1),
    "floor": (np.floor, lambda x, y: 0.0),
    "log": (np.log, lambda x, y: 1 / x),
    "log1p": (np.log1p, lambda x, y: 1 / (1 + x)),
    "round": (np.round, lambda x, y: 0.0),
    "sign": (np.sign, lambda x, y: 0.0),
    "sin": (np.sin, lambda x, y: np.cos(x)),
    "sinh": (np.sinh, lambda x, y: np.cosh(x)),
    "sqrt": (np.sqrt, lambda x, y: 0.5 / y),
    "tan": (np.tan, lambda x, y: 1 + y * y),
    "tanh": (np.tanh, lambda x, y: 1 - y * y),
}
# The same for x and y, with functions of the gradient, x and y.
_BINARY: dict[str, Callable[[Any, Any], Value]] = {
    "maximum": _winner(np.maximum, np.greater),
    "minimum": _winner(np.minimum, np.less),
    "power": _two(np.power, lambda g, x, y: g * y * np.power(x, y - 1), _power_to_exponent),
    "matmul": _two(np.matmul, lambda g, x, y: g @ y.swapaxes(-1, -2), lambda g, x, y: x.swapaxes(-1, -2) @ g),
}


class NumpyOps(Ops):
    """The operations on Values."""

    def __init__(self) -> None:
        for word, (function, derivative) in _UNARY.items():
            setattr(self, word, _unary(function, derivative))
        for word, operation in _BINARY.items():
            setattr(self, word, operation)
        for word in TESTS.split():
            setattr(self, word, _without_gradient(getattr(np, word)))
        self.stop_gradient = self.constant = _without_gradient(np.asarray)

    def cast(self, x: Any, dtype: np.dtype[Any]) -> Value:
        before = plain(x).dtype
        return Value(plain(x).astype(dtype), (x, lambda g: g.astype(before)))

    def where(self, condition: Any, x: Any, y: Any) -> Value:
        chosen = plain(condition)
        dtype = next(plain(one).dtype for one in (x, y) if isinstance(one, Value))
        choose = _two(
            lambda a, b: np.where(chosen, a, b).astype(dtype),
            lambda g, a, b: g * chosen,
            lambda g, a, b: g * ~chosen,
        )
        return choose(x, y)

    def sum(self, x: Any, axes: Sequence[int], keep: bool = False) -> Value:
        a, spread = plain(x), _spread(plain(x), axes, keep)
        return Value(a.sum(tuple(axes), keepdims=keep), (x, lambda g: np.broadcast_to(spread(g), a.shape)))

    def max(self, x: Any, axes: Sequence[int], keep: bool = False) -> Value:
        a, spread = plain(x), _spread(plain(x), axes, keep)
        largest = a == a.max(tuple(axes), keepdims=True)
        share = largest / largest.sum(tuple(axes), keepdims=True).astype(a.dtype)
        return Value(a.max(tuple(axes), keepdims=keep), (x, lambda g: spread(g) * share))

    def argmax(self, x: Any, axis: int) -> Value:
        return Value(plain(x).argmax(axis).astype(np.int32))

    def reshape(self, x: Any, shape: Sequence[int]) -> Value:
        return Value(plain(x).reshape(shape), (x, lambda g: g.reshape(plain(x).shape)))

    def transpose(self, x: Any, axes: Sequence[int]) -> Value:
        return Value(plain(x).transpose(axes), (x, lambda g: g.transpose(np.argsort(axes))))

    def concatenate(self, parts: Sequence[Any], axis: int) -> Value:
        arrays = [plain(part) for part in parts]
        ends = np.cumsum([array.shape[axis] for array in arrays])[:-1]
        backs = [lambda g, n=n: np.split(g, ends, axis)[n] for n in range(len(parts))]
        return Value(np.concatenate(arrays, axis), *zip(parts, backs, strict=True))

    def slice(self, x: Any, slices: Sequence[slice]) -> Value:
        return _at(x, tuple(slices))

    def pad(self, x: Any, widths: Sequence[Pair], value: float = 0.0) -> Value:
        inside = tuple(slice(before, -after or None) for before, after in widths)
        return Value(np.pad(plain(x), widths, constant_values=value), (x, lambda g: g[inside]))

    def take(self, x: Any, indices: Any, axis: int) -> Value:
        return _at(x, (slice(None),) * axis + (plain(indices),))

    def take_along(self, x: Any, indices: Any, axis: int) -> Value:
        return _at(x, _grid(plain(indices), axis))

    def put_along(self, x: Any, indices: Any, updates: Any, axis: int, add: bool) -> Value:
        places, result = _grid(plain(indices), axis), plain(x).copy()
        kept = np.ones_like(result)  # 1 where x is kept
        if add:
            np.add.at(result, places, plain(updates))
        else:
            result[places], kept[places] = plain(updates), 0
        return Value(result, (x, lambda g: g * kept), (updates, lambda g: g[places]))

    def random_uniform(self, shape: Sequence[int], dtype: np.dtype[Any], seed: Any) -> Value:
        return Value(np.random.default_rng(list(seed)).random(tuple(shape)).astype(dtype))


def _unary(function: Callable[..., Any], derivative: Callable[[Any, Any], Any]) -> Callable[[Any], Value]:
    def operation(x: Any) -> Value:
        a = np.asarray(plain(x))
        result = np.asarray(function(a), a.dtype)
        return Value(result, (x, lambda g: np.asarray(g * derivative(a, result), a.dtype)))

    return operation


def _without_gradient(function: Callable[..., Any]) -> Callable[..., Value]:
    return lambda *values: Value(function(*map(plain, values)))


def _spread(x: Array, axes: Sequence[int], keep: bool) -> Back:
    """Return a function that brings a reduced array back to a shape that broadcasts to x."""
    return lambda g: g if keep else np.expand_dims(g, tuple(axis % x.ndim for axis in axes))


def _grid(indices: Array, axis: int) -> tuple[Array, ...]:
    places = list(np.ogrid[tuple(slice(size) for size in indices.shape)])
    places[axis] = indices
    return tuple(places)


def _at(x: Any, places: Any) -> Value:
    def back(g: Array) -> Array:
        whole = np.zeros_like(plain(x), g.dtype)
        np.add.at(whole, places, g)
        return whole

    return Value(plain(x)[places], (x, back))
