"""Layers in which numbers meet: reduction, softmax, normalisation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from jupyter_mlgpu.mlcompute.layers.base import Layer, Run, Spec, number, weights
from jupyter_mlgpu.mlcompute.names import choose
from jupyter_mlgpu.mlcompute.ops import Ops, Value
from jupyter_mlgpu.mlcompute.tensors import Tensor


class Reduction(Layer):
    """The sum, mean, largest, smallest, place of the largest or smallest, sum of absolute values (L1 norm),
    any or all along dimensions, which stay with size 1. Places are Int32, and of one dimension; of equal ones
    the first.
    """

    def __init__(self, reduction_type: str, dimensions: int | Sequence[int]) -> None:
        self.type = choose("MLCReductionType", reduction_type, "reduction_layer", _REDUCE)
        self.dimensions = (dimensions,) if isinstance(dimensions, int) else tuple(dimensions)

    @property
    def title(self) -> str:
        return f"{self.type.lower()} reduction"

    def results(self, *sources: Tensor) -> list[Spec]:
        (source,) = sources
        axes = {self.axis(source, one) for one in self.dimensions}
        if len(axes) != len(self.dimensions) or not axes or (self.type.startswith("Arg") and len(axes) > 1):
            self.refuse(sources, f"it cannot go along dimensions {list(self.dimensions)}")
        if self.type in ("Any", "All"):
            if source.data_type != "Boolean":
                self.refuse(sources, f"it needs Boolean, and this is {source.data_type}")
        else:
            self.need_floats(source)
        shape = tuple(1 if axis in axes else size for axis, size in enumerate(source.shape))
        return [Spec(shape, "Int32" if self.type.startswith("Arg") else source.data_type)]

    def compute(self, run: Run, *sources: Value) -> Value:
        ops, (x,) = run.ops, sources
        axes = [axis % len(x.shape) for axis in self.dimensions]
        shape = [1 if axis in axes else size for axis, size in enumerate(x.shape)]
        return ops.reshape(_REDUCE[self.type](ops, x, axes), shape)


def _any(ops: Ops, x: Value, axes: Sequence[int]) -> Value:
    return ops.less(0.0, ops.max(ops.cast(x, _FLOAT), axes))


_FLOAT = np.dtype(np.float32)
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


class Softmax(Layer):
    """e^x / sum e^x along a dimension, or its logarithm x - log sum e^x."""

    def __init__(self, operation: str = "softmax", dimension: int = 1) -> None:
        self.operation = choose("MLCSoftmaxOperation", operation, "softmax_layer")
        self.dimension = dimension

    @property
    def title(self) -> str:
        return self.operation.lower()

    def results(self, *sources: Tensor) -> list[Spec]:
        self.need_floats(*sources)
        self.axis(sources[0], self.dimension)
        return [Spec(sources[0].shape, sources[0].data_type)]

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

    def __init__(
        self, channels: int, beta: Tensor | None, gamma: Tensor | None, epsilon: float, call: str
    ) -> None:
        self.channels = channels
        self.beta, self.gamma = beta, gamma
        self.epsilon = number(epsilon, "variance_epsilon", call, 0)
        given = (("beta", beta), ("gamma", gamma))
        self.parameters = tuple(
            weights(call, name, one, [channels]) for name, one in given if one is not None
        )

    @property
    def title(self) -> str:
        return super().title.replace("normalization", "normalisation")

    def results(self, *sources: Tensor) -> list[Spec]:
        (source,) = sources
        self.need_floats(*sources, *self.parameters, *self.kept)
        if len(source.shape) < 2 or source.shape[1] != self.channels:
            self.refuse(sources, f"it was made for {self.channels} channels, and they are dimension 1")
        return [Spec(source.shape, source.data_type)]

    def channelwise(self, ops: Ops, value: Value, rank: int) -> Value:
        return ops.reshape(value, (1, self.channels, *[1] * (rank - 2)))

    def finish(self, run: Run, x: Value) -> Value:
        if self.gamma is not None:
            x = x * self.channelwise(run.ops, run[self.gamma], len(x.shape))
        return x if self.beta is None else x + self.channelwise(run.ops, run[self.beta], len(x.shape))


class BatchNormalization(Channelwise):
    """Each channel standardised over the batch (Ioffe and Szegedy, 2015).

    Training: by the batch's own mean and variance, of which running ones are kept,
    momentum * running + (1 - momentum) * batch. Otherwise: by the running ones.
    """

    def __init__(
        self,
        feature_channel_count: int,
        mean: Tensor,
        variance: Tensor,
        beta: Tensor | None = None,
        gamma: Tensor | None = None,
        variance_epsilon: float = 1e-5,
        momentum: float = 0.99,
    ) -> None:
        call = "batch_normalization_layer"
        super().__init__(feature_channel_count, beta, gamma, variance_epsilon, call)
        self.momentum = number(momentum, "momentum", call, 0, 1.0000001)
        self.mean = weights(call, "mean", mean, [feature_channel_count])
        self.variance = weights(call, "variance", variance, [feature_channel_count])
        self.kept = (mean, variance)

    def compute(self, run: Run, *sources: Value) -> Value:
        ops, (x,) = run.ops, sources
        rank = len(x.shape)
        if not run.training:
            mean = self.channelwise(ops, run[self.mean], rank)
            variance = self.channelwise(ops, run[self.variance], rank)
            return self.finish(run, (x - mean) / ops.sqrt(variance + self.epsilon))
        axes = [0, *range(2, rank)]
        normal, mean, variance = standardise(ops, x, axes, self.epsilon)
        for tensor, batch in ((self.mean, mean), (self.variance, variance)):
            new = ops.stop_gradient(ops.reshape(batch, (self.channels,)))
            run.updates[tensor] = run[tensor] * self.momentum + new * (1.0 - self.momentum)
        return self.finish(run, normal)


class InstanceNormalization(Channelwise):
    """Each channel of each picture standardised by itself (Ulyanov et al., 2016)."""

    def __init__(
        self,
        feature_channel_count: int,
        beta: Tensor | None = None,
        gamma: Tensor | None = None,
        variance_epsilon: float = 1e-5,
    ) -> None:
        super().__init__(feature_channel_count, beta, gamma, variance_epsilon, "instance_normalization_layer")

    def compute(self, run: Run, *sources: Value) -> Value:
        axes = range(2, len(sources[0].shape))
        return self.finish(run, standardise(run.ops, sources[0], axes, self.epsilon)[0])

    def results(self, *sources: Tensor) -> list[Spec]:
        if len(sources[0].shape) < 3:
            self.refuse(sources, "it needs axes after the channels")
        return super().results(*sources)


class GroupNormalization(Channelwise):
    """Channels standardised group by group, in each picture by itself (Wu and He, 2018)."""

    def __init__(
        self,
        feature_channel_count: int,
        group_count: int,
        beta: Tensor | None = None,
        gamma: Tensor | None = None,
        variance_epsilon: float = 1e-5,
    ) -> None:
        call = "group_normalization_layer"
        super().__init__(feature_channel_count, beta, gamma, variance_epsilon, call)
        self.groups = int(number(group_count, "group_count", call, 1))

    def results(self, *sources: Tensor) -> list[Spec]:
        if self.channels % self.groups:
            self.refuse(sources, f"{self.channels} channels do not fall into {self.groups} groups")
        return super().results(*sources)

    def compute(self, run: Run, *sources: Value) -> Value:
        (x,) = sources
        shape = tuple(x.shape)
        grouped = run.ops.reshape(x, (shape[0], self.groups, -1))
        normal, _, _ = standardise(run.ops, grouped, (2,), self.epsilon)
        return self.finish(run, run.ops.reshape(normal, shape))


class LayerNormalization(Layer):
    """Standardised over the last axes, which have `normalized_shape`; beta and gamma have it too (Ba et al.,
    2016).
    """

    def __init__(
        self,
        normalized_shape: Sequence[int],
        beta: Tensor | None = None,
        gamma: Tensor | None = None,
        variance_epsilon: float = 1e-5,
    ) -> None:
        call = "layer_normalization_layer"
        self.normalized_shape = tuple(normalized_shape)
        self.beta, self.gamma = beta, gamma
        self.epsilon = number(variance_epsilon, "variance_epsilon", call, 0)
        given = (("beta", beta), ("gamma", gamma))
        self.parameters = tuple(
            weights(call, name, one, self.normalized_shape) for name, one in given if one is not None
        )

    title = "layer normalisation"

    def results(self, *sources: Tensor) -> list[Spec]:
        (source,) = sources
        self.need_floats(*sources, *self.parameters)
        if not self.normalized_shape or source.shape[-len(self.normalized_shape) :] != self.normalized_shape:
            self.refuse(sources, f"its last axes are not {list(self.normalized_shape)}")
        return [Spec(source.shape, source.data_type)]

    def compute(self, run: Run, *sources: Value) -> Value:
        (x,) = sources
        rank, last = len(x.shape), len(self.normalized_shape)
        x = standardise(run.ops, x, range(rank - last, rank), self.epsilon)[0]
        x = x if self.gamma is None else x * run[self.gamma]
        return x if self.beta is None else x + run[self.beta]
