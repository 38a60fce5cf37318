"""The devices of the user's variables: TensorFlow's own, Keras's, and those in modules and layers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from jupyter_mlgpu.measure.frameworks.imports import imported, module
from jupyter_mlgpu.measure.frameworks.placed_values import LIMIT, PlacedValue, contained_values
from jupyter_mlgpu.measure.frameworks.tensorflow.names import short_name
from jupyter_mlgpu.measure.user_objects import attributes, is_kind, is_one_of, type_module, type_name

#: The largest number of objects that are visited: a Keras layer with two weights takes eight.
STEPS = 4 * LIMIT

# The attributes of a Keras 3 layer with its variables and inner layers (private; verified on 3.15.1).
_OF_A_LAYER = ("_trainable_variables", "_non_trainable_variables", "_layers")


def variables(values: Mapping[str, object]) -> list[PlacedValue]:
    """Return each value that contains variables, with their number by device."""
    walk = _Walk()
    found = []
    for name, contained, cut in contained_values(values):
        parts: Counter[str] = Counter()
        for one in contained:
            parts.update(walk.devices(one))
        if parts:
            what = None if walk.is_variable(values[name]) else "weights"
            found.append(PlacedValue(name, parts, what, cut or walk.full))
    return found


class _Walk:
    """A walk through models that skips what it has visited before and what is beyond the limit."""

    def __init__(self) -> None:
        from tensorflow.python.module.module import Module
        from tensorflow.python.ops.resource_variable_ops import BaseResourceVariable

        keras = module("keras") if imported("keras") else None
        self._bases = {
            "variable": BaseResourceVariable,
            "keras variable": getattr(keras, "Variable", None),
            "layer": getattr(keras, "Layer", None),
            "module": Module,
        }
        # By a type's id, with the type: its metaclass may define equality.
        self._kinds: dict[int, tuple[type, str]] = {}
        self._visited: set[int] = set()
        self._steps = 0

    @property
    def full(self) -> bool:
        """True if the limit is reached."""
        return self._steps >= STEPS

    def is_variable(self, value: object) -> bool:
        """Return True if a value is a single variable."""
        return self._kind(value).endswith("variable")

    def devices(self, value: object) -> Iterator[str]:
        """Yield the device of each variable in a variable, layer or module."""
        remaining: list[Any] = [value]
        while remaining and not self.full:
            one = remaining.pop()
            self._steps += 1
            kind = self._kind(one)
            if not kind or id(one) in self._visited:
                continue
            self._visited.add(id(one))
            if kind == "variable":
                handle: Any = attributes(one).get("_handle")
                # In a graph that is being built it has no device yet.
                if type_name(type(handle)) == "EagerTensor":
                    yield short_name(handle.device)
            elif kind == "keras variable":
                remaining.append(attributes(one).get("_value"))
            elif kind == "layer":
                remaining.extend(map(attributes(one).get, _OF_A_LAYER))
            elif kind == "module":
                remaining.extend(islice(attributes(one).values(), STEPS))
            else:
                remaining.extend(islice(one.values() if kind == "dict" else one, STEPS))

    def _kind(self, value: object) -> str:
        """Return the kind of a value's type, else empty. Only its type is inspected, and only once."""
        kind = type(value)
        if id(kind) not in self._kinds:
            bases = ((name, base) for name, base in self._bases.items() if base is not None)
            found = next((name for name, base in bases if is_kind(kind, base)), "")
            self._kinds[id(kind)] = kind, found or _container(kind)
        return self._kinds[id(kind)][1]


def _container(kind: type) -> str:
    """Return the kind of a plain container or of a list of TensorFlow or Keras; others may be the user's."""
    if is_one_of(kind, (list, tuple, dict)):
        return type_name(kind)
    theirs = type_module(kind).partition(".")[0] in ("keras", "tensorflow")
    return "list" if theirs and is_kind(kind, list) else ""
