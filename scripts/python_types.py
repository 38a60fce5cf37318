"""What Python's types say of themselves: fields with their marks and defaults, and what stands in what."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct

from jupyter_mlgpu.record.sentence import Sentence


class Absent:
    """Of a field without a default."""


def fields(kind: Any) -> Iterator[tuple[str, Any, Any]]:
    """A type's fields: as JSON names them, with their types and marks, and their defaults."""
    hints = get_type_hints(kind, include_extras=True)
    if is_tuple(kind):
        for name in kind._fields:
            yield name, hints[name], kind._field_defaults.get(name, Absent)
    elif issubclass(kind, Struct):
        for one in msgspec.structs.fields(kind):
            default = one.default if one.default_factory is msgspec.NODEFAULT else one.default_factory()
            yield one.encode_name, hints[one.name], Absent if default is msgspec.NODEFAULT else default
    else:
        for field in dataclasses.fields(kind):
            made = field.default_factory
            default = Absent if field.default is dataclasses.MISSING else field.default
            yield field.name, hints[field.name], default if made is dataclasses.MISSING else made()


def tables(hint: Any) -> Iterator[type]:
    """The tables and tuples of ours that a type is made of."""
    if get_origin(hint) is Annotated:
        yield from tables(get_args(hint)[0])
    elif inspect.isclass(hint) and get_origin(hint) is None:
        if dataclasses.is_dataclass(hint) or issubclass(hint, Struct) or is_tuple(hint):
            yield hint
    elif get_origin(hint) is not Literal:
        for one in get_args(hint):
            yield from tables(one)


def is_tuple(kind: Any) -> bool:
    """Whether it is a NamedTuple, which is a list in JSON."""
    return inspect.isclass(kind) and issubclass(kind, tuple) and hasattr(kind, "_fields")


def unmarked(hint: Any) -> tuple[Any, list[Any]]:
    """A type without its marks, and the marks."""
    if get_origin(hint) is Annotated:
        kind, *marks = get_args(hint)
        return kind, marks
    return hint, []


def optional(hint: Any) -> bool:
    """Whether None may stand there."""
    hint, _ = unmarked(hint)
    return get_origin(hint) in (Union, UnionType) and NoneType in get_args(hint)


def some(hint: Any) -> Any:
    """A type without None."""
    if not optional(hint):
        return hint
    left = [one for one in get_args(hint) if one is not NoneType]
    return left[0] if len(left) == 1 else Union[tuple(left)]  # noqa: UP007


def is_said(hint: Any) -> bool:
    """Whether it is a sentence, or a text in its place."""
    return hint is Sentence or (
        get_origin(hint) in (Union, UnionType) and {*get_args(hint)} == {Sentence, str}
    )
