"""Layers that process each number separately: arithmetic, comparison, activation, dropout, selection."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from jupyter_mlgpu.graphs.mlcompute.layers.base import Layer, Pass
from jupyter_mlgpu.graphs.mlcompute.ops import Ops, Value

Formula = Callable[..., Value]

_SAME_NAME = "Floor Round Ceil Sqrt Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh Asinh Acosh Atanh Exp Log"
_UNARY: dict[str, Formula] = {
    name: lambda o, x, name=name: getattr(o, name.lower())(x) for name in _SAME_NAME.split()
} | {
    "Rsqrt": lambda o, x: 1.0 / o.sqrt(x),
    "Exp2": lambda o, x: o.exp(x * math.log(2)),
    "Log2": lambda o, x: o.log(x) / math.log(2),
}


_BINARY: dict[str, Formula] = {
    "Add": lambda o, x, y: x + y,
    "Subtract": lambda o, x, y: x - y,
    "Multiply": lambda o, x, y: x * y,
    "Divide": lambda o, x, y: x / y,
    "Pow": lambda o, x, y: o.power(x, y),
    # 0 where y is 0, even for x = NaN or infinity.
    "MultiplyNoNaN": lambda o, x, y: o.where(o.equal(y, 0.0), 0.0, x) * y,
    "DivideNoNaN": lambda o, x, y: o.where(o.equal(y, 0.0), 0.0, x / o.where(o.equal(y, 0.0), 1.0, y)),
    "Min": lambda o, x, y: o.minimum(x, y),
    "Max": lambda o, x, y: o.maximum(x, y),
}


class Arithmetic(Layer, words={"operation": "MLCArithmeticOperation"}, named="{operation}"):
    """One or two tensors, number by number, with broadcasting.

    The operations are defined in MLCTypes.h of the macOS 11.3 SDK. Its line on Floor says "two inputs"; we
    take one, as for Round and Ceil.
    """

    operation: str

    def settle(self) -> None:
        self.sources = 1 if self.operation in _UNARY else 2
        of_any_number = ("Add", "Subtract", "Multiply", "Min", "Max")
        self.takes = "numbers" if self.operation in of_any_number else "floats"

    def compute(self, run: Pass, *sources: Value) -> Value:
        return (_UNARY | _BINARY)[self.operation](run.ops, *sources)


_COMPARE: dict[str, Formula] = {
    "Equal": lambda o, x, y: o.equal(x, y),
    "NotEqual": lambda o, x, y: o.logical_not(o.equal(x, y)),
    "Less": lambda o, x, y: o.less(x, y),
    "Greater": lambda o, x, y: o.less(y, x),
    "LessOrEqual": lambda o, x, y: o.less_equal(x, y),
    "GreaterOrEqual": lambda o, x, y: o.less_equal(y, x),
    "LogicalAND": lambda o, x, y: o.logical_and(x, y),
    "LogicalOR": lambda o, x, y: o.logical_or(x, y),
    "LogicalNOT": lambda o, x: o.logical_not(x),
    "LogicalNAND": lambda o, x, y: o.logical_not(o.logical_and(x, y)),
    "LogicalNOR": lambda o, x, y: o.logical_not(o.logical_or(x, y)),
    "LogicalXOR": lambda o, x, y: o.logical_and(o.logical_or(x, y), o.logical_not(o.logical_and(x, y))),
}


class Comparison(Layer, words={"operation": "MLCComparisonOperation"}, named="{operation}", takes="any"):
    """True or false, number by number, with broadcasting (MLCComparisonOperation in MLCTypes.h)."""

    operation: str

    def settle(self) -> None:
        self.sources = 1 if self.operation == "LogicalNOT" else 2

    def compute(self, run: Pass, *sources: Value) -> Value:
        return _COMPARE[self.operation](run.ops, *sources)


def _elu(o: Ops, x: Value, a: float) -> Value:
    # e^x of positive numbers is not used, and may be infinite.
    return o.where(o.less(x, 0.0), a * o.expm1(o.minimum(x, 0.0)), x)


def _clip(o: Ops, x: Value, low: float, high: float) -> Value:
    return o.minimum(o.maximum(x, low), high)


_SELU_SCALE, _SELU_A = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717

# Apple's headers have no defaults of a and b; these give the function that has the name elsewhere.
_ACTIVATE: dict[str, Any] = {
    "None": lambda o, x, a=1.0, b=1.0: x,
    "ReLU": lambda o, x, a=0.0, b=0.0: o.relu(x) if a == 0 else o.where(o.less(x, 0.0), a * x, x),
    "Linear": lambda o, x, a=1.0, b=0.0: a * x + b,
    "Sigmoid": lambda o, x, a=1.0, b=1.0: o.sigmoid(x),
    "HardSigmoid": lambda o, x, a=0.2, b=0.5: _clip(o, x * a + b, 0.0, 1.0),
    "Tanh": lambda o, x, a=1.0, b=1.0: a * o.tanh(b * x),
    "Absolute": lambda o, x, a=1.0, b=1.0: o.abs(x),
    "SoftPlus": lambda o, x, a=1.0, b=1.0: a * o.softplus(b * x),
    "SoftSign": lambda o, x, a=1.0, b=1.0: x / (1.0 + o.abs(x)),
    "ELU": lambda o, x, a=1.0, b=1.0: _elu(o, x, a),
    "ReLUN": lambda o, x, a=0.0, b=6.0: o.minimum(o.where(o.less(x, 0.0), a * x, x), b),
    "LogSigmoid": lambda o, x, a=1.0, b=1.0: -o.softplus(-x),
    "SELU": lambda o, x, a=1.0, b=1.0: _SELU_SCALE * _elu(o, x, _SELU_A),
    "CELU": lambda o, x, a=1.0, b=1.0: _elu(o, x / a, 1.0) * a,
    "HardShrink": lambda o, x, a=0.5, b=0.0: o.where(o.less(a, o.abs(x)), x, 0.0),
    "SoftShrink": lambda o, x, a=0.5, b=0.0: x - _clip(o, x, -a, a),
    "TanhShrink": lambda o, x, a=1.0, b=1.0: x - o.tanh(x),
    "Threshold": lambda o, x, a=0.0, b=0.0: o.where(o.less(a, x), x, b),
    "GELU": lambda o, x, a=1.0, b=1.0: 0.5 * x * (1.0 + o.erf(x * math.sqrt(0.5))),
    "HardSwish": lambda o, x, a=1.0, b=1.0: x * _clip(o, x + 3.0, 0.0, 6.0) / 6.0,
    "Clamp": lambda o, x, a=-1.0, b=1.0: _clip(o, x, a, b),
}


class Activation(Layer, words={"activation": "MLCActivationType"}, named="{activation}"):
    """One of Apple's 21 activation functions, with its numbers a and b.

    The formulas are those of MLCActivationType in MLCTypes.h (macOS 11.3 SDK). GELU is x times the normal
    distribution's function of x, (1 + erf(x / sqrt(2))) / 2. CELU is max(0, x) + min(0, a (e^(x/a) - 1)).
    """

    activation: str
    a: float | None = None
    b: float | None = None

    def settle(self) -> None:
        a, b = _ACTIVATE[self.activation].__defaults__
        self.a, self.b = a if self.a is None else self.a, b if self.b is None else self.b

    def compute(self, run: Pass, x: Value) -> Value:
        return _ACTIVATE[self.activation](run.ops, x, self.a, self.b)


class Dropout(Layer):
    """In training, set each number to 0 with probability `rate`, and divide the others by 1 - rate.

    So the expected value stays (Srivastava et al., 2014, section 10). Outside of training, it does nothing.
    """

    rate: float
    seed: int = 0

    def compute(self, run: Pass, x: Value) -> Value:
        return drop(run, x, self.rate, self.seed)


def drop(run: Pass, x: Value, rate: float, seed: int) -> Value:
    """Zero a share `rate` of the values, and scale the others up by 1 / (1 - rate)."""
    if not run.training or rate == 0:
        return x
    chance = run.ops.random_uniform(tuple(x.shape), np.dtype(str(x.dtype.name)), run.seed(seed))
    return run.ops.where(run.ops.less(chance, rate), 0.0, x / (1.0 - rate))


class Selection(Layer, sources=3, takes="any"):
    """Sources are a condition (Boolean), x and y: x where it is true, else y; with broadcasting."""

    def compute(self, run: Pass, condition: Value, x: Value, y: Value) -> Value:
        return run.ops.where(condition, x, y)
