"""The contract of engines, which compute graphs, and the base class of those that use ops.py.

Three engines implement it: NumPy, TensorFlow and, without the base class, Apple's ML Compute.
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
"""Values by tensor: anything that NumPy can read."""


class Executable(Protocol):
    """A program compiled for a device.

    `feeds` are the inputs' arrays in the program's order. `count` is the number of the execution, from which
    random numbers are derived, so that a gradient repeats the forward pass it belongs to.
    """

    #: True if calls return before the device has finished.
    asynchronous: bool

    def forward(self, feeds: Sequence[Array], training: bool, count: int) -> Values:
        """Return the program's results. In training, the statistics of layers (running means) are updated."""

    def gradient(self, feeds: Sequence[Array], count: int, upstream: Mapping[Tensor, Any]) -> Values:
        """Return the gradients of the sum of losses and of all `tensor * upstream`, for float tensors."""

    def update(self, gradients: Values, rate: float, time: int) -> None:
        """Run step number `time` of the optimizer with these gradients of the trained tensors."""

    def step(self, feeds: Sequence[Array], count: int, rate: float, time: int) -> tuple[Values, Values]:
        """Run forward, gradient and update in one; return the results and the trained tensors' gradients."""

    def times(self, feeds: Sequence[Array], training: bool, count: int) -> dict[Step, float]:
        """Return the seconds of each step of the program, each finished before the next."""

    def wait(self) -> None:
        """Wait until the device has finished."""


@dataclass(eq=False)
class Slot:
    """State of an optimizer: a number per parameter, all in one vector, stored like a tensor's values."""

    _value: Any


class Engine:
    """An executable on the operations of ops.py, for arrays of any library. See Executable.

    numpy_engine.py and tensorflow_engine.py implement what depends on the library, under these names:
    """

    compile: Callable[[Callable[..., Any]], Callable[..., Any]]
    """Return the function in a compiled form."""
    place: Callable[[], Any]
    """Return a context in which arrays are made and functions are called."""
    array: Callable[[Any], Value]
    """Return the library's array of a NumPy array."""
    read: Callable[[Tensor | Slot], Value]
    """Return the values of a tensor that has values of its own."""
    write: Callable[[Tensor | Slot, Value], None]
    """Set these values."""
    seed: Callable[[int, Value], Value]
    """Return two whole numbers for random_uniform, from a layer's seed and the number of the execution."""
    recording: Callable[[Sequence[Value]], Any]
    """Return a context for the feeds that records what is to be differentiated."""
    differentiate: Callable[[Any, Any, Any, Sequence[Value]], list[Value]]
    """Return the gradients of the sum of all targets * weights, from a record, targets, weights and sources.

    There is one for each source, None for a source that has no part in it.
    """

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
        self._forward, self._gradient = self.compile(self._compute), self.compile(self._differentiate)
        self._step, self._update = self.compile(self._learn), self.compile(self._improve)

    def wait(self) -> None:
        """Wait for what was sent to the device."""

    def around(self, step: Step, compute: Callable[[], Any]) -> Any:
        """Compute a step of the program."""
        return compute()

    def out(self, value: Value) -> Any:
        """Return a result in the form in which it leaves a compiled function."""
        return value

    def readable(self, value: Any) -> Any:
        """Return the result in a form that NumPy can read."""
        return value

    def forward(self, feeds: Sequence[Array], training: bool, count: int) -> Values:
        with self.place():
            return self._by_tensor(self._forward(*self._arrays(feeds, count), training))

    def gradient(self, feeds: Sequence[Array], count: int, upstream: Mapping[Tensor, Any]) -> Values:
        with self.place():
            more = [(tensor, self.array(gradient)) for tensor, gradient in upstream.items()]
            _, found = self._gradient(*self._arrays(feeds, count), more, True)
        return {tensor: one for tensor, one in zip(self._floats, found, strict=True) if one is not None}

    def step(self, feeds: Sequence[Array], count: int, rate: float, time: int) -> tuple[Values, Values]:
        with self.place():
            results, found = self._step(*self._arrays(feeds, count), self.array(np.array([rate, time])))
        return self._by_tensor(results), dict(zip(self._program.trained, found, strict=True))

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
            self._walk(*self._arrays(feeds, count), training, timed)
        return seconds

    def _arrays(self, feeds: Sequence[Array], count: int) -> tuple[list[Value], Value]:
        return [self.array(one) for one in feeds], self.array(np.int32(count))

    def _by_tensor(self, results: Sequence[Any]) -> Values:
        return dict(zip(self._program.results, map(self.readable, results), strict=True))

    # The following methods are compiled: TensorFlow runs them once, to record the operations.

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
        with self.recording(feeds) as record:
            run = self._walk(feeds, count, True)
        ones = [(loss, np.ones(tuple(run[loss].shape), loss.dtype)) for loss in self._program.losses]
        targets, weights = zip(*ones, *upstream, strict=True)
        # Leaves are used as they were before gradients through them were stopped.
        values, wanted = run.values | run.leaves, self._floats if whole else self._program.trained
        sources = [values[tensor] for tensor in wanted]
        found = self.differentiate(record, [run[one] for one in targets], weights, sources)
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
