"""Decodes data from outside into the package's types: every level is checked, and errors are one sentence.

There is one decoder for records, races, benchmarks, plans, facts and reports. The types declare what they
accept (msgspec's `Annotated[int, Meta(ge=0)]`, `Literal[...]`). Conditions on several fields together are
checked in a type's `__post_init__`. docs/adr/0032 explains why msgspec is used.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Mapping
from functools import cache
from types import NoneType
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import NODEFAULT, Meta, Struct, structs

from jupyter_mlgpu.record import sentence
from jupyter_mlgpu.record.errors import NewerSchemaError, RecordError
from jupyter_mlgpu.record.sentence import Sentence

T = TypeVar("T")

#: A number of things. None of the package's counters has more than 63 bits.
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
#: A time, a size or an energy.
Measured = Annotated[float, Meta(ge=0, le=1e18)]
#: A part of a whole, from 0 to 1. A quotient of two sums may exceed 1 by a rounding error.
Share = Annotated[float, Meta(ge=0, le=1 + 1e-9)]
#: A text that names something, and is therefore not empty.
Name = Annotated[str, Meta(min_length=1)]

_DEEPEST = 40
_LEAVES = frozenset({str, int, float, bool, NoneType})
_PLACE = re.compile(r" - at `(?:key` in `)?\$\.?([^`]*)`$")
_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]|\[\.\.\.\]")
_EXPECTED = re.compile(r"Expected `([^`]+)`(?:, got `[^`]+`)?(.*)")
_WORDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def decode(kind: type[T], data: object, what: str) -> T:
    """Return data from json.loads as a value of type `kind`.

    Raises RecordError, one sentence that gives the place.
    """
    refuse_unsavable(data, what)
    try:
        return msgspec.convert(data, kind, dec_hook=_read)
    except msgspec.ValidationError as error:
        raise RecordError(_refusal(kind, str(error), data, what)) from None


class _OfASchema(Struct):
    schema: Annotated[int, Meta(ge=1)]


def check_schema(data: object, known: int, what: str) -> None:
    """Raise RecordError unless the data has version `known` of its schema, NewerSchemaError for a later one.

    `what` names the data in the error's sentence.
    """
    # Only the schema is checked here. The other fields are checked, with their places, when they are decoded.
    alone = {key: data[key] for key in data if key == "schema"} if isinstance(data, dict) else data
    schema = decode(_OfASchema, alone, what).schema
    refusal = f"{what} has schema {schema}, this jupyter_mlgpu reads schema {known}"
    if schema > known:
        raise NewerSchemaError(f"{refusal}: update with `pip install --upgrade jupyter_mlgpu`")
    if schema < known:
        raise RecordError(refusal)


def to_json(value: Any, texts: bool = True) -> Any:
    """Return a value of one of the package's types as JSON-ready data: tables, lists and their contents.

    If `texts` is false, sentences are written without their texts, which a notebook's view makes from the
    rest.
    """
    # Written by hand because msgspec.to_builtins keeps tuples and msgspec.json.encode turns NaN into null.
    if type(value) in _LEAVES:  # first, because nearly all values are leaves
        return value
    if isinstance(value, Sentence):
        return value.to_json(texts)
    if isinstance(value, Struct):
        return {
            written: one if type(one) in _LEAVES else str(one) if is_text else to_json(one, texts)
            for name, written, left_out, is_text in _fields(type(value))
            if (one := getattr(value, name)) is not left_out
        }
    if isinstance(value, tuple | list):
        return [to_json(item, texts) for item in value]
    if isinstance(value, Mapping):
        return {key: to_json(item, texts) for key, item in value.items()}
    if dataclasses.is_dataclass(value):  # last, because this check is slow and records contain none
        return {name: to_json(getattr(value, name), texts) for name in value.__dataclass_fields__}
    return value


@cache
def _fields(kind: type[Struct]) -> tuple[tuple[str, str, object, bool], ...]:
    """Return a tuple for each field: its name, its name in JSON, its unwritten value, and if it is a text.

    A sentence in a text field is written as its text, because as a table it could not be read again.
    """
    short = kind.__struct_config__.omit_defaults
    return tuple(
        (
            one.name,
            one.encode_name,
            one.default if short and one.default in (None, True) else NODEFAULT,
            getattr(one.type, "__origin__", one.type) is str,  # the origin of Annotated[str, ...] is str
        )
        for one in structs.fields(kind)
    )


def to_bytes(value: Any) -> bytes:
    """Return a value of one of the package's types as JSON bytes.

    A lone surrogate becomes a question mark. Raises RecordError for values that JSON cannot hold.
    """
    try:
        return json.dumps(to_json(value), ensure_ascii=False, allow_nan=False).encode(errors="replace")
    except (TypeError, ValueError, RecursionError) as error:
        raise RecordError(f"it holds what JSON cannot: {error}") from error


def refuse_unsavable(data: object, what: str) -> None:
    """Raise RecordError for values that Python reads from JSON but that cannot be written again or summed.

    These are NaN and infinity, whole numbers beyond 64 bits, lone surrogates, and data nested deeper than any
    of the package's types.
    """
    waiting: list[tuple[object, str, int]] = [(data, what, 0)]
    while waiting:
        value, where, depth = waiting.pop()
        if isinstance(value, str):
            if not _is_text(value):
                raise RecordError(f"{where} holds half a character (a lone surrogate)")
        elif isinstance(value, float):
            if not math.isfinite(value):
                raise RecordError(f"{where} should be a number, found {value}")
        elif isinstance(value, int):
            if abs(value) > 2**64:
                raise RecordError(f"{where} should be a number of at most 64 bits, found a larger one")
        elif isinstance(value, dict | list | tuple):
            if depth == _DEEPEST:
                raise RecordError(f"{what} is nested deeper than {_DEEPEST} levels")
            if isinstance(value, dict):
                for key, inner in value.items():
                    waiting += ((key, where, depth + 1), (inner, f"{key!r:.60}", depth + 1))
            else:
                waiting += [(inner, where, depth + 1) for inner in value]


def _is_text(value: str) -> bool:
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _read(kind: type, data: object) -> Any:
    if kind is Sentence:
        return sentence.from_json(data)
    raise NotImplementedError(f"{kind} is none of the types that are read")


def _refusal(kind: Any, message: str, data: object, what: str) -> str:
    """Return msgspec's message as a sentence with the place, the expected value and the value found."""
    place = _PLACE.search(message)
    message = _PLACE.sub("", message)
    path = place[1] if place else ""
    where = path or what
    if message.startswith("Object missing required field"):
        return f"{where} lacks {_quoted(message)}"
    if message.startswith("Object contains unknown field"):
        return f"{where} has {_quoted(message):.60}, which is no field of it"
    found = _found(data, path)
    if message.startswith("Invalid enum value"):
        choices = [str(word) for one in _schemas(kind, path) for word in one.get("enum", ())]
        return f"{where} should be one of {', '.join(choices)}, found {found:.60}"
    expected = _EXPECTED.fullmatch(message)
    if expected is None:  # the message of a __post_init__
        return f"{where}: {message}"
    words = " or ".join(_WORDS.get(one, one) for one in expected[1].split(" | ")) + expected[2]
    if " matching regex " in message:
        words = next(
            (one["title"] for one in _schemas(kind, path) if {"title", "pattern"} <= one.keys()), words
        )
    return f"{where} should be {words}, found {found:.60}"


def _quoted(message: str) -> str:
    return repr(message.split("`")[1])


def _steps(path: str) -> list[str | int | None]:
    return [name or (int(number) if number else None) for name, number in _STEP.findall(path)]


def _found(data: Any, path: str) -> str:
    """Return the value at a place as text. For a table with arbitrary keys msgspec does not give the key."""
    for step in _steps(path):
        if step is None:
            return "something else"
        data = data[step]
    return f"{len(data):,}" if isinstance(data, list) and len(data) > 60 else repr(data)


@cache  # a file may have a thousand records with the same mistake
def _schema(kind: Any) -> dict[str, Any]:
    return msgspec.json.schema(kind, schema_hook=lambda _: {"type": "string"})


def _schemas(kind: Any, path: str) -> tuple[Any, ...]:
    """Return the alternatives that the type's JSON schema allows at a place."""
    schema = _schema(kind)
    parts, at = schema.get("$defs", {}), schema
    for step in [*_steps(path), ""]:
        for one in (at, *at.get("anyOf", ())):
            if "$ref" in one:
                at = parts[one["$ref"].rpartition("/")[2]]
        if isinstance(step, str) and step:
            at = at["properties"][step]
        elif step is None:
            at = at["additionalProperties"]
        elif step != "":
            at = next(one for one in (at, *at.get("anyOf", ())) if "items" in one)["items"]
    return (at, *at.get("anyOf", ()))
