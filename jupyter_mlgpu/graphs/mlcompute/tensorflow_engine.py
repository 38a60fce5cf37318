"""The TensorFlow engine: a graph as compiled tf.functions on a device."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from jupyter_mlgpu.graphs.mlcompute.engine import Engine, Slot
from jupyter_mlgpu.graphs.mlcompute.names import insist
from jupyter_mlgpu.graphs.mlcompute.structure import Program, Step
from jupyter_mlgpu.graphs.mlcompute.tensorflow_ops import TO_FIRST, TO_LAST, TensorFlowOps
from jupyter_mlgpu.graphs.mlcompute.tensors import Array, Tensor
from jupyter_mlgpu.measure.frameworks.tensorflow.backend import TensorFlowBackend


class ChannelsLast:
    """A picture as TensorFlow computed it. It is transposed only when it is read, because that takes time."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        array = np.asarray(self._value).transpose(TO_FIRST)
        return array if dtype is None else array.astype(dtype)


class TensorFlowExecutable(Engine):
    """The program as functions of TensorFlow.

    `place` is a device of TensorFlow, or "" to leave the choice to TensorFlow. Each kind of execution is a
    tf.function, which TensorFlow compiles once for each batch size.
    """

    def __init__(self, program: Program, place: str, asynchronous: bool) -> None:
        import tensorflow as tf

        self._tf, self._place, self.asynchronous = tf, place, asynchronous
        super().__init__(program, TensorFlowOps(tf))
        types = " and ".join(sorted({tensor.data_type for tensor in program.trained}))
        insist("and" not in types, f"The parameters of one graph must be of one type, not {types}.")
        with self._device():
            self._variables = {own: self._variable(own) for own in self._own}

    def compile(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return self._tf.function(function, autograph=False)  # type: ignore[no-any-return]

    @contextmanager
    def place(self) -> Iterator[None]:
        with self._device():
            for own, variable in self._variables.items():
                # Another engine or device has set the tensor's values meanwhile.
                if own._value is not variable:
                    variable.assign(np.asarray(own._value))
                    own._value = variable
            yield

    def array(self, values: Any) -> Any:
        return self._tf.convert_to_tensor(values)

    def read(self, own: Tensor | Slot) -> Any:
        return self._tf.convert_to_tensor(self._variables[own])

    def write(self, own: Tensor | Slot, value: Any) -> None:
        self._variables[own].assign(value)

    def seed(self, seed: int, count: Any) -> Any:
        return self._tf.stack([seed, count])

    @contextmanager
    def recording(self, feeds: Sequence[Any]) -> Iterator[Any]:
        with self._tf.GradientTape() as tape:
            tape.watch([feed for feed in feeds if feed.dtype.is_floating])
            yield tape

    def differentiate(self, record: Any, targets: Any, weights: Any, sources: Sequence[Any]) -> list[Any]:
        found = record.gradient(targets, sources, list(weights))
        # Gradients of rows of a table come as slices.
        return [None if one is None else self._tf.convert_to_tensor(one) for one in found]

    def wait(self) -> None:
        TensorFlowBackend().synchronize()

    def around(self, step: Step, compute: Callable[[], Any]) -> Any:
        with self._tf.name_scope(f"{step.layer.title} {step.results[0].name}".replace(" ", "_")):
            return compute()

    def out(self, value: Any) -> Any:
        return self._tf.transpose(value, TO_LAST) if len(value.shape) == 4 else value

    def readable(self, value: Any) -> Any:
        return ChannelsLast(value) if len(value.shape) == 4 else value

    def _device(self) -> Any:
        return self._tf.device(self._place) if self._place else nullcontext()

    def _variable(self, own: Tensor | Slot) -> Any:
        """Return the values as a variable on this device; graphs that share a tensor share the variable."""
        held = own._value
        if not isinstance(held, self._tf.Variable) or not held.device.endswith(self._place):
            own._value = self._tf.Variable(np.asarray(held))
        return own._value
