"""The NumPy engine: a graph step by step, on the CPU. It is slow, and short enough to be read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from jupyter_mlgpu.graphs.mlcompute.engine import Engine, Slot
from jupyter_mlgpu.graphs.mlcompute.structure import Program
from jupyter_mlgpu.graphs.mlcompute.tape import NumpyOps, Value, backward, plain
from jupyter_mlgpu.graphs.mlcompute.tensors import Tensor


class NumpyExecutable(Engine):
    """The program in NumPy. Its arrays are those of tape.py, with their history."""

    def __init__(self, program: Program) -> None:
        super().__init__(program, NumpyOps())

    def compile(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return function

    def place(self) -> Any:
        return np.errstate(all="ignore")  # NaN is reported with the layer that made it

    def array(self, values: Any) -> Value:
        return Value(np.asarray(values))

    def read(self, own: Tensor | Slot) -> Value:
        return self.array(own._value)

    def write(self, own: Tensor | Slot, value: Value) -> None:
        own._value = value.array.astype(np.asarray(own._value).dtype)

    def seed(self, seed: int, count: Value) -> tuple[int, int]:
        return seed, int(count.array)

    def recording(self, feeds: Sequence[Value]) -> Any:
        return nullcontext()

    def differentiate(self, record: Any, targets: Any, weights: Any, sources: Sequence[Value]) -> list[Any]:
        found = backward(zip(targets, map(plain, weights), strict=True))
        return [found.get(source) for source in sources]

    def out(self, value: Value) -> Any:
        return plain(value)
