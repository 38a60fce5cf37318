"""Layers in which numbers meet: reduction, softmax, normalisation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from jupyter_mlgpu.mlcompute.layers.base import PICTURE, Layer, Run
from jupyter_mlgpu.mlcompute.names import choose, spelt
from jupyter_mlgpu.mlcompute.ops import Ops, Value
from jupyter_mlgpu.mlcompute.tensors import Tensor


def _any(ops: Ops, x: Value, axes: Sequence[int]) -> Value:
    return ops.less(0.0, ops.max(ops.cast(x, np.dtype(np.float32)), axes))


_REDUCE: dict[str, Callable[[Ops, Value, Sequence[int]], Value]] = {
    "Sum": lambda o, x, axes: o.sum(x, axes),
    "Mean": lambda o, x, axes: o.mean(x, axes),
    "Max": lambda o, x, axes: o.max(x, axes),
    "Min": lambda o, x, axes: o.min(x, axes),
    "ArgMax": lambda o, x, axes: o.argmax(x, axes[0]),
    "ArgMin": lambda o, x, axes: o.argmin(x, axes[0]),
    "L1Norm": lambda o, x, axes: o.sum(o.abs(x), axes),
    "Any": _any,
    "All": lambda o, x, axes: o.logical_not(_any(o, o.logical_not(x), axes)),
}


class Reduction(Layer):
    """The sum, mean, largest, smallest, place of the largest or smallest, sum of absolute values (L1 norm),
    any or all along dimensions, which stay with size 1. Places are Int32, and of one dimension; of equal ones
    the first.
    """

    reduction_type: str
    dimensions: Any  # a whole number, or several

    def settle(self) -> None:
        kind = self.reduction_type = choose("MLCReductionType", self.reduction_type, self.title, _REDUCE)
        self.title, self.takes = f"{spelt(kind)} reduction", "any" if kind in ("Any", "All") else "floats"
        self.dimensions = [self.dimensions] if isinstance(self.dimensions, int) else list(self.dimensions)

    def verify(self, *sources: Tensor) -> None:
        (source,), kind = sources, self.reduction_type
        axes = [self.axis(source, one) for one in self.dimensions]
        if len(set(axes)) != len(axes) or not axes or (len(axes) > 1 and kind.startswith("Arg")):
            self.refuse(sources, f"it cannot go along dimensions {self.dimensions}")
        if kind in ("Any", "All") and source.data_type != "Boolean":
            self.refuse(sources, f"it needs Boolean, and this is {source.data_type}")

    def compute(self, run: Run, *sources: Value) -> Value:
        (x,) = sources
        axes = [one % len(x.shape) for one in self.dimensions]
        shape = [1 if axis in axes else size for axis, size in enumerate(x.shape)]
        return run.ops.reshape(_REDUCE[self.reduction_type](run.ops, x, axes), shape)


class Softmax(Layer):
    """e^x / sum e^x along a dimension, or its logarithm x - log sum e^x."""

    operation: str = "softmax"
    dimension: int = 1

    words, named = {"operation": "MLCSoftmaxOperation"}, "operation"

    def compute(self, run: Run, *sources: Value) -> Value:
        function = run.ops.softmax if self.operation == "Softmax" else run.ops.log_softmax
        return function(sources[0], self.dimension % len(sources[0].shape))


def standardise(ops: Ops, x: Value, axes: Sequence[int], epsilon: float) -> tuple[Value, Value, Value]:
    """(x - mean) / sqrt(variance + epsilon), with mean and variance (divided by n) over the axes."""
    mean = ops.mean(x, axes, True)
    centred = x - mean
    variance = ops.mean(centred * centred, axes, True)
    return centred / ops.sqrt(variance + epsilon), mean, variance


class Channelwise(Layer):
    """gamma * standardised + beta, with gamma and beta a number a channel (or none)."""

    feature_channel_count: int
    _: KW_ONLY
    beta: Tensor | None = None
    gamma: Tensor | None = None
    variance_epsilon: float = 1e-5

    ranges = {"variance_epsilon": (0, math.inf)}

    def settle(self) -> None:
        each = [self.feature_channel_count]
        self.parameters = self.need(beta=(self.beta, each), gamma=(self.gamma, each))

    def spread(self, ops: Ops, value: Value, rank: int) -> Value:
        """Numbers a channel, in a shape that fits beside x."""
        return ops.reshape(value, (1, self.feature_channel_count, *[1] * (rank - 2)))

    def finish(self, run: Run, x: Value) -> Value:
        rank = len(x.shape)
        x = x if self.gamma is None else x * self.spread(run.ops, run[self.gamma], rank)
        return x if self.beta is None else x + self.spread(run.ops, run[self.beta], rank)


class BatchNormalization(Channelwise):
    """Each channel standardised over the batch (Ioffe and Szegedy, 2015).

    Training: by the batch's own mean and variance, of which running ones are kept,
    momentum * running + (1 - momentum) * batch. Otherwise: by the running ones.
    """

    mean: Tensor
    variance: Tensor
    _: KW_ONLY
    momentum: float = 0.99
    title = "batch normalisation"

    ranges = {"variance_epsilon": (0, math.inf), "momentum": (0, 1.0000001)}

    def settle(self) -> None:
        super().settle()
        each = [self.feature_channel_count]
        self.kept = self.need(mean=(self.mean, each), variance=(self.variance, each))

    def compute(self, run: Run, *sources: Value) -> Value:
        ops, (x,) = run.ops, sources
        rank = len(x.shape)
        if not run.training:
            mean, variance = (self.spread(ops, run[one], rank) for one in self.kept)
            return self.finish(run, (x - mean) / ops.sqrt(variance + self.variance_epsilon))
        normal, *found = standardise(ops, x, [0, *range(2, rank)], self.variance_epsilon)
        for tensor, batch in zip(self.kept, found, strict=True):
            new = ops.stop_gradient(ops.reshape(batch, (self.feature_channel_count,)))
            run.updates[tensor] = run[tensor] * self.momentum + new * (1.0 - self.momentum)
        return self.finish(run, normal)


class InstanceNormalization(Channelwise):
    """Each channel of each picture standardised by itself (Ulyanov et al., 2016)."""

    title, axes = "instance normalisation", PICTURE

    def compute(self, run: Run, *sources: Value) -> Value:
        return self.finish(run, standardise(run.ops, sources[0], (2, 3), self.variance_epsilon)[0])


class GroupNormalization(Channelwise):
    """Channels standardised group by group, in each picture by itself (Wu and He, 2018)."""

    group_count: int
    title = "group normalisation"

    ranges = {"variance_epsilon": (0, math.inf), "group_count": (1, math.inf)}

    def verify(self, *sources: Tensor) -> None:
        if self.feature_channel_count % self.group_count:
            count = self.feature_channel_count
            self.refuse(sources, f"{count} channels do not fall into {self.group_count} groups")

    def compute(self, run: Run, *sources: Value) -> Value:
        ops, shape = run.ops, tuple(sources[0].shape)
        grouped = ops.reshape(sources[0], (shape[0], self.group_count, -1))
        normal, _, _ = standardise(ops, grouped, (2,), self.variance_epsilon)
        return self.finish(run, ops.reshape(normal, shape))


class LayerNormalization(Layer):
    """Standardised over the last axes, which have `normalized_shape`, as have beta and gamma (Ba et al.,
    2016).
    """

    normalized_shape: Sequence[int]
    _: KW_ONLY
    beta: Tensor | None = None
    gamma: Tensor | None = None
    variance_epsilon: float = 1e-5
    title = "layer normalisation"

    ranges = {"variance_epsilon": (0, math.inf)}

    def settle(self) -> None:
        self.normalized_shape = shape = tuple(self.normalized_shape)
        self.parameters = self.need(beta=(self.beta, shape), gamma=(self.gamma, shape))

    def verify(self, *sources: Tensor) -> None:
        shape = self.normalized_shape
        if not shape or sources[0].shape[-len(shape) :] != shape:
            self.refuse(sources, f"its last axes are not {list(shape)}")

    def compute(self, run: Run, *sources: Value) -> Value:
        (x,) = sources
        axes = range(len(x.shape) - len(self.normalized_shape), len(x.shape))
        x = standardise(run.ops, x, axes, self.variance_epsilon)[0]
        x = x if self.gamma is None else x * run[self.gamma]
        return x if self.beta is None else x + run[self.beta]
