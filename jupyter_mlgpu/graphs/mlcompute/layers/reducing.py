"""Layers that combine numbers: reduction, softmax, normalization."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from jupyter_mlgpu.graphs.mlcompute.layers.base import PICTURE, Layer, Pass, axis_of
from jupyter_mlgpu.graphs.mlcompute.names import insist
from jupyter_mlgpu.graphs.mlcompute.ops import Ops, Value
from jupyter_mlgpu.graphs.mlcompute.tensors import Tensor


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


class Reduction(Layer, words={"reduction_type": tuple(_REDUCE)}, named="{reduction_type} reduction"):
    """A reduction along dimensions, which stay with size 1.

    It is the sum, mean, largest, smallest, index of the largest or smallest, sum of absolute values (L1
    norm), any or all. Indices are Int32, and along one dimension; of equal numbers the first is taken.
    """

    reduction_type: str
    dimensions: Any  # a whole number, or several

    def settle(self) -> None:
        self.takes = "any" if self.reduction_type in ("Any", "All") else "floats"
        self.dimensions = [self.dimensions] if isinstance(self.dimensions, int) else list(self.dimensions)

    def verify(self, source: Tensor) -> None:
        boolean = self.takes == "floats" or source.data_type == "Boolean"
        insist(boolean, f"it needs Boolean, and this is {source.data_type}")

    def compute(self, run: Pass, x: Value) -> Value:
        kind, axes = self.reduction_type, [axis_of(x, one) for one in self.dimensions]
        several = len(set(axes)) == len(axes) > 0 and not (len(axes) > 1 and kind.startswith("Arg"))
        insist(several, f"it cannot go along dimensions {self.dimensions}")
        shape = [1 if axis in axes else size for axis, size in enumerate(x.shape)]
        return run.ops.reshape(_REDUCE[kind](run.ops, x, axes), shape)


class Softmax(Layer, words={"operation": "MLCSoftmaxOperation"}, named="{operation}"):
    """e^x / sum e^x along a dimension, or its logarithm x - log sum e^x."""

    operation: str = "softmax"
    dimension: int = 1

    def compute(self, run: Pass, x: Value) -> Value:
        function = run.ops.softmax if self.operation == "Softmax" else run.ops.log_softmax
        return function(x, self.dimension % len(x.shape))


def standardise(ops: Ops, x: Value, axes: Sequence[int], epsilon: float) -> tuple[Value, Value, Value]:
    """Return (x - mean) / sqrt(variance + epsilon), with mean and variance (divided by n) over the axes."""
    mean = ops.mean(x, axes, True)
    centred = x - mean
    variance = ops.mean(centred * centred, axes, True)
    return centred / ops.sqrt(variance + epsilon), mean, variance


class Normalization(Layer):
    """gamma * standardized + beta, with gamma and beta for each place of `shape` (or none)."""

    _: KW_ONLY
    beta: Tensor | None = None
    gamma: Tensor | None = None
    variance_epsilon: float = 1e-5

    def settle(self) -> None:
        self.parameters = self.own("beta", self.each()) + self.own("gamma", self.each())

    def each(self) -> Sequence[int]:
        """Return the shape of beta and gamma."""
        raise NotImplementedError

    def spread(self, run: Pass, tensor: Tensor, rank: int) -> Value:
        """Return a tensor of its own in a shape that broadcasts to x, whose rank is given."""
        return run[tensor]

    def finish(self, run: Pass, x: Value) -> Value:
        x = x if self.gamma is None else x * self.spread(run, self.gamma, len(x.shape))
        return x if self.beta is None else x + self.spread(run, self.beta, len(x.shape))


class Channelwise(Normalization):
    """A normalization with a gamma and a beta for each channel."""

    feature_channel_count: int

    def each(self) -> Sequence[int]:
        return [self.feature_channel_count]

    def spread(self, run: Pass, tensor: Tensor, rank: int) -> Value:
        return run.ops.reshape(run[tensor], (1, self.feature_channel_count, *[1] * (rank - 2)))


class BatchNormalization(Channelwise, title="batch normalisation"):
    """Each channel standardized over the batch (Ioffe and Szegedy, 2015).

    In training, the batch's own mean and variance are used, and running ones are kept, momentum * running +
    (1 - momentum) * batch. Otherwise the running ones are used.
    """

    mean: Tensor
    variance: Tensor
    _: KW_ONLY
    momentum: float = 0.99

    def settle(self) -> None:
        super().settle()
        self.statistics = self.own("mean", self.each()) + self.own("variance", self.each())

    def compute(self, run: Pass, x: Value) -> Value:
        ops, rank = run.ops, len(x.shape)
        if not run.training:
            mean, variance = (self.spread(run, one, rank) for one in self.statistics)
            return self.finish(run, (x - mean) / ops.sqrt(variance + self.variance_epsilon))
        normal, *found = standardise(ops, x, [0, *range(2, rank)], self.variance_epsilon)
        for tensor, batch in zip(self.statistics, found, strict=True):
            new = ops.stop_gradient(ops.reshape(batch, self.each()))
            run.updates[tensor] = run[tensor] * self.momentum + new * (1.0 - self.momentum)
        return self.finish(run, normal)


class InstanceNormalization(Channelwise, title="instance normalisation", axes=PICTURE):
    """Each channel of each picture standardized separately (Ulyanov et al., 2016)."""

    def compute(self, run: Pass, x: Value) -> Value:
        return self.finish(run, standardise(run.ops, x, (2, 3), self.variance_epsilon)[0])


class GroupNormalization(Channelwise, title="group normalisation"):
    """Channels standardized group by group, in each picture separately (Wu and He, 2018)."""

    group_count: int

    def compute(self, run: Pass, x: Value) -> Value:
        count, groups, ops = self.feature_channel_count, self.group_count, run.ops
        insist(count % groups == 0, f"{count} channels do not fall into {groups} groups")
        grouped = ops.reshape(x, (x.shape[0], groups, -1))
        normal, _, _ = standardise(ops, grouped, (2,), self.variance_epsilon)
        return self.finish(run, ops.reshape(normal, tuple(x.shape)))


class LayerNormalization(Normalization, title="layer normalisation"):
    """Standardized over the last axes, which have the shape of beta and gamma (Ba et al., 2016)."""

    normalized_shape: Sequence[int]

    def each(self) -> Sequence[int]:
        return list(self.normalized_shape)

    def compute(self, run: Pass, x: Value) -> Value:
        shape, rank = self.each(), len(x.shape)
        insist(shape and list(x.shape[-len(shape) :]) == shape, f"its last axes are not {shape}")
        axes = range(rank - len(shape), rank)
        return self.finish(run, standardise(run.ops, x, axes, self.variance_epsilon)[0])
