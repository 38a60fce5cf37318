"""Facts to JSON and back: each field is checked by its annotation, and what is wrong is said in a sentence.

An unknown fact is written as {"unknown": "the reason"}, with "asked": false where nobody looked.
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
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from jupyter_mlgpu import incoming, plain
from jupyter_mlgpu.doctor.facts import SCHEMA, Facts
from jupyter_mlgpu.doctor.maybe import Unknown
from jupyter_mlgpu.doctor.shapes import TEXT
from jupyter_mlgpu.errors import NewerSchemaError, RecordError, UsageError
from jupyter_mlgpu.files import write_atomically

#: A facts file is some 50 kB; these bounds are for what was never one.
MOST_BYTES = 4_000_000
MOST_ITEMS = 2_000
MOST_LETTERS = 4_000
_TOO_LARGE = 10**18


def to_json(facts: Facts) -> dict[str, Any]:
    """The facts as JSON-ready data."""
    return {"schema": SCHEMA, **_plain(facts)}


def from_json(data: object, *, gathered: bool = False) -> Facts:
    """Facts from `to_json`'s data; raises RecordError, NewerSchemaError for a later version's.

    Fields that are absent are unknown, fields that nobody knows are ignored. A text that is not what its
    annotation says is refused; where it was `gathered` on this machine, whose files may hold anything, it is
    unknown, and in a list or a table its entry is left out.
    """
    table = plain.table_of(data, "the facts")
    schema = plain.field_of(table, "schema", int, "the facts")
    if schema != SCHEMA:
        kind = NewerSchemaError if schema > SCHEMA else RecordError
        raise kind(
            f"the facts have schema {schema}, this jupyter_mlgpu reads {SCHEMA}: "
            "both machines need the same version of it"
        )
    facts = _build(Facts, table, "the facts", gathered)
    assert isinstance(facts, Facts)
    return facts


def save(path: str | os.PathLike[str], facts: Facts) -> None:
    """Write facts to a file in one step; raises RecordError, naming the path, where it cannot be written."""
    text = json.dumps(to_json(facts), indent=1, ensure_ascii=False, allow_nan=False)
    write_atomically(Path(path).expanduser(), text.encode() + b"\n")


def load(path: str | os.PathLike[str]) -> Facts:
    """Facts from a file; raises RecordError, one sentence that names the file."""
    source = Path(path).expanduser()
    try:
        data = incoming.read_bytes(source, most=MOST_BYTES, what="a facts file")
    except UsageError as error:
        raise RecordError(str(error)) from error
    remedy = "make one with `jupyter mlgpu doctor --save-facts FILE`"
    try:
        return from_json(json.loads(data))
    except RecordError as error:
        raise type(error)(f"{source} is no facts file that can be read: {error}; {remedy}.") from error
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{source} is not JSON, so it is no facts file; {remedy}.") from error


def _plain(value: Any) -> Any:
    if isinstance(value, Unknown):
        return {"unknown": value.reason} | ({} if value.asked else {"asked": False})
    if dataclasses.is_dataclass(value):
        return {item.name: _plain(getattr(value, item.name)) for item in dataclasses.fields(value)}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return value


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def _build(kind: Any, data: object, where: str, gathered: bool) -> Any:
    """The data as what an annotation says, all the way down."""
    if get_origin(kind) in (Union, types.UnionType):
        return _one_of(get_args(kind), data, where, gathered)
    if dataclasses.is_dataclass(kind):
        table = plain.table_of(data, where)
        hints = _hints(kind)  # type: ignore[arg-type]
        values = {
            name: _build(hints[name], value, f"{where}.{name}", gathered)
            for name, value in table.items()
            if name in hints
        }
        required = (item.name for item in dataclasses.fields(kind) if item.default is dataclasses.MISSING)
        lacking = next((name for name in required if name not in values), None)
        if lacking:
            raise RecordError(f"{where} lacks {lacking!r}")
        return kind(**values)  # type: ignore[operator]
    if get_origin(kind) is tuple:
        if not isinstance(data, list) or len(data) > MOST_ITEMS:
            raise RecordError(f"{where} should be a list of at most {MOST_ITEMS:,}, found {data!r:.60}")
        return tuple(_list(get_args(kind)[0], data, where, gathered))
    if get_origin(kind) is Mapping:
        table = plain.table_of(data, where)
        if len(table) > MOST_ITEMS:
            raise RecordError(f"{where} should hold at most {MOST_ITEMS:,}, found {len(table):,}")
        return dict(_table(get_args(kind), table, where, gathered))
    return _leaf(kind, data, where)


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
    if isinstance(data, dict) and isinstance(data.get("unknown"), str) and Unknown in kinds:
        return Unknown(_leaf(str, data["unknown"], where), data.get("asked") is not False)
    if data is None and type(None) in kinds:
        return None
    # Beside None and Unknown, an annotation here has one kind.
    (kind,) = (one for one in kinds if one not in (Unknown, type(None)))
    try:
        return _build(kind, data, where, gathered)
    except _ShapeError:
        if gathered and Unknown in kinds:
            return Unknown("What was found is none that could be right.")
        raise


class _ShapeError(RecordError):
    """A text that is not what its annotation says."""


@contextmanager
def _left_out(gathered: bool) -> Iterator[None]:
    try:
        yield
    except _ShapeError:
        if not gathered:
            raise


def _leaf(kind: Any, data: object, where: str) -> Any:
    shape = TEXT
    if get_origin(kind) is Annotated:
        kind, shape = get_args(kind)
    accepts = (int, float) if kind is float else kind
    if not isinstance(data, accepts) or (isinstance(data, bool) and kind is not bool):
        raise RecordError(f"{where} should be {kind.__name__}, found {data!r:.60}")
    if isinstance(data, str) and len(data) > MOST_LETTERS:
        raise RecordError(f"{where} is a text of over {MOST_LETTERS:,} letters")
    if isinstance(data, str) and not shape.fits(data):
        raise _ShapeError(f"{where} should be {shape.what}, found {data!a:.60}")
    if isinstance(data, int) and abs(data) >= _TOO_LARGE:
        raise RecordError(f"{where} should be a number of at most 18 digits, found a larger one")
    if isinstance(data, float) and (data != data or data in (float("inf"), float("-inf"))):
        raise RecordError(f"{where} should be a number, found {data}")
    return data
