"""The contract of engines, what computes a graph; and what those share that have the words of ops.py.

Three keep to the contract: NumPy, TensorFlow and, apart from the rest, Apple's ML Compute.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from jupyter_mlgpu.graphs.mlcompute.layers.base import Pass
from jupyter_mlgpu.graphs.mlcompute.ops import Ops, Value
from jupyter_mlgpu.graphs.mlcompute.structure import Program, Step
from jupyter_mlgpu.graphs.mlcompute.tensors import FLOATS, Array, Tensor
from jupyter_mlgpu.record.clock import real_time

Values = dict[Tensor, Any]
"""By tensor, anything that NumPy can read."""


class Executable(Protocol):
    """A program compiled for a device.

    `feeds` are the inputs' arrays in the program's order, `count` the number of the execution, from which
    random numbers follow, so that a gradient repeats the forward pass it belongs to.
    """

    #: Whether calls return before the device has finished.
    asynchronous: bool

    def forward(self, feeds: Sequence[Array], training: bool, count: int) -> Values:
        """The program's results. Training, what layers keep (running means) is brought up to date."""

    def gradient(self, feeds: Sequence[Array], count: int, upstream: Mapping[Tensor, Any]) -> Values:
        """Of the sum of the losses and of each `tensor * upstream`, for all float tensors."""

    def update(self, gradients: Values, rate: float, time: int) -> None:
        """The optimizer's step number `time` with these gradients of the trained tensors."""

    def step(self, feeds: Sequence[Array], count: int, rate: float, time: int) -> tuple[Values, Values]:
        """Forward, gradient and update in one; the results, and the gradients of the trained tensors."""

    def times(self, feeds: Sequence[Array], training: bool, count: int) -> dict[Step, float]:
        """Seconds of each step of the program, computed by itself, the device finished before the next."""

    def wait(self) -> None:
        """Until the device has finished."""


@dataclass(eq=False)
class Slot:
    """What an optimizer keeps: a number a parameter, all in one vector, held as a tensor holds its values."""

    _value: Any


class Engine:
    """An executable in the words of ops.py, for arrays of any library. See Executable.

    What is the library's own stands in numpy_engine.py and tensorflow_engine.py, under these names:
    """

    compiled: Callable[[Callable[..., Any]], Callable[..., Any]]
    """The function, made fast."""
    place: Callable[[], Any]
    """Something to enter, in which arrays are made and functions are called."""
    array: Callable[[Any], Value]
    """The library's array of NumPy's."""
    read: Callable[[Tensor | Slot], Value]
    """What a tensor with values of its own holds."""
    write: Callable[[Tensor | Slot, Value], None]
    """Let it hold this."""
    seed: Callable[[int, Value], Value]
    """Of a layer's seed and the number of the execution: two whole numbers for random_uniform."""
    recorded: Callable[[Sequence[Value]], Any]
    """Of the feeds, something to enter before what is to be differentiated."""
    derived: Callable[[Any, Any, Any, Sequence[Value]], list[Value]]
    """Of such a record, targets, weights and sources: the gradients of the sum of all targets * weights by
    the sources; None for one that has no part in it."""

    asynchronous = False

    def __init__(self, program: Program, ops: Ops) -> None:
        self._program, self._ops = program, ops
        tensors = [*program.inputs, *program.own, *program.results]
        self._floats = [tensor for tensor in tensors if tensor.data_type in FLOATS]
        size = sum(math.prod(tensor.shape) for tensor in program.trained)
        dtype = program.trained[0].dtype if program.trained else np.float32
        slots = program.optimizer.slots() if program.optimizer else 0
        self._slots = [Slot(np.zeros(size, dtype)) for _ in range(slots)]
        self._own: list[Tensor | Slot] = [*program.own, *self._slots]
        self._forward, self._gradient = self.compiled(self._compute), self.compiled(self._differentiate)
        self._step, self._update = self.compiled(self._learn), self.compiled(self._improve)

    def wait(self) -> None:
        """Wait for what was sent to the device."""

    def around(self, step: Step, compute: Callable[[], Any]) -> Any:
        """Compute a step of the program."""
        return compute()

    def out(self, value: Value) -> Any:
        """A result as it leaves a compiled function."""
        return value

    def shown(self, value: Any) -> Any:
        """The same as something that NumPy can read."""
        return value

    def forward(self, feeds: Sequence[Array], training: bool, count: int) -> Values:
        with self.place():
            return self._named(self._forward(*self._given(feeds, count), training))

    def gradient(self, feeds: Sequence[Array], count: int, upstream: Mapping[Tensor, Any]) -> Values:
        with self.place():
            more = [(tensor, self.array(gradient)) for tensor, gradient in upstream.items()]
            _, found = self._gradient(*self._given(feeds, count), more, True)
        return {tensor: one for tensor, one in zip(self._floats, found, strict=True) if one is not None}

    def step(self, feeds: Sequence[Array], count: int, rate: float, time: int) -> tuple[Values, Values]:
        with self.place():
            results, found = self._step(*self._given(feeds, count), self.array(np.array([rate, time])))
        return self._named(results), dict(zip(self._program.trained, found, strict=True))

    def update(self, gradients: Values, rate: float, time: int) -> None:
        with self.place():
            given = [self.array(gradients[tensor]) for tensor in self._program.trained]
            self._update(given, self.array(np.array([rate, time])))

    def times(self, feeds: Sequence[Array], training: bool, count: int) -> dict[Step, float]:
        seconds: dict[Step, float] = {}

        def timed(step: Step, compute: Callable[[], Any]) -> Any:
            compute()  # kernels are loaded at their first use
            self.wait()
            start = real_time.perf_counter()
            made = compute()
            self.wait()
            seconds[step] = real_time.perf_counter() - start
            return made

        with self.place():
            self._walk(*self._given(feeds, count), training, timed)
        return seconds

    def _given(self, feeds: Sequence[Array], count: int) -> tuple[list[Value], Value]:
        return [self.array(one) for one in feeds], self.array(np.int32(count))

    def _named(self, results: Sequence[Any]) -> Values:
        return dict(zip(self._program.results, map(self.shown, results), strict=True))

    # What follows is compiled: TensorFlow runs it once, to learn the operations.

    def _walk(self, feeds: Sequence[Value], count: Value, training: bool, around: Any = None) -> Pass:
        leaves = dict(zip(self._program.inputs, feeds, strict=True))
        leaves |= {tensor: self.read(tensor) for tensor in self._program.own}
        run = Pass(self._ops, leaves, training, lambda seed: self.seed(seed, count))
        self._program.walk(run, around or self.around)
        return run

    def _results(self, run: Pass) -> list[Any]:
        for tensor, value in run.updates.items():
            self.write(tensor, value)
        return [self.out(run[tensor]) for tensor in self._program.results]

    def _compute(self, feeds: Sequence[Value], count: Value, training: bool) -> list[Any]:
        return self._results(self._walk(feeds, count, training))

    def _differentiate(self, feeds: Sequence[Value], count: Value, upstream: Any, whole: bool) -> Any:
        with self.recorded(feeds) as record:
            run = self._walk(feeds, count, True)
        ones = [(loss, np.ones(tuple(run[loss].shape), loss.dtype)) for loss in self._program.losses]
        targets, weights = zip(*ones, *upstream, strict=True)
        # Leaves are asked for as they were before gradients through them were stopped.
        values, wanted = run.values | run.leaves, self._floats if whole else self._program.trained
        sources = [values[tensor] for tensor in wanted]
        found = self.derived(record, [run[one] for one in targets], weights, sources)
        for place, tensor in enumerate(wanted):
            if found[place] is None and tensor in run.leaves:
                found[place] = np.zeros(tuple(values[tensor].shape), tensor.dtype)
        return [] if whole else self._results(run), found

    def _learn(self, feeds: Sequence[Value], count: Value, clock: Value) -> tuple[list[Any], list[Value]]:
        results, gradients = self._differentiate(feeds, count, (), False)
        self._improve(gradients, clock)
        return results, gradients

    def _improve(self, gradients: Sequence[Value], clock: Value) -> None:
        optimizer, trained = self._program.optimizer, self._program.trained
        assert optimizer is not None
        parameters, state = [self.read(one) for one in trained], [self.read(slot) for slot in self._slots]
        new, kept = optimizer.improve(self._ops, parameters, gradients, state, clock)
        for tensor, value in zip(trained, new, strict=True):
            self.write(tensor, value)
        for slot, value in zip(self._slots, kept, strict=True):
            self.write(slot, value)
