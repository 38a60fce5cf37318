"""Frozen dataclasses to JSON-ready data, and such data back, checked field by field.

Only the standard library. What is wrong is said in one sentence, a RecordError.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

from jupyter_mlgpu.errors import RecordError

T = TypeVar("T")


# What a field may hold, by the annotation written in the classes above.
_ACCEPTS: Mapping[str, tuple[type, ...]] = {
    "str": (str,),
    "str | None": (str, type(None)),
    "int": (int,),
    "int | None": (int, type(None)),
    "float": (int, float),
    "float | None": (int, float, type(None)),
    "Scope": (str,),
    "bool": (bool,),
    "Mapping[str, Any]": (dict,),
    "Any": (object,),
}


def build(kind: type[T], data: object, where: str) -> T:
    """A dataclass from a table; unknown keys are ignored, `where` names the place in messages."""
    table = table_of(data, where)
    values = {}
    for name, annotation, needed in _fields(kind):  # type: ignore[arg-type]
        if name in table:
            value = table[name]
            if not _fits(value, annotation):
                raise RecordError(f"{where}.{name} should be {annotation}, found {value!r:.60}")
            values[name] = value
        elif needed:
            raise RecordError(f"{where} lacks {name!r}")
    return kind(**values)


@cache
def _fields(kind: type[Any]) -> tuple[tuple[str, str, bool], ...]:
    """Name and annotation of each field, and whether it has to be there; looked up once a class."""
    return tuple(
        (item.name, str(item.type), item.default is dataclasses.MISSING) for item in dataclasses.fields(kind)
    )


def _fits(value: object, annotation: str) -> bool:
    # JSON's true is an int to Python, and never what a counter or a time should hold.
    if isinstance(value, bool):
        return annotation in ("bool", "Any")
    return isinstance(value, _ACCEPTS[annotation])


def table_of(data: object, where: str) -> dict[str, Any]:
    """The data, if it is a table."""
    if not isinstance(data, dict):
        raise RecordError(f"{where} should be an object, found {data!r:.60}")
    return data


def field_of(table: Mapping[str, Any], name: str, kind: type[T], where: str) -> T:
    """One field of a table, which must be there and of this kind."""
    value = table.get(name)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise RecordError(f"{where} should have {name!r} as {kind.__name__}, found {value!r:.60}")
    return value


def optional_of(table: Mapping[str, Any], name: str, kind: type[T], where: str) -> T | None:
    """One field of a table, or None where it is null or absent."""
    return None if table.get(name) is None else field_of(table, name, kind, where)


def choice_of(table: Mapping[str, Any], name: str, choices: tuple[Any, ...]) -> Any:
    """One field of a table, which must be one of the choices."""
    value = table.get(name)
    if value not in choices:
        raise RecordError(f"{name!r} should be one of {', '.join(choices)}, found {value!r:.60}")
    return value
