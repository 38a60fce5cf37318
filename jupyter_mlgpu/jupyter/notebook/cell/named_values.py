"""Finds the values of the notebook that a cell's code names, directly or through functions of the notebook.

No code is run, and no attribute of an unknown object is read. A name in a comment counts as well: a statement
about its value is still true.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import islice
from types import CodeType, FunctionType
from typing import Any

from jupyter_mlgpu.measure.user_objects import attributes

#: Most names that are resolved; that takes about 0.2 ms with the search.
LIMIT = 200

# A name, but not what follows a dot.
_NAME = re.compile(r"(?<![\w.])[^\W\d]\w*")
# The left side of an assignment, if it consists only of names.
_TARGETS = re.compile(r"^[ \t]*([\w \t,*]+?)[ \t]*=(?!=)", re.MULTILINE)


def named_values(code: str, namespace: Mapping[str, Any]) -> dict[str, Any]:
    """Return name to value, first in the order of the cell's text, then of its functions.

    A name that the cell only assigns to is left out, because the cell does not work on it.
    """
    found: dict[str, Any] = {}
    named = Counter(_NAME.findall(code))
    assigned = Counter(name for targets in _TARGETS.findall(code) for name in _NAME.findall(targets))
    names = [name for name, times in named.items() if times > assigned[name]]
    for name in names:  # the list grows during the loop
        if len(found) >= LIMIT:
            break
        if name in found or name not in namespace:
            continue
        found[name] = namespace[name]
        function = _function(namespace[name])
        if function is not None and function.__globals__ is namespace:
            names.extend(_globals_of(function.__code__))
    return found


def mentioned_values(code: str, namespace: Mapping[str, Any]) -> dict[str, Any]:
    """Return name to value for the names in a cell's text, also for those that the cell only assigns to."""
    names = dict.fromkeys(_NAME.findall(code))
    return {name: namespace[name] for name in islice(names, LIMIT) if name in namespace}


def _function(value: Any) -> FunctionType | None:
    """Return the value if it is a function, or the function that a decorator such as tf.function wrapped."""
    if type(value) is FunctionType:
        return value
    wrapped = attributes(value).get("__wrapped__")
    return wrapped if type(wrapped) is FunctionType else None


def _globals_of(code: CodeType) -> Iterable[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if type(constant) is CodeType:  # a function inside the function
            yield from _globals_of(constant)
