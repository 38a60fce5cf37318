"""What Python's types say of themselves: fields with their marks and defaults, and what stands in what."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Container, Iterable, Iterator
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import msgspec
from msgspec import Struct

from jupyter_mlgpu.record.sentence import Sentence

T = TypeVar("T")


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
    elif is_typeddict(kind):
        for name, hint in hints.items():
            yield name, hint, Absent
    else:
        for field in dataclasses.fields(kind):
            made = field.default_factory
            default = Absent if field.default is dataclasses.MISSING else field.default
            yield field.name, hints[field.name], default if made is dataclasses.MISSING else made()


def tables(hint: Any, besides: Container[Any] = ()) -> Iterator[type]:
    """The types of ours that a type is made of, without what is in `besides`."""
    if get_origin(hint) is Annotated:
        yield from tables(get_args(hint)[0], besides)
    elif hint in besides or get_origin(hint) is Literal:
        return
    elif inspect.isclass(hint) and get_origin(hint) is None:
        if has_names(hint):
            yield hint
    else:
        for one in get_args(hint):
            yield from tables(one, besides)


def is_tuple(kind: Any) -> bool:
    """Whether it is a NamedTuple, which is a list in JSON."""
    return inspect.isclass(kind) and issubclass(kind, tuple) and hasattr(kind, "_fields")


def unmarked(hint: Any) -> tuple[Any, list[Any]]:
    """A type without its marks, and the marks."""
    if get_origin(hint) is NotRequired:
        kind, marks = unmarked(get_args(hint)[0])
        return kind | None, marks
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


def has_names(kind: Any) -> bool:
    """Whether it is a type of ours, whose values have names."""
    return is_tuple(kind) or dataclasses.is_dataclass(kind) or is_typeddict(kind) or issubclass(kind, Struct)


def marked(marks: Iterable[Any], kind: type[T]) -> T | None:
    """The mark of a kind; None where there is none."""
    return next((one for one in marks if isinstance(one, kind)), None)


def is_either(kind: Any) -> bool:
    """Whether it is one of several types."""
    return get_origin(kind) in (Union, UnionType)
