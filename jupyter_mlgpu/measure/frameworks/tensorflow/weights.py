"""Where the variables of the user's models live: TensorFlow's own, Keras's, those of modules and layers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from jupyter_mlgpu.measure.frameworks.imports import imported, module
from jupyter_mlgpu.measure.frameworks.misplaced_values import LIMIT, MisplacedValue, each, own
from jupyter_mlgpu.measure.frameworks.tensorflow.names import short_name
from jupyter_mlgpu.measure.user_objects import is_kind, is_one_of, type_module, type_name

#: Objects looked at: a Keras layer with two weights takes eight.
STEPS = 4 * LIMIT

# Where Keras 3 keeps a layer's own variables and the layers inside it (private; seen working on 3.15.1).
_OF_A_LAYER = ("_trainable_variables", "_non_trainable_variables", "_layers")


def variables(values: Mapping[str, object]) -> list[MisplacedValue]:
    """The variables of each value that has some, by the device on which they live."""
    walk = _Walk()
    found = []
    for name, held, cut in each(values):
        parts: Counter[str] = Counter()
        for one in held:
            parts.update(walk.devices(one))
        if parts:
            what = None if walk.is_variable(values[name]) else "weights"
            found.append(MisplacedValue(name, parts, what, cut or walk.full))
    return found


class _Walk:
    """Goes through models once; what it has seen before, and what is beyond the limit, is left out."""

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
        # By a type's number, and with it: a type may have a type of its own that says what it is equal to.
        self._kinds: dict[int, tuple[type, str]] = {}
        self._seen: set[int] = set()
        self._steps = 0

    @property
    def full(self) -> bool:
        """Whether the limit is reached."""
        return self._steps >= STEPS

    def is_variable(self, value: object) -> bool:
        """Whether a value is one variable, and not what holds some."""
        return self._kind(value).endswith("variable")

    def devices(self, value: object) -> Iterator[str]:
        """The device of each variable that a variable, layer or module holds."""
        waiting: list[Any] = [value]
        while waiting and not self.full:
            one = waiting.pop()
            self._steps += 1
            kind = self._kind(one)
            if not kind or id(one) in self._seen:
                continue
            self._seen.add(id(one))
            if kind == "variable":
                handle: Any = own(one).get("_handle")
                # In a graph that is being built it has no place yet.
                if type_name(type(handle)) == "EagerTensor":
                    yield short_name(handle.device)
            elif kind == "keras variable":
                waiting.append(own(one).get("_value"))
            elif kind == "layer":
                waiting.extend(map(own(one).get, _OF_A_LAYER))
            elif kind == "module":
                waiting.extend(islice(own(one).values(), STEPS))
            else:
                waiting.extend(islice(one.values() if kind == "dict" else one, STEPS))

    def _kind(self, value: object) -> str:
        """Which of these a value's type is; empty for any other. A type is asked once, a value never."""
        kind = type(value)
        if id(kind) not in self._kinds:
            bases = ((name, base) for name, base in self._bases.items() if base is not None)
            found = next((name for name, base in bases if is_kind(kind, base)), "")
            self._kinds[id(kind)] = kind, found or _container(kind)
        return self._kinds[id(kind)][1]


def _container(kind: type) -> str:
    """Plain ones, and the lists that TensorFlow and Keras make of them; others may be the user's."""
    if is_one_of(kind, (list, tuple, dict)):
        return type_name(kind)
    theirs = type_module(kind).partition(".")[0] in ("keras", "tensorflow")
    return "list" if theirs and is_kind(kind, list) else ""
