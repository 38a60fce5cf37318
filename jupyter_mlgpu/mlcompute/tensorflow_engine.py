"""The TensorFlow engine: a graph as compiled tf.functions on a device."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from jupyter_mlgpu.backends.tensorflow import TensorFlowBackend
from jupyter_mlgpu.mlcompute.engine import Values
from jupyter_mlgpu.mlcompute.graph import Program, Step
from jupyter_mlgpu.mlcompute.layers.base import Run
from jupyter_mlgpu.mlcompute.names import insist
from jupyter_mlgpu.mlcompute.tensorflow_ops import TO_FIRST, TO_LAST, TensorFlowOps
from jupyter_mlgpu.mlcompute.tensors import FLOATS, Array, Tensor


class ChannelsLast:
    """A picture as TensorFlow computed it, turned when it is looked at and not before: that takes time."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        array = np.asarray(self._value).transpose(TO_FIRST)
        return array if dtype is None else array.astype(dtype)


class TensorFlowExecutable:
    """See jupyter_mlgpu.mlcompute.engine.Executable.

    `place` is a device of TensorFlow's, or "" to leave the choice to TensorFlow. Each kind of
    execution is a tf.function, and TensorFlow compiles it once for each batch size.
    """

    def __init__(self, program: Program, place: str, asynchronous: bool) -> None:
        import tensorflow as tf

        self._tf, self._program, self._place, self.asynchronous = tf, program, place, asynchronous
        self._ops, slots = TensorFlowOps(tf), program.optimizer.slots() if program.optimizer else 0
        with self._device():
            self._variables = {tensor: self._variable(tensor) for tensor in program.own}
            # One long vector of all parameters: a formula on it is a dozen operations, not a dozen a tensor.
            self._sizes = [math.prod(tensor.shape) for tensor in program.trained]
            types = sorted({tensor.data_type for tensor in program.trained})
            insist(
                len(types) < 2, f"The parameters of one graph must be of one type, not {' and '.join(types)}."
            )
            dtype = program.trained[0].dtype if program.trained else np.dtype(np.float32)
            self._slots = [tf.Variable(tf.zeros([sum(self._sizes)], dtype)) for _ in range(slots)]
        tensors = [*program.inputs, *program.own, *program.results]
        self._floats = [tensor for tensor in tensors if tensor.data_type in FLOATS]
        self._forward = tf.function(self._compute, autograph=False)
        self._gradient = tf.function(self._differentiate, autograph=False)
        self._update = tf.function(self._improve, autograph=False)
        self._step = tf.function(self._learn, autograph=False)

    def forward(self, feeds: Sequence[Array], training: bool, count: int) -> Values:
        with self._device():
            results = self._forward(*self._given(feeds, count), training)
        return self._named(results)

    def gradient(self, feeds: Sequence[Array], count: int, upstream: Mapping[Tensor, Any]) -> Values:
        with self._device():
            more = [self._tf.convert_to_tensor(one) for one in upstream.values()]
            _, found = self._gradient(*self._given(feeds, count), tuple(upstream), more, True)
        wanted = zip(self._floats, found, strict=True)
        return {tensor: value for tensor, value in wanted if value is not None}

    def step(self, feeds: Sequence[Array], count: int, rate: float, time: int) -> tuple[Values, Values]:
        with self._device():
            clock = self._tf.constant([rate, time], self._tf.float64)
            results, found = self._step(*self._given(feeds, count), clock)
        return self._named(results), dict(zip(self._program.trained, found, strict=True))

    def update(self, gradients: Values, rate: float, time: int) -> None:
        with self._device():
            self._bring()
            given = [self._tf.convert_to_tensor(gradients[tensor]) for tensor in self._program.trained]
            self._update(given, self._tf.constant([rate, time], self._tf.float64))

    def times(self, feeds: Sequence[Array], training: bool, count: int) -> dict[Step, float]:
        seconds: dict[Step, float] = {}

        def timed(step: Step, compute: Callable[[], Any]) -> Any:
            compute()  # kernels are loaded at their first use
            self.wait()
            start = time.perf_counter()
            made = compute()
            self.wait()
            seconds[step] = time.perf_counter() - start
            return made

        with self._device():
            self._walk(*self._given(feeds, count), training, timed)
        return seconds

    def wait(self) -> None:
        TensorFlowBackend().synchronize()

    def _device(self) -> Any:
        return self._tf.device(self._place) if self._place else nullcontext()

    def _given(self, feeds: Sequence[Array], count: int) -> tuple[list[Any], Any]:
        self._bring()
        return [self._tf.convert_to_tensor(np.asarray(one)) for one in feeds], self._tf.constant(
            count, self._tf.int32
        )

    def _variable(self, tensor: Tensor) -> Any:
        """Its values as a variable on this device; graphs that share a tensor share the variable."""
        held = tensor._held
        if not isinstance(held, self._tf.Variable) or not held.device.endswith(self._place):
            tensor._held = self._tf.Variable(np.asarray(held))
        return tensor._held

    def _bring(self) -> None:
        """The values that another engine or device has given a tensor since."""
        for tensor, variable in self._variables.items():
            if tensor._held is not variable:
                variable.assign(np.asarray(tensor._held))
                tensor._held = variable

    # What follows is run by TensorFlow once, to learn the operations.

    def _walk(self, feeds: Sequence[Any], count: Any, training: bool, around: Any = None) -> Run:
        self._leaves = dict(zip(self._program.inputs, feeds, strict=True))
        self._leaves |= {tensor: self._tf.convert_to_tensor(one) for tensor, one in self._variables.items()}
        run = Run(self._ops, dict(self._leaves), training, lambda seed: self._tf.stack([seed, count]))

        def named(step: Step, compute: Callable[[], Any]) -> Any:
            with self._tf.name_scope(f"{step.layer.title} {step.results[0].name}".replace(" ", "_")):
                return compute()

        self._program.walk(run, around or named)
        return run

    def _results(self, run: Run, keep: bool) -> list[Any]:
        for tensor, value in run.updates.items() if keep else ():
            self._variables[tensor].assign(value)
        results = (run[tensor] for tensor in self._program.results)
        return [self._tf.transpose(one, TO_LAST) if len(one.shape) == 4 else one for one in results]

    def _named(self, results: Sequence[Any]) -> Values:
        turned = (ChannelsLast(one) if len(one.shape) == 4 else one for one in results)
        return dict(zip(self._program.results, turned, strict=True))

    def _compute(self, feeds: Sequence[Any], count: Any, training: bool) -> list[Any]:
        return self._results(self._walk(feeds, count, training), True)

    def _differentiate(
        self,
        feeds: Sequence[Any],
        count: Any,
        tensors: tuple[Tensor, ...],
        upstream: Sequence[Any],
        whole: bool,
    ) -> tuple[list[Any], list[Any]]:
        tf, losses = self._tf, self._program.losses
        with tf.GradientTape() as tape:
            tape.watch([feed for feed in feeds if feed.dtype.is_floating])
            run = self._walk(feeds, count, True)
        values, weights = run.values | self._leaves, [tf.ones_like(run[loss]) for loss in losses]
        wanted = self._floats if whole else self._program.trained
        targets = [run[one] for one in (*losses, *tensors)]
        found = tape.gradient(targets, [values[tensor] for tensor in wanted], [*weights, *upstream])
        for place, tensor in enumerate(wanted):
            if found[place] is not None:
                found[place] = tf.convert_to_tensor(found[place])  # of rows of a table, too
            elif tensor in self._leaves:
                found[place] = tf.zeros_like(values[tensor])
        return self._results(run, not whole), found

    def _learn(self, feeds: Sequence[Any], count: Any, clock: Any) -> tuple[list[Any], list[Any]]:
        results, gradients = self._differentiate(feeds, count, (), (), False)
        self._improve(gradients, clock)
        return results, gradients

    def _improve(self, gradients: Sequence[Any], clock: Any) -> None:
        optimizer, trained = self._program.optimizer, self._program.trained
        assert optimizer is not None
        tf, values = self._tf, [self._tf.convert_to_tensor(self._variables[tensor]) for tensor in trained]
        prepared = optimizer.prepare(self._ops, values, gradients)
        p, g = (tf.concat([tf.reshape(one, [-1]) for one in some], 0) for some in (values, prepared))
        rate, now = tf.cast(clock[0], p.dtype), tf.cast(clock[1], p.dtype)
        new, state = optimizer.update(self._ops, p, g, self._slots, rate, now)
        for tensor, value in zip(trained, tf.split(new, self._sizes), strict=True):
            self._variables[tensor].assign(tf.reshape(value, tensor.shape))
        for slot, value in zip(self._slots, state, strict=True):
            slot.assign(value)
