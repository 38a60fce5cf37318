"""The NumPy engine: a graph step by step, on the CPU. Slow, and short enough to be read."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from jupyter_mlgpu.mlcompute.engine import Values
from jupyter_mlgpu.mlcompute.graph import Program, Step
from jupyter_mlgpu.mlcompute.layers.base import Run
from jupyter_mlgpu.mlcompute.tape import NumpyOps, Value, backward, plain
from jupyter_mlgpu.mlcompute.tensors import FLOATS, Array, Tensor


class NumpyExecutable:
    """See jupyter_mlgpu.mlcompute.engine.Executable."""

    asynchronous = False

    def __init__(self, program: Program) -> None:
        self._program, self._ops = program, NumpyOps()
        self._state: dict[Tensor, list[Array]] = {}

    def forward(self, feeds: Sequence[Array], training: bool, count: int) -> Values:
        return self._results(self._run(feeds, training, count))

    def gradient(self, feeds: Sequence[Array], count: int, upstream: Mapping[Tensor, Any]) -> Values:
        return self._gradients(self._run(feeds, True, count), upstream)

    def step(self, feeds: Sequence[Array], count: int, rate: float, time: int) -> tuple[Values, Values]:
        run = self._run(feeds, True, count)
        gradients = self._gradients(run, {})
        self.update(gradients, rate, time)
        return self._results(run), {tensor: gradients[tensor] for tensor in self._program.trained}

    def update(self, gradients: Values, rate: float, time: int) -> None:
        optimizer, trained = self._program.optimizer, self._program.trained
        assert optimizer is not None
        values = [Value(np.asarray(tensor._held)) for tensor in trained]
        given = [Value(np.asarray(gradients[tensor])) for tensor in trained]
        prepared = optimizer.prepare(self._ops, values, given)
        for tensor, p, g in zip(trained, values, prepared, strict=True):
            state = self._state.get(tensor) or [np.zeros_like(p.array)] * optimizer.slots()
            now = Value(np.asarray(float(time)))
            new, slots = optimizer.update(self._ops, p, g, list(map(Value, state)), rate, now)
            # NumPy computed in float64, for `now` is one.
            tensor._held = new.array.astype(tensor.dtype)
            self._state[tensor] = [slot.array.astype(tensor.dtype) for slot in slots]

    def times(self, feeds: Sequence[Array], training: bool, count: int) -> dict[Step, float]:
        seconds = {}

        def timed(step: Step, compute: Callable[[], Any]) -> Any:
            start = time.perf_counter()
            made = compute()
            seconds[step] = time.perf_counter() - start
            return made

        self._run(feeds, training, count, timed)
        return seconds

    def wait(self) -> None:
        """Nothing is ever under way."""

    def _run(self, feeds: Sequence[Array], training: bool, count: int, around: Any = None) -> Run:
        given = dict(zip(self._program.inputs, feeds, strict=True))
        given |= {tensor: np.asarray(tensor._held) for tensor in self._program.own}
        self._leaves = {tensor: Value(array) for tensor, array in given.items()}
        run = Run(self._ops, dict(self._leaves), training, lambda seed: (seed, count))
        with np.errstate(all="ignore"):  # NaN is told with the layer that made it
            self._program.walk(run, around)
        return run

    def _gradients(self, run: Run, upstream: Mapping[Tensor, Any]) -> Values:
        starts = [(run[loss], np.ones(run[loss].shape, loss.dtype)) for loss in self._program.losses]
        starts += [(run[one], np.asarray(gradient)) for one, gradient in upstream.items()]
        with np.errstate(all="ignore"):
            found = backward(starts)
        gradients: Values = {}
        for tensor, value in (run.values | self._leaves).items():  # leaves as they were before being stopped
            if id(value) in found or (tensor in self._leaves and tensor.data_type in FLOATS):
                gradients[tensor] = found.get(id(value), np.zeros_like(value.array))
        return gradients

    def _results(self, run: Run) -> Values:
        for tensor, value in run.updates.items():
            tensor._held = plain(value)
        return {tensor: plain(run[tensor]) for tensor in self._program.results}
