"""The values of the notebook that a cell's code names, also through functions written in the notebook.

Nothing is run and no attribute of an unknown object is read. A name in a comment counts as well: what is
said of its value is true all the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from types import CodeType, FunctionType
from typing import Any

from jupyter_mlgpu.measure.user_objects import attributes

#: Names followed at most; with their search, about 0.2 ms.
LIMIT = 200

# A name, but not what follows a dot.
_NAME = re.compile(r"(?<![\w.])[^\W\d]\w*")
# What stands left of a line's equals sign, where that is names alone.
_TARGETS = re.compile(r"^[ \t]*([\w \t,*]+?)[ \t]*=(?!=)", re.MULTILINE)


def named_values(code: str, namespace: Mapping[str, Any]) -> dict[str, Any]:
    """Name to value, in the order in which the cell and then its functions name them.

    A name that the cell only gives to a result is left out: it is not what the cell works on.
    """
    found: dict[str, Any] = {}
    named = Counter(_NAME.findall(code))
    given = Counter(name for targets in _TARGETS.findall(code) for name in _NAME.findall(targets))
    names = [name for name, times in named.items() if times > given[name]]
    for name in names:  # grows while it is gone through
        if len(found) >= LIMIT:
            break
        if name in found or name not in namespace:
            continue
        found[name] = namespace[name]
        function = _function(namespace[name])
        if function is not None and function.__globals__ is namespace:
            names.extend(_globals_of(function.__code__))
    return found


def _function(value: Any) -> FunctionType | None:
    """A function, or the one that a decorator such as tf.function has wrapped."""
    if type(value) is FunctionType:
        return value
    wrapped = attributes(value).get("__wrapped__")
    return wrapped if type(wrapped) is FunctionType else None


def _globals_of(code: CodeType) -> Iterable[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if type(constant) is CodeType:  # a function inside the function
            yield from _globals_of(constant)
