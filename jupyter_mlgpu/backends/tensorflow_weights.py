"""Where the variables of the user's models live: TensorFlow's own, Keras's, those of modules and layers."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from jupyter_mlgpu.backends.modules import imported
from jupyter_mlgpu.backends.staying import LIMIT, Staying, leaves, own
from jupyter_mlgpu.backends.tensorflow_names import short_name

# Where Keras 3 keeps a layer's own variables and the layers inside it (private; seen working on 3.15.1).
_OF_A_LAYER = ("_trainable_variables", "_non_trainable_variables", "_layers")


def variables(values: Mapping[str, object]) -> list[Staying]:
    """The variables of each value that has some, by the device on which they live."""
    walk = _Walk()
    found = []
    for name, value in values.items():
        parts: Counter[str] = Counter()
        for leaf in leaves(value):
            parts.update(walk.devices(leaf))
        if parts:
            what = None if walk.is_variable(value) else "weights"
            found.append(Staying(name, parts, what, walk.full))
    return found


class _Walk:
    """Goes through models once; what it has seen before, and what is beyond the limit, is left out."""

    def __init__(self) -> None:
        from tensorflow.python.module.module import Module
        from tensorflow.python.ops.resource_variable_ops import BaseResourceVariable

        keras = sys.modules.get("keras") if imported("keras") else None
        self._variable = BaseResourceVariable
        self._module = Module
        self._layer = getattr(keras, "Layer", ())
        self._keras_variable = getattr(keras, "Variable", ())
        self._seen: set[int] = set()

    @property
    def full(self) -> bool:
        """Whether the limit is reached."""
        return len(self._seen) >= LIMIT

    def is_variable(self, value: object) -> bool:
        return issubclass(type(value), self._variable) or self._is(value, self._keras_variable)

    def devices(self, value: Any) -> Iterator[str]:
        """The device of each variable that a variable, layer or module holds."""
        if id(value) in self._seen or self.full:
            return
        if self._is(value, self._keras_variable):
            yield from self.devices(own(value).get("_value"))
        elif issubclass(type(value), self._variable):
            self._seen.add(id(value))
            handle: Any = own(value).get("_handle")
            if type(handle).__name__ == "EagerTensor":  # one in a graph that is being built has no place yet
                yield short_name(handle.device)
        elif self._is(value, self._layer):
            yield from self._inside(value, {name: own(value).get(name) for name in _OF_A_LAYER})
        elif issubclass(type(value), self._module):
            yield from self._inside(value, own(value))

    def _inside(self, value: object, held: Mapping[str, Any]) -> Iterator[str]:
        self._seen.add(id(value))
        for one in list(held.values()):
            # TensorFlow and Keras keep lists of their own kind, which are lists and dicts.
            plain = list(one) if _tracked(one) else one
            for leaf in leaves(plain):
                yield from self.devices(leaf)

    def _is(self, value: object, kind: Any) -> bool:
        return kind != () and issubclass(type(value), kind)


def _tracked(value: object) -> bool:
    kind = type(value)
    return issubclass(kind, list) and kind.__module__.split(".")[0] in ("keras", "tensorflow")
