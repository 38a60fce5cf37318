"""Converts facts to JSON and back; each field is checked by its annotation, with an error in one sentence.

An unknown fact is written as {"unknown": "the reason"}, or with the reason as an object (see `sentence`), and
with "asked": false if it was not gathered on purpose.
"""

from __future__ import annotations

import dataclasses
import json
import os
import types
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Annotated, Any, TypeGuard, TypeVar, Union, get_args, get_origin, get_type_hints

from jupyter_mlgpu.explain.doctor.facts import SCHEMA, Facts
from jupyter_mlgpu.explain.doctor.maybe import Unknown
from jupyter_mlgpu.explain.doctor.shapes import Text
from jupyter_mlgpu.record import decoding, incoming, sentence
from jupyter_mlgpu.record.errors import RecordError, UsageError
from jupyter_mlgpu.record.files import write_atomically
from jupyter_mlgpu.record.sentence import Sentence, say
from jupyter_mlgpu.record.visible import visible_line

T = TypeVar("T")

#: Most bytes, and most items of a list or object. A real facts file has about 50 kB.
MOST_BYTES = 4_000_000
MOST_ITEMS = 2_000


def to_json(facts: Facts) -> dict[str, Any]:
    """Return the facts as JSON-ready data."""
    return {"schema": SCHEMA, **decoding.to_json(facts)}


def from_json(data: object, *, gathered: bool = False) -> Facts:
    """Return the facts from `to_json`'s data.

    Missing fields are unknown, and unknown names are ignored. A text that does not fit its annotation is an
    error. If the data was `gathered` on this machine, whose files may contain anything, such a text becomes
    unknown instead, and in a list or table its entry is left out. Raises RecordError, or NewerSchemaError for
    the data of a later version.
    """
    decoding.check_schema(data, SCHEMA, "the facts file")
    facts = _build(Facts, data, "the facts", gathered)
    assert isinstance(facts, Facts)
    return facts


def save(path: str | os.PathLike[str], facts: Facts) -> None:
    """Write facts to a file in one step; raises RecordError, which names the path, if that fails."""
    text = json.dumps(to_json(facts), indent=1, ensure_ascii=False, allow_nan=False)
    write_atomically(Path(path).expanduser(), text.encode() + b"\n")


def load(path: str | os.PathLike[str]) -> Facts:
    """Read facts from a file; raises RecordError with one sentence that names the file."""
    source = Path(path).expanduser()
    try:
        return from_json(incoming.read_json(source, most=MOST_BYTES, what="a facts file"))
    except UsageError as error:
        raise RecordError(str(error)) from error
    except RecordError as error:
        remedy = "make one with `jupyter mlgpu doctor --save-facts FILE`"
        raise type(error)(
            f"{visible_line(source)} is no facts file that can be read: {error}; {remedy}."
        ) from error


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def _build(kind: Any, data: object, where: str, gathered: bool) -> Any:
    """Return the data as an instance of the annotation, recursively; scalars are converted by `decoding`.

    msgspec does not convert the rest, because it cannot tell a table from an Unknown and stops at the first
    text that does not fit.
    """
    if get_origin(kind) in (Union, types.UnionType):
        return _one_of(get_args(kind), data, where, gathered)
    if kind is Sentence:
        return _sentence(data, where)
    if dataclasses.is_dataclass(kind):
        hints = _hints(kind)  # type: ignore[arg-type]
        values = {
            name: _build(hints[name], value, f"{where}.{name}", gathered)
            for name, value in _bounded(dict, data, where).items()
            if name in hints
        }
        required = (item.name for item in dataclasses.fields(kind) if item.default is dataclasses.MISSING)
        lacking = next((name for name in required if name not in values), None)
        if lacking:
            raise RecordError(f"{where} lacks {lacking!r}")
        return kind(**values)  # type: ignore[operator]
    if get_origin(kind) is tuple:
        return tuple(_list(get_args(kind)[0], _bounded(list, data, where), where, gathered))
    if get_origin(kind) is Mapping:
        return dict(_table(get_args(kind), _bounded(dict, data, where), where, gathered))
    return _leaf(kind, data, where)


def _bounded(kind: type[T], data: object, where: str) -> T:
    if not isinstance(data, kind) or len(data) > MOST_ITEMS:  # type: ignore[arg-type]
        what = "an object" if kind is dict else "a list"
        raise RecordError(f"{where} should be {what} of at most {MOST_ITEMS:,}, found {data!r:.60}")
    return data


def _list(kind: Any, data: list[Any], where: str, gathered: bool) -> Iterator[Any]:
    for number, item in enumerate(data):
        with _left_out(gathered):
            yield _build(kind, item, f"{where}[{number}]", gathered)


def _table(kinds: tuple[Any, Any], table: dict[str, Any], where: str, gathered: bool) -> Iterator[Any]:
    of_names, of_values = kinds
    for name, item in table.items():
        with _left_out(gathered):
            _leaf(of_names, name, f"a name in {where}")
            yield name, _build(of_values, item, f"{where}.{name:.40}", gathered)


def _one_of(kinds: tuple[Any, ...], data: object, where: str, gathered: bool) -> Any:
    if is_unknown(data) and Unknown in kinds:
        return Unknown(_sentence(data["unknown"], where), data.get("asked") is not False)
    if data is None and type(None) in kinds:
        return None
    # Besides None and Unknown, each annotation here has exactly one type.
    (kind,) = (one for one in kinds if one not in (Unknown, type(None)))
    try:
        return _build(kind, data, where, gathered)
    except _ShapeError:
        if gathered and Unknown in kinds:
            return Unknown(say("The value found cannot be right."))
        raise


def is_unknown(data: object) -> TypeGuard[dict[str, Any]]:
    """Return True if the data is the JSON of an unknown fact."""
    reason = data.get("unknown") if isinstance(data, dict) else None
    return isinstance(reason, str) or (isinstance(reason, dict) and "template" in reason)


def _sentence(data: object, where: str) -> Sentence:
    try:
        reason = sentence.from_json(data)
    except ValueError as error:
        raise RecordError(f"{where} should be a sentence: {error}") from error
    _leaf(Text, str(reason), where)
    return reason


class _ShapeError(RecordError):
    """A text does not fit its annotation."""


@contextmanager
def _left_out(gathered: bool) -> Iterator[None]:
    try:
        yield
    except _ShapeError:
        if not gathered:
            raise


def _leaf(kind: Any, data: object, where: str) -> Any:
    try:
        return decoding.decode(kind, data, where)
    except RecordError as error:
        of_texts = get_origin(kind) is Annotated
        raise (_ShapeError(str(error)) if of_texts and isinstance(data, str) else error) from None
