"""The NumPy engine: a graph step by step, on the CPU. Slow, and short enough to be read."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from jupyter_mlgpu.mlcompute.graph import Program, Step
from jupyter_mlgpu.mlcompute.layers.base import Run
from jupyter_mlgpu.mlcompute.tape import NumpyOps, Value, backward, plain
from jupyter_mlgpu.mlcompute.tensors import FLOATS, Array, Tensor


class NumpyExecutable:
    """See jupyter_mlgpu.mlcompute.engine.Executable."""

    asynchronous = False

    def __init__(self, program: Program) -> None:
        self._program = program
        self._ops = NumpyOps()
        self._state: dict[Tensor, list[Array]] = {}

    def forward(self, feeds: Sequence[Array], training: bool, count: int) -> list[Any]:
        run = self._run(feeds, training, count)
        for tensor, value in run.updates.items():
            tensor._held = plain(value)
        return [plain(run.values[tensor]) for tensor in self._program.results]

    def gradient(
        self, feeds: Sequence[Array], count: int, upstream: Mapping[Tensor, Any]
    ) -> dict[Tensor, Any]:
        return self._gradients(self._run(feeds, True, count), upstream)

    def update(self, gradients: Sequence[Any], rate: float, time: int) -> None:
        optimizer, trained = self._program.optimizer, self._program.trained
        assert optimizer is not None
        values = [Value(np.asarray(tensor._held)) for tensor in trained]
        prepared = optimizer.prepare(self._ops, values, [Value(np.asarray(one)) for one in gradients])
        for tensor, p, g in zip(trained, values, prepared, strict=True):
            state = self._state.get(tensor) or [np.zeros_like(p.array)] * optimizer.slots
            # NumPy keeps the type of an array beside a plain number, and not beside an array's number.
            new, slots = optimizer.update(
                self._ops, p, g, [Value(slot) for slot in state], float(rate), Value(np.asarray(float(time)))
            )
            tensor._held = new.array.astype(tensor.dtype)
            self._state[tensor] = [slot.array.astype(tensor.dtype) for slot in slots]

    def step(self, feeds: Sequence[Array], count: int, rate: float, time: int) -> tuple[list[Any], list[Any]]:
        run = self._run(feeds, True, count)
        found = self._gradients(run, {})
        gradients = [found[tensor] for tensor in self._program.trained]
        for tensor, value in run.updates.items():
            tensor._held = plain(value)
        self.update(gradients, rate, time)
        return [plain(run.values[tensor]) for tensor in self._program.results], gradients

    def times(self, feeds: Sequence[Array], training: bool, count: int) -> list[float]:
        seconds = []

        def timed(step: Step, compute: Callable[[], Any]) -> Any:
            start = time.perf_counter()
            made = compute()
            seconds.append(time.perf_counter() - start)
            return made

        self._run(feeds, training, count, timed)
        return seconds

    def wait(self) -> None:
        """Nothing is ever under way."""

    def _run(self, feeds: Sequence[Array], training: bool, count: int, around: Any = None) -> Run:
        given = dict(zip(self._program.inputs, feeds, strict=True))
        given |= {tensor: np.asarray(tensor._held) for tensor in self._program.own}
        run = Run(
            self._ops,
            {tensor: Value(array) for tensor, array in given.items()},
            training,
            lambda seed: (seed, count),
        )
        self._leaves = dict(run.values)
        self._program.walk(run, around)
        return run

    def _gradients(self, run: Run, upstream: Mapping[Tensor, Any]) -> dict[Tensor, Any]:
        starts = [(run[loss], np.ones(run[loss].shape, loss.dtype)) for loss in self._program.losses]
        starts += [(run[tensor], np.asarray(gradient)) for tensor, gradient in upstream.items()]
        found = backward(starts)
        gradients = {}
        for tensor, value in (run.values | self._leaves).items():
            if tensor.data_type in FLOATS and (id(value) in found or tensor in self._leaves):
                gradients[tensor] = found.get(id(value), np.zeros_like(value.array))
        return gradients
