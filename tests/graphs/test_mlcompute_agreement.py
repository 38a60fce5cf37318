"""Every layer gives the numbers and the gradients that PyTorch gives, over random shapes, in both engines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import jupyter_mlgpu.mlcompute as mlc

pytestmark = [pytest.mark.kernel, pytest.mark.usefixtures("two_devices")]

Arrays = list[np.ndarray]
BOUND = {"Float64": 1e-9, "Float32": 2e-4}


@dataclass
class Draw:
    """Random shapes and numbers of one type for one case."""

    rng: np.random.Generator
    data_type: str
    sources: list[Any] = field(default_factory=list)
    arrays: Arrays = field(default_factory=list)
    weights: list[Any] = field(default_factory=list)

    def size(self, low: int = 1, high: int = 4) -> int:
        return int(self.rng.integers(low, high + 1))

    def shape(self, rank: int, low: int = 1, high: int = 4) -> list[int]:
        return [self.size(low, high) for _ in range(rank)]

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(self.data_type.lower())

    def numbers(self, shape: Sequence[int], low: float = -2.0, high: float = 2.0) -> np.ndarray:
        return self.rng.uniform(low, high, tuple(shape)).astype(self.dtype)

    def source(self, array: np.ndarray) -> Any:
        words = {
            "float32": "Float32",
            "float64": "Float64",
            "bool": "Boolean",
            "int32": "Int32",
            "int64": "Int64",
        }
        tensor = mlc.tensor(array.shape, words[array.dtype.name])
        self.sources.append(tensor)
        self.arrays.append(array)
        return tensor

    def weight(self, shape: Sequence[int], low: float = -1.0, high: float = 1.0) -> Any:
        tensor = mlc.tensor(shape, self.data_type, data=self.numbers(shape, low, high))
        self.weights.append(tensor)
        return tensor


@dataclass
class Case:
    """A layer, and what PyTorch computes: `theirs(torch, sources, weights)`, a tensor or several."""

    layer: Any
    theirs: Callable[..., Any]


CASES: dict[str, Callable[[Draw], Case]] = {}


def case(function: Callable[[Draw], Case]) -> Callable[[Draw], Case]:
    CASES[function.__name__] = function
    return function


def away(draw: Draw, shape: Sequence[int], *kinks: float) -> np.ndarray:
    """Numbers that keep 0.02 away from where a function has an edge."""
    array = draw.numbers(shape, -4, 4)
    for kink in kinks:
        near = np.abs(array - kink) < 0.02
        array = np.where(near, array + 0.05, array)
    return array.astype(draw.dtype)


def one(name: str, low: float, high: float, theirs: Callable[[Any, Any], Any]) -> None:
    def made(draw: Draw) -> Case:
        draw.source(draw.numbers(draw.shape(draw.size(1, 4)), low, high))
        return Case(mlc.arithmetic_layer(name), lambda torch, x, w: theirs(torch, x[0]))

    CASES[f"arithmetic_{name}"] = made


def two(name: str, low: float, high: float, theirs: Callable[..., Any]) -> None:
    def made(draw: Draw) -> Case:
        shape = draw.shape(draw.size(1, 4))
        other = [size if draw.size(0, 1) else 1 for size in shape][draw.size(0, len(shape) - 1) :]
        draw.source(draw.numbers(shape, low, high))
        draw.source(draw.numbers(other, low, high))
        if draw.size(0, 1):
            draw.sources.reverse()
            draw.arrays.reverse()
        return Case(mlc.arithmetic_layer(name), lambda torch, x, w: theirs(torch, *x))

    CASES[f"arithmetic_{name}"] = made


for name in ("floor", "round", "ceil"):
    one(name, 0.1, 0.4, lambda torch, x, name=name: getattr(torch, name)(x))
for name in ("sin", "cos", "atan", "sinh", "cosh", "tanh", "asinh", "exp", "exp2"):
    one(name, -2, 2, lambda torch, x, name=name: getattr(torch, name)(x))
for name in ("sqrt", "rsqrt", "log", "log2"):
    one(name, 0.3, 3, lambda torch, x, name=name: getattr(torch, name)(x))
for name in ("asin", "acos", "atanh", "tan"):
    one(name, -0.8, 0.8, lambda torch, x, name=name: getattr(torch, name)(x))
one("acosh", 1.3, 3, lambda torch, x: torch.acosh(x))
two("add", -2, 2, lambda torch, x, y: x + y)
two("subtract", -2, 2, lambda torch, x, y: x - y)
two("multiply", -2, 2, lambda torch, x, y: x * y)
two("divide", 0.5, 2, lambda torch, x, y: x / y)
two("pow", 0.3, 2, lambda torch, x, y: x**y)
two("multiply_no_nan", 0.5, 2, lambda torch, x, y: x * y)
two("divide_no_nan", 0.5, 2, lambda torch, x, y: x / y)
two("min", -2, 2, lambda torch, x, y: torch.minimum(x, y))
two("max", -2, 2, lambda torch, x, y: torch.maximum(x, y))


def compared(name: str, theirs: Callable[..., Any]) -> None:
    def made(draw: Draw) -> Case:
        shape = draw.shape(2)
        kind = bool if name.startswith("logical") else np.int32
        for _ in range(1 if name == "logical_not" else 2):
            draw.source(draw.rng.integers(0, 2, shape).astype(kind))
        return Case(mlc.comparison_layer(name), lambda torch, x, w: theirs(torch, *x))

    CASES[f"comparison_{name}"] = made


compared("equal", lambda torch, x, y: x == y)
compared("not_equal", lambda torch, x, y: x != y)
compared("less", lambda torch, x, y: x < y)
compared("greater", lambda torch, x, y: x > y)
compared("less_or_equal", lambda torch, x, y: x <= y)
compared("greater_or_equal", lambda torch, x, y: x >= y)
compared("logical_and", lambda torch, x, y: x & y)
compared("logical_or", lambda torch, x, y: x | y)
compared("logical_not", lambda torch, x: ~x)
compared("logical_nand", lambda torch, x, y: ~(x & y))
compared("logical_nor", lambda torch, x, y: ~(x | y))
compared("logical_xor", lambda torch, x, y: x ^ y)


def activated(name: str, kinks: Sequence[float], theirs: Callable[..., Any], *numbers: float) -> None:
    def made(draw: Draw) -> Case:
        draw.source(away(draw, draw.shape(draw.size(1, 4)), *kinks))
        return Case(
            mlc.activation_layer(name, *numbers), lambda torch, x, w: theirs(torch.nn.functional, torch, x[0])
        )

    CASES[f"activation_{name}{'_'.join(map(str, numbers))}"] = made


activated("none", [], lambda f, torch, x: x)
activated("relu", [0], lambda f, torch, x: f.relu(x))
activated("relu", [0], lambda f, torch, x: f.leaky_relu(x, 0.2), 0.2)
activated("linear", [], lambda f, torch, x: 1.5 * x - 0.5, 1.5, -0.5)
activated("sigmoid", [], lambda f, torch, x: torch.sigmoid(x))
activated("hard_sigmoid", [-3, 3], lambda f, torch, x: torch.clamp(x / 6 + 0.5, 0, 1), 1 / 6, 0.5)
activated("tanh", [], lambda f, torch, x: 1.7 * torch.tanh(0.6 * x), 1.7, 0.6)
activated("absolute", [0], lambda f, torch, x: x.abs())
activated("soft_plus", [], lambda f, torch, x: 0.5 * torch.log1p(torch.exp(2 * x)), 0.5, 2.0)
activated("soft_sign", [0], lambda f, torch, x: f.softsign(x))
activated("elu", [0], lambda f, torch, x: f.elu(x, 0.7), 0.7)
activated("relun", [0, 2], lambda f, torch, x: torch.minimum(f.leaky_relu(x, 0.1), 2 + 0 * x), 0.1, 2.0)
activated("log_sigmoid", [], lambda f, torch, x: f.logsigmoid(x))
activated("selu", [0], lambda f, torch, x: f.selu(x))
# PyTorch's own celu and hardsigmoid keep their numbers in float32, whatever x is.
activated("celu", [0], lambda f, torch, x: f.elu(x / 1.3) * 1.3, 1.3)
activated("hard_shrink", [-0.6, 0.6], lambda f, torch, x: f.hardshrink(x, 0.6), 0.6)
activated("soft_shrink", [-0.6, 0.6], lambda f, torch, x: f.softshrink(x, 0.6), 0.6)
activated("tanh_shrink", [], lambda f, torch, x: f.tanhshrink(x))
activated("threshold", [0.4], lambda f, torch, x: f.threshold(x, 0.4, -1.5), 0.4, -1.5)
activated("gelu", [], lambda f, torch, x: f.gelu(x))
activated("hard_swish", [-3, 3], lambda f, torch, x: f.hardswish(x))
activated("clamp", [-1, 1.5], lambda f, torch, x: torch.clamp(x, -1, 1.5), -1.0, 1.5)


@case
def fully_connected(draw: Draw) -> Case:
    inputs, outputs = draw.shape(2)
    draw.source(draw.numbers([*draw.shape(draw.size(1, 3)), inputs]))
    layer = mlc.fully_connected_layer(draw.weight([outputs, inputs]), draw.weight([outputs]))
    return Case(layer, lambda torch, x, w: torch.nn.functional.linear(x[0], *w))


@case
def matmul(draw: Draw) -> Case:
    n, m, k = draw.shape(3)
    x_turned, y_turned = bool(draw.size(0, 1)), bool(draw.size(0, 1))
    before = draw.shape(draw.size(0, 2))
    draw.source(draw.numbers([*before, *([m, n] if x_turned else [n, m])]))
    draw.source(draw.numbers([*before[1:], *([k, m] if y_turned else [m, k])]))
    layer = mlc.matmul_layer(0.7, x_turned, y_turned)
    return Case(
        layer, lambda torch, x, w: 0.7 * ((x[0].mT if x_turned else x[0]) @ (x[1].mT if y_turned else x[1]))
    )


@case
def gram_matrix(draw: Draw) -> Case:
    draw.source(draw.numbers(draw.shape(4)))
    return Case(
        mlc.gram_matrix_layer(0.3), lambda torch, x, w: 0.3 * torch.einsum("bchw,bdhw->bcd", x[0], x[0])
    )


@case
def embedding(draw: Draw) -> Case:
    rows, size = draw.shape(2, 2, 5)
    padding = draw.size(0, rows - 1)
    draw.source(draw.rng.integers(0, rows, draw.shape(2)).astype(np.int32))
    layer = mlc.embedding_layer(draw.weight([rows, size]), padding)
    return Case(layer, lambda torch, x, w: torch.nn.functional.embedding(x[0], w[0], padding_idx=padding))


def window(draw: Draw) -> tuple[list[int], list[int], list[int], list[int]]:
    """Kernel, strides, dilations, paddings for height and width."""
    return draw.shape(2, 1, 3), draw.shape(2, 1, 3), draw.shape(2, 1, 2), draw.shape(2, 0, 2)


@case
def convolution(draw: Draw) -> Case:
    kernel, strides, dilations, padding = window(draw)
    groups, inside, outputs = draw.size(1, 2), draw.size(1, 2), draw.size(1, 2)
    draw.source(draw.numbers([draw.size(1, 2), groups * inside, *draw.shape(2, 5, 8)]))
    layer = mlc.convolution_layer(
        draw.weight([groups * outputs, inside, *kernel]),
        draw.weight([groups * outputs]),
        strides=strides,
        dilation_rates=dilations,
        group_count=groups,
        padding_policy="use_padding_size",
        padding_sizes=padding,
    )
    return Case(
        layer, lambda torch, x, w: torch.nn.functional.conv2d(x[0], *w, strides, padding, dilations, groups)
    )


@case
def depthwise_convolution(draw: Draw) -> Case:
    kernel, strides, dilations, padding = window(draw)
    channels, multiplier = draw.size(1, 3), draw.size(1, 2)
    draw.source(draw.numbers([2, channels, *draw.shape(2, 5, 8)]))
    layer = mlc.convolution_layer(
        draw.weight([channels * multiplier, 1, *kernel]),
        draw.weight([channels * multiplier]),
        convolution_type="depthwise",
        strides=strides,
        dilation_rates=dilations,
        padding_policy="use_padding_size",
        padding_sizes=padding,
    )
    return Case(
        layer, lambda torch, x, w: torch.nn.functional.conv2d(x[0], *w, strides, padding, dilations, channels)
    )


@case
def transposed_convolution(draw: Draw) -> Case:
    kernel, strides, dilations, _ = window(draw)
    padding = [draw.size(0, (size - 1) // 2) for size in kernel]
    groups, inside, outputs = draw.size(1, 2), draw.size(1, 2), draw.size(1, 2)
    draw.source(draw.numbers([2, groups * inside, *draw.shape(2, 2, 5)]))
    layer = mlc.convolution_layer(
        draw.weight([groups * inside, outputs, *kernel]),
        draw.weight([groups * outputs]),
        convolution_type="transposed",
        strides=strides,
        dilation_rates=dilations,
        group_count=groups,
        padding_policy="use_padding_size",
        padding_sizes=padding,
    )
    return Case(
        layer,
        lambda torch, x, w: torch.nn.functional.conv_transpose2d(
            x[0], *w, strides, padding, 0, groups, dilations
        ),
    )


@case
def max_pooling(draw: Draw) -> Case:
    kernel, strides, dilations, _ = window(draw)
    padding = [draw.size(0, size // 2) for size in kernel]
    shape = [2, 2, *draw.shape(2, 5, 8)]
    draw.source(draw.rng.permutation(int(np.prod(shape))).reshape(shape).astype(draw.dtype) / 100)
    layer = mlc.pooling_layer(
        "max",
        kernel,
        strides=strides,
        dilation_rates=dilations,
        padding_policy="use_padding_size",
        padding_sizes=padding,
    )
    return Case(
        layer, lambda torch, x, w: torch.nn.functional.max_pool2d(x[0], kernel, strides, padding, dilations)
    )


@case
def average_pooling(draw: Draw) -> Case:
    kernel, strides, _, _ = window(draw)
    padding = [draw.size(0, size // 2) for size in kernel]
    counts = bool(draw.size(0, 1))
    draw.source(draw.numbers([2, 2, *draw.shape(2, 5, 8)]))
    layer = mlc.pooling_layer(
        "average",
        kernel,
        strides=strides,
        padding_policy="use_padding_size",
        padding_sizes=padding,
        count_includes_padding=counts,
    )
    return Case(
        layer,
        lambda torch, x, w: torch.nn.functional.avg_pool2d(x[0], kernel, strides, padding, False, counts),
    )


@case
def l2_norm_pooling(draw: Draw) -> Case:
    kernel, strides, _, _ = window(draw)
    draw.source(draw.numbers([2, 2, *draw.shape(2, 5, 8)], 0.2, 2))
    layer = mlc.pooling_layer("l2_norm", kernel, strides=strides)
    return Case(layer, lambda torch, x, w: torch.nn.functional.lp_pool2d(x[0], 2.0, kernel, strides))


def padded(mode: str, theirs: str) -> None:
    def made(draw: Draw) -> Case:
        draw.source(draw.numbers([2, 2, *draw.shape(2, 3, 5)]))
        sizes = draw.shape(4, 0, 2)
        layer = mlc.padding_layer(mode, sizes, 0.7)
        if mode == "symmetric":
            index = [np.pad(np.arange(n), s, "symmetric") for n, s in
                     zip(draw.arrays[0].shape[2:], (sizes[2:], sizes[:2]), strict=True)]  # fmt: skip
            return Case(layer, lambda torch, x, w: x[0][:, :, index[0]][:, :, :, index[1]])
        more = [0.7] if mode == "constant" else []
        return Case(layer, lambda torch, x, w: torch.nn.functional.pad(x[0], sizes, theirs, *more))

    CASES[f"padding_{mode}"] = made


padded("zero", "constant")
padded("constant", "constant")
padded("reflect", "reflect")
padded("symmetric", "")


def upsampled(mode: str, aligned: bool) -> None:
    def made(draw: Draw) -> Case:
        draw.source(draw.numbers([2, 2, *draw.shape(2, 2, 4)]))
        sizes = draw.shape(2, 2, 7)
        theirs = {"mode": "bilinear", "align_corners": aligned} if mode == "linear" else {"mode": "nearest"}
        layer = mlc.upsample_layer(sizes, mode, aligned)
        return Case(layer, lambda torch, x, w: torch.nn.functional.interpolate(x[0], size=sizes, **theirs))

    CASES[f"upsample_{mode}_{aligned}"] = made


upsampled("nearest", False)
upsampled("linear", False)
upsampled("linear", True)


@case
def batch_normalization(draw: Draw) -> Case:
    channels = draw.size(1, 3)
    draw.source(draw.numbers([4, channels, *draw.shape(draw.size(0, 2), 2, 4)]))
    beta, gamma = draw.weight([channels]), draw.weight([channels])
    mean = mlc.tensor([channels], draw.data_type, fill=0)
    variance = mlc.tensor([channels], draw.data_type, fill=1)
    layer = mlc.batch_normalization_layer(
        channels, mean, variance, beta=beta, gamma=gamma, variance_epsilon=1e-3
    )
    return Case(
        layer,
        lambda torch, x, w: torch.nn.functional.batch_norm(
            x[0], None, None, w[1], w[0], training=True, eps=1e-3
        ),
    )


@case
def instance_normalization(draw: Draw) -> Case:
    channels = draw.size(1, 3)
    draw.source(draw.numbers([2, channels, *draw.shape(2, 2, 4)]))
    layer = mlc.instance_normalization_layer(
        channels, beta=draw.weight([channels]), gamma=draw.weight([channels]), variance_epsilon=1e-3
    )
    return Case(
        layer,
        lambda torch, x, w: torch.nn.functional.instance_norm(x[0], weight=w[1], bias=w[0], eps=1e-3),
    )


@case
def group_normalization(draw: Draw) -> Case:
    groups, each = draw.size(1, 3), draw.size(1, 2)
    draw.source(draw.numbers([2, groups * each, *draw.shape(2, 2, 4)]))
    layer = mlc.group_normalization_layer(
        groups * each,
        groups,
        beta=draw.weight([groups * each]),
        gamma=draw.weight([groups * each]),
        variance_epsilon=1e-3,
    )
    return Case(layer, lambda torch, x, w: torch.nn.functional.group_norm(x[0], groups, w[1], w[0], 1e-3))


@case
def layer_normalization(draw: Draw) -> Case:
    last = draw.shape(draw.size(1, 2), 2, 4)
    draw.source(draw.numbers([*draw.shape(2), *last]))
    layer = mlc.layer_normalization_layer(
        last, beta=draw.weight(last), gamma=draw.weight(last), variance_epsilon=1e-3
    )
    return Case(layer, lambda torch, x, w: torch.nn.functional.layer_norm(x[0], last, w[1], w[0], 1e-3))


@case
def softmax(draw: Draw) -> Case:
    shape = draw.shape(draw.size(1, 4))
    draw.source(draw.numbers(shape))
    axis = draw.size(0, len(shape) - 1)
    return Case(mlc.softmax_layer("softmax", axis), lambda torch, x, w: torch.softmax(x[0], axis))


@case
def log_softmax(draw: Draw) -> Case:
    shape = draw.shape(draw.size(1, 4))
    draw.source(draw.numbers(shape))
    axis = draw.size(0, len(shape) - 1)
    return Case(
        mlc.softmax_layer("log_softmax", axis - len(shape)), lambda torch, x, w: x[0].log_softmax(axis)
    )


def reduced(name: str, theirs: Callable[..., Any], several: bool = True, boolean: bool = False) -> None:
    def made(draw: Draw) -> Case:
        shape = draw.shape(3)
        count = draw.size(1, 3) if several else 1
        axes = [int(axis) for axis in draw.rng.permutation(3)[:count]]
        draw.source(draw.rng.integers(0, 2, shape).astype(bool) if boolean else draw.numbers(shape))
        return Case(mlc.reduction_layer(name, axes), lambda torch, x, w: theirs(torch, x[0], axes))

    CASES[f"reduction_{name}"] = made


reduced("sum", lambda torch, x, axes: x.sum(axes, keepdim=True))
reduced("mean", lambda torch, x, axes: x.mean(axes, keepdim=True))
reduced("max", lambda torch, x, axes: x.amax(axes, keepdim=True))
reduced("min", lambda torch, x, axes: x.amin(axes, keepdim=True))
reduced("l1_norm", lambda torch, x, axes: x.abs().sum(axes, keepdim=True))
reduced("arg_max", lambda torch, x, axes: x.argmax(axes[0], keepdim=True), several=False)
reduced("arg_min", lambda torch, x, axes: x.argmin(axes[0], keepdim=True), several=False)
reduced("any", lambda torch, x, axes: x.any(axes[0], keepdim=True), several=False, boolean=True)
reduced("all", lambda torch, x, axes: x.all(axes[0], keepdim=True), several=False, boolean=True)


@case
def concatenation(draw: Draw) -> Case:
    shape, axis = draw.shape(3), draw.size(0, 2)
    for _ in range(draw.size(2, 3)):
        shape[axis] = draw.size()
        draw.source(draw.numbers(shape))
    return Case(mlc.concatenation_layer(axis), lambda torch, x, w: torch.cat(x, axis))


@case
def split(draw: Draw) -> Case:
    shape, axis = draw.shape(3), draw.size(0, 2)
    lengths = draw.shape(2, 1, 3)
    shape[axis] = sum(lengths)
    draw.source(draw.numbers(shape))
    return Case(mlc.split_layer(lengths, axis), lambda torch, x, w: list(torch.split(x[0], lengths, axis)))


@case
def reshape(draw: Draw) -> Case:
    a, b, c = draw.shape(3)
    draw.source(draw.numbers([a, b, c]))
    return Case(mlc.reshape_layer([a, -1]), lambda torch, x, w: x[0].reshape(a, -1))


@case
def transpose(draw: Draw) -> Case:
    draw.source(draw.numbers(draw.shape(4)))
    axes = [0, *(int(axis) + 1 for axis in draw.rng.permutation(3))]
    return Case(mlc.transpose_layer(axes), lambda torch, x, w: x[0].permute(axes))


@case
def slices(draw: Draw) -> Case:
    shape = draw.shape(3, 2, 6)
    start = [draw.size(0, size - 1) for size in shape]
    end = [draw.size(a + 1, size) for a, size in zip(start, shape, strict=True)]
    stride = draw.shape(3, 1, 3)
    draw.source(draw.numbers(shape))
    places = tuple(slice(*three) for three in zip(start, end, stride, strict=True))
    return Case(mlc.slice_layer(start, end, stride), lambda torch, x, w: x[0][places])


@case
def gather(draw: Draw) -> Case:
    shape, axis = draw.shape(3), draw.size(0, 2)
    draw.source(draw.numbers(shape))
    other = [*shape]
    other[axis] = draw.size()
    draw.source(draw.rng.integers(0, shape[axis], other).astype(np.int64))
    return Case(mlc.gather_layer(axis), lambda torch, x, w: torch.gather(x[0], axis, x[1]))


def scattered(add: bool) -> None:
    def made(draw: Draw) -> Case:
        shape, axis = draw.shape(3, 2, 4), draw.size(0, 2)
        other = [*shape]
        other[axis] = draw.size(1, shape[axis])
        draw.source(draw.numbers(other))
        # Without adding, no place is written to twice: which number stays would be open.
        places = np.broadcast_to(np.arange(shape[axis]), [*shape[:axis], *shape[axis + 1 :], shape[axis]])
        order = draw.rng.permuted(places, axis=-1)
        indices = np.moveaxis(order[..., : other[axis]], -1, axis)
        if add:
            indices = draw.rng.integers(0, shape[axis], other)
        draw.source(np.ascontiguousarray(indices).astype(np.int64))
        draw.source(draw.numbers(shape))
        layer = mlc.scatter_layer(axis, "sum" if add else "none")
        if add:
            return Case(layer, lambda torch, x, w: x[2].scatter_add(axis, x[1], x[0]))
        return Case(layer, lambda torch, x, w: x[2].scatter(axis, x[1], x[0]))

    CASES[f"scatter_{'sum' if add else 'none'}"] = made


scattered(False)
scattered(True)


@case
def selection(draw: Draw) -> Case:
    shape = draw.shape(3)
    draw.source(draw.rng.integers(0, 2, shape).astype(bool))
    draw.source(draw.numbers(shape))
    draw.source(draw.numbers([1, *shape[1:]]))
    return Case(mlc.selection_layer(), lambda torch, x, w: torch.where(*x))


def recurrent(bidirectional: bool, layers: int, sequences: bool, states: bool) -> None:
    def made(draw: Draw) -> Case:
        inputs, hidden, batch, time = draw.shape(4)
        ways = 1 + bidirectional
        batch_first = bool(draw.size(0, 1))
        draw.source(draw.numbers([batch, time, inputs] if batch_first else [time, batch, inputs]))
        if states:
            for _ in range(2):
                draw.source(draw.numbers([layers * ways, batch, hidden]))
        lists: list[list[Any]] = [[], [], []]
        for place in range(layers * ways):
            below = inputs if place < ways else hidden * ways
            for _ in range(4):
                lists[0].append(draw.weight([hidden, below]))
                lists[1].append(draw.weight([hidden, hidden]))
                lists[2].append(draw.weight([hidden]))
        layer = mlc.lstm_layer(
            inputs,
            hidden,
            layers,
            input_weights=lists[0],
            hidden_weights=lists[1],
            biases=lists[2],
            batch_first=batch_first,
            is_bidirectional=bidirectional,
            returns_sequences=sequences,
            result_mode="output_and_states" if states else "output",
        )

        def theirs(torch: Any, x: list[Any], w: list[Any]) -> Any:
            flat = []
            for place in range(layers * ways):
                four = [w[12 * place + 3 * gate : 12 * place + 3 * gate + 3] for gate in range(4)]
                flat += [torch.cat([gate[kind] for gate in four]) for kind in range(2)]
                bias = torch.cat([gate[2] for gate in four])
                flat += [bias, torch.zeros_like(bias)]
            start = x[1:] or [torch.zeros(layers * ways, batch, hidden, dtype=x[0].dtype)] * 2
            output, h, c = torch.lstm(x[0], start, flat, True, layers, 0.0, False, bidirectional, batch_first)
            if not sequences:
                output = torch.cat(list(h[-ways:]), 1)
            return [output, h, c] if states else output

        return Case(layer, theirs)

    words = ["bidirectional"] * bidirectional + ["stacked"] * (layers > 1)
    words += ["sequences"] * sequences + ["states"] * states
    CASES["_".join(["lstm", *words])] = made


recurrent(False, 1, True, False)
recurrent(False, 2, False, False)
recurrent(True, 1, False, False)
recurrent(True, 2, True, True)
recurrent(False, 1, True, True)


def attended(name: str, mask: str, more: bool) -> None:
    def made(draw: Draw) -> Case:
        heads, each = draw.size(1, 3), draw.size(1, 3)
        size = heads * each
        batch, length, keys = draw.size(1, 3), draw.size(1, 4), draw.size(2, 4)
        for rows in (length, keys, keys):
            draw.source(draw.numbers([batch, rows, size]))
        if "keys" in mask:
            hidden = draw.rng.integers(0, 2, [batch, keys]).astype(bool)
            hidden[:, 0] = False
            draw.source(hidden)
        if "attention" in mask:
            draw.source(draw.numbers([1, length, keys]))
        matrices = [draw.weight([size, size]) for _ in range(4)]
        biases = [draw.weight([size]) for _ in range(4)]
        ends = [draw.weight([1, 1, size]) for _ in range(2)] if more else None
        layer = mlc.multihead_attention_layer(
            size, heads, weights=matrices, biases=biases, attention_biases=ends, adds_zero_attention=more
        )

        def theirs(torch: Any, x: list[Any], w: list[Any]) -> Any:
            masks = x[3:]
            result, _ = torch.nn.functional.multi_head_attention_forward(
                *(one.transpose(0, 1) for one in x[:3]),
                size,
                heads,
                None,
                torch.cat(w[4:7]),
                *(w[8:10] if more else [None, None]),
                more,
                0.0,
                w[3],
                w[7],
                key_padding_mask=masks.pop(0) if "keys" in mask else None,
                attn_mask=masks.pop(0)[0] if "attention" in mask else None,
                use_separate_proj_weight=True,
                q_proj_weight=w[0],
                k_proj_weight=w[1],
                v_proj_weight=w[2],
                need_weights=False,
            )
            return result.transpose(0, 1)

        return Case(layer, theirs)

    CASES[name] = made


attended("attention", "", False)
attended("attention_masked", "keys", False)
attended("attention_mask_of_floats", "attention", False)
attended("attention_with_keys_of_its_own", "keys", True)


@case
def dropout_of_nothing(draw: Draw) -> Case:
    draw.source(draw.numbers(draw.shape(3)))
    return Case(mlc.dropout_layer(0.0), lambda torch, x, w: x[0])


def lost(name: str, kind: str, theirs: Callable[..., Any], **options: Any) -> None:
    def made(draw: Draw) -> Case:
        batch, classes = draw.size(1, 4), draw.size(2, 4)
        shape = [batch, classes, *draw.shape(draw.size(0, 2))]
        each = [batch, *shape[2:]]
        predictions = draw.numbers(shape)
        labels = draw.numbers(shape)
        if kind == "probabilities":
            predictions = draw.numbers(shape, 0.1, 0.9)
        if kind == "unit":
            predictions /= np.sqrt((predictions**2).sum(1, keepdims=True))
            labels /= np.sqrt((labels**2).sum(1, keepdims=True))
        if kind in ("numbers", "probabilities", "signs"):
            labels = draw.rng.integers(0, 2, shape).astype(draw.dtype)
        if kind == "signs":  # away from where the margin is exactly 1
            predictions = away(draw, shape, -1, 1)
        if kind == "classes":
            labels = draw.rng.integers(0, classes, each).astype(np.int64)
        if kind == "shares":
            labels = np.abs(labels)
            labels /= labels.sum(1, keepdims=True)
        if kind == "errors":  # away from errors of 0 and of 0.7
            errors = away(draw, shape, -0.7, 0, 0.7)
            labels = (predictions - errors).astype(draw.dtype)
        draw.source(predictions)
        draw.source(labels)
        reduction = ["none", "sum", "mean"][draw.size(0, 2)]
        weighted = bool(draw.size(0, 1))
        if weighted:
            draw.source(draw.numbers(each if theirs_of_classes(name) else shape, 0.5, 2))

        def whole(torch: Any, x: list[Any], w: list[Any]) -> Any:
            value = 0.8 * theirs(torch.nn.functional, torch, x[0], x[1])
            value = value * x[2] if weighted else value
            return {"none": lambda: value, "sum": value.sum, "mean": value.mean}[reduction]()

        return Case(mlc.loss_layer(name, reduction, weight=0.8, **options), whole)

    CASES[f"loss_{name}_{kind}"] = made


def theirs_of_classes(name: str) -> bool:
    return name in ("softmax_cross_entropy", "categorical_cross_entropy", "cosine_distance")


lost("mean_absolute_error", "errors", lambda f, torch, x, z: f.l1_loss(x, z, reduction="none"))
lost("mean_squared_error", "errors", lambda f, torch, x, z: f.mse_loss(x, z, reduction="none"))
lost("softmax_cross_entropy", "classes", lambda f, torch, x, z: f.cross_entropy(x, z, reduction="none"))
lost(
    "softmax_cross_entropy",
    "shares",
    lambda f, torch, x, z: f.cross_entropy(x, z, reduction="none", label_smoothing=0.1),
    label_smoothing=0.1,
)
lost(
    "sigmoid_cross_entropy",
    "numbers",
    lambda f, torch, x, z: f.binary_cross_entropy_with_logits(x, z * 0.8 + 0.1, reduction="none"),
    label_smoothing=0.2,
)
lost(
    "categorical_cross_entropy",
    "probabilities",
    lambda f, torch, x, z: -(z * torch.log(x)).sum(1),
    epsilon=0.0,
)
lost(
    "hinge",
    "signs",
    lambda f, torch, x, z: f.hinge_embedding_loss((2 * z - 1) * x, -torch.ones_like(x), reduction="none"),
)
lost("huber", "errors", lambda f, torch, x, z: f.huber_loss(x, z, reduction="none", delta=0.7), delta=0.7)
lost("cosine_distance", "unit", lambda f, torch, x, z: 1 - torch.einsum("bc...,bc...->b...", x, z))
lost(
    "log", "probabilities", lambda f, torch, x, z: f.binary_cross_entropy(x, z, reduction="none"), epsilon=0.0
)


def built(name: str, data_type: str, seed: int) -> tuple[Draw, Case]:
    draw = Draw(np.random.default_rng([seed, *name.encode()]), data_type)
    return draw, CASES[name](draw)


def ours(draw: Draw, made: Case, engine: str) -> tuple[Arrays, dict[Any, np.ndarray], Arrays]:
    """Results, gradients of sources and weights, and the labels they are compared with by squares."""
    graph = mlc.graph()
    results = graph.add_layer(made.layer, draw.sources)
    results = results if isinstance(results, list) else [results]
    inputs = {tensor.name: tensor for tensor in draw.sources}
    data = dict(zip(inputs, draw.arrays, strict=True))
    labels = []
    floats = [one for one in results if one.data_type.startswith("Float")]
    training = mlc.training_graph([graph])
    for result in floats if not isinstance(made.layer, mlc.loss_layer) else []:
        label = mlc.tensor(result.shape, result.data_type)
        labels.append(draw.numbers(result.shape))
        training.add_layer(mlc.loss_layer("mean_squared_error", "sum"), [result, label])
        inputs[label.name] = label
        data[label.name] = labels[-1]
    training.add_inputs(inputs)
    training.compile(mlc.device("cpu", engine))
    training.bind_and_write_data(data)
    training.execute_forward()
    values = [one.numpy() for one in results]
    assert [one.shape for one in values] == [one.shape for one in results]
    assert [one.dtype for one in values] == [one.dtype for one in results]
    gradients = {}
    if floats:
        training.execute_gradient()
        learning = [one for one in (*draw.sources, *draw.weights) if one.data_type.startswith("Float")]
        gradients = {tensor: tensor.gradient for tensor in learning}
    return values, gradients, labels


def assert_near(mine: np.ndarray, other: np.ndarray, data_type: str) -> None:
    assert mine.shape == other.shape
    difference = np.abs(mine.astype(np.float64) - other.astype(np.float64)).max(initial=0)
    assert difference <= BOUND[data_type] * (1 + np.abs(other.astype(np.float64)).max(initial=0))


@pytest.mark.needs("torch")
@pytest.mark.parametrize("engine", ["numpy", pytest.param("tensorflow", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", CASES)
def test_a_layer_gives_what_pytorch_gives(name: str, engine: str) -> None:
    import torch

    several = 4 if engine == "numpy" else 2  # TensorFlow compiles each
    for data_type, seeds in {"Float64": range(several), "Float32": range(4, 4 + several // 2)}.items():
        for seed in seeds:
            draw, made = built(name, data_type, seed)
            values, gradients, labels = ours(draw, made, engine)
            sources = [torch.tensor(one, requires_grad=one.dtype.kind == "f") for one in draw.arrays]
            weights = [torch.tensor(one.numpy(), requires_grad=True) for one in draw.weights]
            theirs = made.theirs(torch, sources, weights)
            theirs = theirs if isinstance(theirs, list) else [theirs]
            for mine, other in zip(values, theirs, strict=True):
                assert_near(mine, other.detach().numpy(), data_type)
            floats = [one for one in theirs if one.is_floating_point()]
            if not floats:
                continue
            objective = sum(
                ((one - torch.tensor(label)) ** 2).sum() for one, label in zip(floats, labels, strict=False)
            )
            objective = objective if labels else floats[0].sum()
            learning = [one for one in (*sources, *weights) if one.requires_grad]
            found = torch.autograd.grad(objective, learning, allow_unused=True, materialize_grads=True)
            for mine, other in zip(gradients.values(), found, strict=True):
                assert_near(mine, other.numpy(), data_type)


@pytest.mark.parametrize("name", CASES)
def test_numpy_and_tensorflow_give_the_same(name: str) -> None:
    values, gradients = [], []
    for engine in ("numpy", "tensorflow"):
        draw, made = built(name, "Float64", 7)
        mine, found, _ = ours(draw, made, engine)
        values.append(mine)
        gradients.append(list(found.values()))
    for mine, other in zip(values[0] + gradients[0], values[1] + gradients[1], strict=True):
        assert_near(mine, other, "Float64")
