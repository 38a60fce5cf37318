"""Reverse-mode differentiation over NumPy: arrays that remember what they were made of.

Each operation computes its result and notes, for every argument, how a gradient of the result becomes a
gradient of that argument (the chain rule: times the derivative). `backward` walks these notes from the result
to the beginning and adds up what arrives (Griewank and Walther, Evaluating Derivatives, chapter 3).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jupyter_mlgpu.mlcompute.ops import Ops, Pair
from jupyter_mlgpu.mlcompute.tensors import Array, Shape

Back = Callable[[Array], Array]


def _two(function: Callable[..., Any], to_x: Any, to_y: Any) -> Callable[[Any, Any], Value]:
    """An operation on two arrays, from how a gradient of the result becomes one of each."""

    def operation(x: Any, y: Any) -> Value:
        a, b = plain(x), plain(y)
        back_x = (x, lambda g: _fold(to_x(g, a, b), a.shape))
        return Value(function(a, b), back_x, (y, lambda g: _fold(to_y(g, a, b), b.shape)))

    return operation


class Value:
    """An array and, for each argument it was made of, the function from its gradient to the argument's."""

    __array_ufunc__ = None  # so that `array * value` asks the value

    def __init__(self, array: Any, *parents: tuple[Any, Back]) -> None:
        self.array: Array = np.asarray(array)
        self.parents = tuple((one, back) for one, back in parents if isinstance(one, Value))

    @property
    def shape(self) -> Shape:
        return tuple(self.array.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.array.dtype

    __add__ = __radd__ = _two(np.add, lambda g, x, y: g, lambda g, x, y: g)
    __sub__ = _two(np.subtract, lambda g, x, y: g, lambda g, x, y: -g)
    __mul__ = __rmul__ = _two(np.multiply, lambda g, x, y: g * y, lambda g, x, y: g * x)
    __truediv__ = _two(np.divide, lambda g, x, y: g / y, lambda g, x, y: -g * x / (y * y))

    def __rsub__(self, other: Any) -> Value:
        return Value.__sub__(other, self)

    def __rtruediv__(self, other: Any) -> Value:
        return Value.__truediv__(other, self)

    def __neg__(self) -> Value:
        return Value(-self.array, (self, np.negative))


def backward(starts: Sequence[tuple[Value, Array]]) -> dict[int, Array]:
    """Gradients of the sum of all `start * gradient`, by the id of the Value."""
    gradients: dict[int, Array] = {}
    for value, gradient in starts:
        _arrive(gradients, value, gradient)
    for value in reversed(_in_order([value for value, _ in starts])):
        if id(value) in gradients:
            for parent, back in value.parents:
                _arrive(gradients, parent, back(gradients[id(value)]))
    return gradients


def _arrive(gradients: dict[int, Array], value: Value, gradient: Array) -> None:
    gradients[id(value)] = gradients[id(value)] + gradient if id(value) in gradients else gradient


def _in_order(ends: Sequence[Value]) -> list[Value]:
    """Every value after those it was made of; without recursion, for long chains."""
    ordered, seen = [], set()
    todo = [(value, False) for value in ends]
    while todo:
        value, done = todo.pop()
        if done:
            ordered.append(value)
        elif id(value) not in seen:
            seen.add(id(value))
            todo += [(value, True), *((parent, False) for parent, _ in value.parents)]
    return ordered


def plain(x: Any) -> Any:
    """Without its history."""
    return x.array if isinstance(x, Value) else x


def _fold(gradient: Array, shape: tuple[int, ...]) -> Array:
    """Sum over what broadcasting has repeated."""
    gradient = gradient.sum(tuple(range(gradient.ndim - len(shape))))
    repeated = tuple(axis for axis, size in enumerate(shape) if size == 1 and gradient.shape[axis] != 1)
    return gradient.sum(repeated, keepdims=True) if repeated else gradient


def _one(function: Callable[[Array], Any], derivative: Callable[[Array, Array], Any]) -> Any:
    def operation(self: Any, x: Any) -> Value:
        a = np.asarray(plain(x))
        result = np.asarray(function(a), a.dtype)
        return Value(result, (x, lambda g: np.asarray(g * derivative(a, result), a.dtype)))

    return operation


def _winner(function: Callable[..., Any], beats: Callable[..., Any]) -> Any:
    """The gradient goes to the one that is taken; of equal ones, half to each, as in PyTorch."""

    def share(g: Array, x: Any, y: Any) -> Any:
        return g * (beats(x, y) + 0.5 * np.equal(x, y)).astype(g.dtype)

    return staticmethod(_two(function, share, lambda g, x, y: share(g, y, x)))


def _test(function: Callable[..., Any]) -> Any:
    return lambda self, *values: Value(function(*map(plain, values)))


def _spread(x: Array, axes: Sequence[int], keep: bool) -> Callable[[Array], Array]:
    """A reduced array, brought back to where broadcasting fits it to x."""
    return lambda g: g if keep else np.expand_dims(g, tuple(axis % x.ndim for axis in axes))


def _grid(indices: Array, axis: int) -> tuple[Array, ...]:
    places = list(np.ogrid[tuple(slice(size) for size in indices.shape)])
    places[axis] = indices
    return tuple(places)


class NumpyOps(Ops):
    """The contract on Values."""

    abs = _one(np.abs, lambda x, y: np.sign(x))
    acos = _one(np.arccos, lambda x, y: -1 / np.sqrt(1 - x * x))
    acosh = _one(np.arccosh, lambda x, y: 1 / np.sqrt(x * x - 1))
    asin = _one(np.arcsin, lambda x, y: 1 / np.sqrt(1 - x * x))
    asinh = _one(np.arcsinh, lambda x, y: 1 / np.sqrt(x * x + 1))
    atan = _one(np.arctan, lambda x, y: 1 / (1 + x * x))
    atanh = _one(np.arctanh, lambda x, y: 1 / (1 - x * x))
    ceil = _one(np.ceil, lambda x, y: 0.0)
    cos = _one(np.cos, lambda x, y: -np.sin(x))
    cosh = _one(np.cosh, lambda x, y: np.sinh(x))
    erf = _one(np.vectorize(math.erf, otypes=[float]), lambda x, y: 2 / math.sqrt(math.pi) * np.exp(-x * x))
    exp = _one(np.exp, lambda x, y: y)
    expm1 = _one(np.expm1, lambda x, y: y + 1)
    floor = _one(np.floor, lambda x, y: 0.0)
    log = _one(np.log, lambda x, y: 1 / x)
    log1p = _one(np.log1p, lambda x, y: 1 / (1 + x))
    round = _one(np.round, lambda x, y: 0.0)
    sign = _one(np.sign, lambda x, y: 0.0)
    sin = _one(np.sin, lambda x, y: np.cos(x))
    sinh = _one(np.sinh, lambda x, y: np.cosh(x))
    sqrt = _one(np.sqrt, lambda x, y: 0.5 / y)
    tan = _one(np.tan, lambda x, y: 1 + y * y)
    tanh = _one(np.tanh, lambda x, y: 1 - y * y)
    maximum, minimum = _winner(np.maximum, np.greater), _winner(np.minimum, np.less)
    power = staticmethod(
        _two(
            np.power,
            lambda g, x, y: g * y * np.power(x, y - 1),
            lambda g, x, y: g * np.power(x, y) * np.log(np.where(x > 0, x, 1)).astype(g.dtype),
        )
    )
    matmul = staticmethod(
        _two(
            np.matmul, lambda g, x, y: g @ np.swapaxes(y, -1, -2), lambda g, x, y: np.swapaxes(x, -1, -2) @ g
        )
    )
    equal, less, less_equal = _test(np.equal), _test(np.less), _test(np.less_equal)
    logical_and, logical_or = _test(np.logical_and), _test(np.logical_or)
    logical_not, stop_gradient, constant = _test(np.logical_not), _test(np.asarray), _test(np.asarray)

    def cast(self, x: Any, dtype: np.dtype[Any]) -> Value:
        before = plain(x).dtype
        return Value(plain(x).astype(dtype), (x, lambda g: g.astype(before)))

    def where(self, condition: Any, x: Any, y: Any) -> Value:
        chosen = plain(condition)

        def either(a: Array, b: Array) -> Array:
            dtype = next(plain(one).dtype for one in (x, y) if isinstance(one, Value))
            return np.where(chosen, a, b).astype(dtype)

        return _two(either, lambda g, a, b: g * chosen, lambda g, a, b: g * ~chosen)(x, y)

    def sum(self, x: Any, axes: Sequence[int], keep: bool = False) -> Value:
        a, spread = plain(x), _spread(plain(x), axes, keep)
        return Value(a.sum(tuple(axes), keepdims=keep), (x, lambda g: np.broadcast_to(spread(g), a.shape)))

    def max(self, x: Any, axes: Sequence[int], keep: bool = False) -> Value:
        a, spread = plain(x), _spread(plain(x), axes, keep)
        largest = a.max(tuple(axes), keepdims=True)
        share = (a == largest) / (a == largest).sum(tuple(axes), keepdims=True).astype(a.dtype)
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
        inside = tuple(
            slice(before, before + size) for (before, _), size in zip(widths, plain(x).shape, strict=True)
        )
        return Value(np.pad(plain(x), widths, constant_values=value), (x, lambda g: g[inside]))

    def take(self, x: Any, indices: Any, axis: int) -> Value:
        return _at(x, (slice(None),) * axis + (plain(indices),))

    def take_along(self, x: Any, indices: Any, axis: int) -> Value:
        return _at(x, _grid(plain(indices), axis))

    def put_along(self, x: Any, indices: Any, updates: Any, axis: int, add: bool) -> Value:
        places, result = _grid(plain(indices), axis), plain(x).copy()
        if add:
            np.add.at(result, places, plain(updates))
        else:
            result[places] = plain(updates)

        def to_x(g: Array) -> Array:
            kept = g.copy()
            kept[places] = 0
            return kept

        return Value(result, (x, (lambda g: g) if add else to_x), (updates, lambda g: g[places]))

    def random_uniform(self, shape: Sequence[int], dtype: np.dtype[Any], seed: Any) -> Value:
        return Value(np.random.default_rng(list(seed)).random(tuple(shape)).astype(dtype))


def _at(x: Any, places: Any) -> Value:
    def back(g: Array) -> Array:
        whole = np.zeros_like(plain(x), g.dtype)
        np.add.at(whole, places, g)
        return whole

    return Value(plain(x)[places], (x, back))
