"""Where the variables of the user's models live: TensorFlow's own, Keras's, those of modules and layers."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
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
        self._bases = {
            "variable": BaseResourceVariable,
            "keras variable": getattr(keras, "Variable", None),
            "layer": getattr(keras, "Layer", None),
            "module": Module,
            "list": list,
        }
        self._kinds: dict[type, str] = {}
        self._seen: set[int] = set()

    @property
    def full(self) -> bool:
        """Whether the limit is reached."""
        return len(self._seen) >= LIMIT

    def is_variable(self, value: object) -> bool:
        """Whether a value is one variable, and not what holds some."""
        return self._kind(value).endswith("variable")

    def devices(self, value: Any) -> Iterator[str]:
        """The device of each variable that a variable, layer or module holds."""
        kind = self._kind(value)
        if not kind or id(value) in self._seen or self.full:
            return
        if kind == "keras variable":
            yield from self.devices(own(value).get("_value"))
        elif kind == "variable":
            self._seen.add(id(value))
            handle: Any = own(value).get("_handle")
            if type(handle).__name__ == "EagerTensor":  # one in a graph that is being built has no place yet
                yield short_name(handle.device)
        elif kind == "layer":
            self._seen.add(id(value))
            held = own(value)
            yield from self._inside(held.get(name) for name in _OF_A_LAYER)
        elif kind == "module":
            self._seen.add(id(value))
            yield from self._inside(list(own(value).values()))

    def _inside(self, held: Iterable[Any]) -> Iterator[str]:
        for one in held:
            # TensorFlow and Keras keep lists of their own kind.
            for leaf in leaves(list(one) if self._kind(one) == "list" else one):
                yield from self.devices(leaf)

    def _kind(self, value: object) -> str:
        """Which of these a value's type is; empty for any other. A type is asked once, a value never."""
        kind = type(value)
        if kind not in self._kinds:
            is_a = (name for name, base in self._bases.items() if base is not None and issubclass(kind, base))
            found = next(is_a, "")
            ours = kind.__module__.partition(".")[0] in ("keras", "tensorflow")
            self._kinds[kind] = "" if found == "list" and not ours else found
        return self._kinds[kind]
