"""The TensorFlow engine: a graph as one compiled tf.function on a device."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from jupyter_mlgpu.backends.tensorflow import TensorFlowBackend
from jupyter_mlgpu.mlcompute.graph import Program, Step
from jupyter_mlgpu.mlcompute.layers.base import Run
from jupyter_mlgpu.mlcompute.tensorflow_ops import TensorFlowOps
from jupyter_mlgpu.mlcompute.tensors import FLOATS, Array, Tensor


class TensorFlowExecutable:
    """See jupyter_mlgpu.mlcompute.engine.Executable.

    `place` is a device of TensorFlow's, or "" to leave the choice to TensorFlow. Each kind of execution is
    one tf.function, and TensorFlow compiles it once for each batch size.
    """

    def __init__(self, program: Program, place: str, asynchronous: bool) -> None:
        import tensorflow as tf

        self._tf, self._program, self._place, self.asynchronous = tf, program, place, asynchronous
        self._ops = TensorFlowOps(tf)
        self._variables: dict[Tensor, Any] = {}
        with self._device():
            for tensor in program.own:
                self._variables[tensor] = self._variable(tensor)
            slots = program.optimizer.slots if program.optimizer else 0
            self._slots = {
                tensor: [tf.Variable(tf.zeros(tensor.shape, tensor.dtype)) for _ in range(slots)]
                for tensor in program.trained
            }
        self._trained = [self._variables[tensor] for tensor in program.trained]
        self._forward = tf.function(self._compute, autograph=False)
        self._gradient = tf.function(self._differentiate, autograph=False)
        self._update = tf.function(self._improve, autograph=False)
        self._step = tf.function(self._learn, autograph=False)

    def forward(self, feeds: Sequence[Array], training: bool, count: int) -> list[Any]:
        with self._device():
            self._bring()
            return list(self._forward(self._given(feeds), self._tf.constant(count, self._tf.int32), training))

    def gradient(
        self, feeds: Sequence[Array], count: int, upstream: Mapping[Tensor, Any]
    ) -> dict[Tensor, Any]:
        with self._device():
            self._bring()
            order = tuple(self._program.results.index(tensor) for tensor in upstream)
            given = [self._tf.convert_to_tensor(one) for one in upstream.values()]
            count = self._tf.constant(count, self._tf.int32)
            found = self._gradient(self._given(feeds), count, order, given)
        return {
            tensor: value for tensor, value in zip(self._wanted(), found, strict=True) if value is not None
        }

    def update(self, gradients: Sequence[Any], rate: float, time: int) -> None:
        with self._device():
            self._bring()
            given = [self._tf.convert_to_tensor(one) for one in gradients]
            self._update(given, self._tf.constant([rate, time], self._tf.float64))

    def step(self, feeds: Sequence[Array], count: int, rate: float, time: int) -> tuple[list[Any], list[Any]]:
        with self._device():
            self._bring()
            clock = self._tf.constant([rate, time, count], self._tf.float64)
            results, gradients = self._step(self._given(feeds), clock)
        return list(results), list(gradients)

    def times(self, feeds: Sequence[Array], training: bool, count: int) -> list[float]:
        seconds: list[float] = []
        wait = self.wait

        def timed(step: Step, compute: Callable[[], Any]) -> Any:
            # Once to begin with: kernels are loaded at their first use.
            compute()
            wait()
            start = time.perf_counter()
            made = compute()
            wait()
            seconds.append(time.perf_counter() - start)
            return made

        with self._device():
            self._bring()
            self._walk(self._given(feeds), self._tf.constant(count, self._tf.int32), training, timed)
        return seconds

    def wait(self) -> None:
        TensorFlowBackend().synchronize()

    def _device(self) -> Any:
        return self._tf.device(self._place) if self._place else nullcontext()

    def _given(self, feeds: Sequence[Array]) -> list[Any]:
        return [self._tf.convert_to_tensor(feed) for feed in feeds]

    def _variable(self, tensor: Tensor) -> Any:
        """Its values as a variable on this device; graphs that share a tensor share the variable."""
        held = tensor._held
        here = isinstance(held, self._tf.Variable) and self._place in ("", held.device[-len(self._place) :])
        if not here:
            tensor._held = self._tf.Variable(np.asarray(held), trainable=True)
        return tensor._held

    def _bring(self) -> None:
        """The values that another engine or device has given a tensor since."""
        for tensor, variable in self._variables.items():
            if tensor._held is not variable:
                variable.assign(np.asarray(tensor._held))
                tensor._held = variable

    # What follows is run by TensorFlow once, to learn the operations.

    def _walk(self, feeds: Sequence[Any], count: Any, training: bool, around: Any = None) -> Run:
        values = dict(zip(self._program.inputs, feeds, strict=True))
        values |= {tensor: self._tf.convert_to_tensor(one) for tensor, one in self._variables.items()}
        self._leaves = dict(values)
        run = Run(self._ops, values, training, lambda seed: self._tf.stack([seed, count]))

        def named(step: Step, compute: Callable[[], Any]) -> Any:
            with self._tf.name_scope(f"{step.layer.title} {step.results[0].name}".replace(" ", "_")):
                return compute()

        self._program.walk(run, around or named)
        return run

    def _compute(self, feeds: Sequence[Any], count: Any, training: bool) -> list[Any]:
        run = self._walk(feeds, count, training)
        self._keep(run)
        return [run.values[tensor] for tensor in self._program.results]

    def _keep(self, run: Run) -> None:
        for tensor, value in run.updates.items():
            self._variables[tensor].assign(value)

    def _wanted(self) -> list[Tensor]:
        tensors = [*self._program.inputs, *self._program.own, *self._program.results]
        return [tensor for tensor in tensors if tensor.data_type in FLOATS]

    def _differentiate(
        self, feeds: Sequence[Any], count: Any, order: tuple[int, ...], upstream: Sequence[Any]
    ) -> list[Any]:
        with self._tf.GradientTape() as tape:
            for feed in feeds:
                if feed.dtype.is_floating:
                    tape.watch(feed)
            run = self._walk(feeds, count, True)
            targets = [run[loss] for loss in self._program.losses]
            targets += [run[self._program.results[place]] for place in order]
        ones = [self._tf.ones_like(run[loss]) for loss in self._program.losses]
        values = run.values | self._leaves
        found = tape.gradient(targets, [values[tensor] for tensor in self._wanted()], [*ones, *upstream])
        return [
            self._tf.zeros_like(values[tensor]) if one is None and tensor in self._leaves else one
            for tensor, one in zip(self._wanted(), map(self._dense, found), strict=True)
        ]

    def _dense(self, gradient: Any) -> Any:
        return None if gradient is None else self._tf.convert_to_tensor(gradient)

    def _improve(self, gradients: Sequence[Any], clock: Any) -> None:
        optimizer = self._program.optimizer
        assert optimizer is not None
        values = [self._tf.convert_to_tensor(variable) for variable in self._trained]
        prepared = optimizer.prepare(self._ops, values, gradients)
        for tensor, p, g in zip(self._program.trained, values, prepared, strict=True):
            rate, when = (self._tf.cast(clock[place], p.dtype) for place in (0, 1))
            new, state = optimizer.update(self._ops, p, g, self._slots[tensor], rate, when)
            self._variables[tensor].assign(new)
            for slot, value in zip(self._slots[tensor], state, strict=True):
                slot.assign(value)

    def _learn(self, feeds: Sequence[Any], clock: Any) -> tuple[list[Any], list[Any]]:
        with self._tf.GradientTape() as tape:
            run = self._walk(feeds, self._tf.cast(clock[2], self._tf.int32), True)
            losses = [run[loss] for loss in self._program.losses]
        leaves = [self._leaves[tensor] for tensor in self._program.trained]
        gradients = [
            self._tf.zeros_like(variable) if one is None else one
            for variable, one in zip(leaves, map(self._dense, tape.gradient(losses, leaves)), strict=True)
        ]
        self._improve(gradients, clock)
        self._keep(run)
        return [run.values[tensor] for tensor in self._program.results], gradients
