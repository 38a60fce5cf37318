"""Reading data that a stranger may have written: a table has exactly its fields, and each is checked.

A check takes a value and the place where it stands; it returns the value or raises RecordError, one sentence.
No message holds more than 60 characters of what was found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from jupyter_mlgpu.errors import RecordError
from jupyter_mlgpu.plain import table_of

T = TypeVar("T")
Check = Callable[[object, str], Any]


def build(kind: type[T], checks: Mapping[str, Check], data: object, where: str) -> T:
    """A dataclass from a table that has exactly its fields."""
    table = table_of(data, where)
    unknown = next((name for name in table if name not in checks), None)
    if unknown is not None:
        raise RecordError(f"{where} has {unknown!r:.60}, which is no field of it")
    lacking = next((name for name in checks if name not in table), None)
    if lacking is not None:
        raise RecordError(f"{where} lacks {lacking!r}")
    return kind(**{name: check(table[name], f"{where}.{name}") for name, check in checks.items()})


def all_different(names: list[str], where: str) -> None:
    """Refuse a list that names the same thing twice."""
    if len(set(names)) < len(names):
        raise RecordError(f"{where} has one of its {len(names)} twice")


def one_of(choices: Iterable[str]) -> Check:
    """A word of a closed list."""
    known = tuple(choices)

    def check(value: object, where: str) -> str:
        if not isinstance(value, str) or value not in known:
            raise RecordError(f"{where} should be one of {', '.join(known)}, found {value!r:.60}")
        return value

    return check


def fitting(pattern: re.Pattern[str], what: str) -> Check:
    """A text that fits the pattern as a whole; `what` says it in words."""

    def check(value: object, where: str) -> str:
        if not isinstance(value, str) or not pattern.fullmatch(value):
            raise RecordError(f"{where} should be {what}, found {value!r:.60}")
        return value

    return check


def whole(least: int, most: int) -> Check:
    """A whole number."""

    def check(value: object, where: str) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise RecordError(
                f"{where} should be a whole number from {least} to {most:,}, found {value!r:.60}"
            )
        return value

    return check


def number(most: int) -> Check:
    """A number of at least 0, which no NaN and no infinity is."""

    def check(value: object, where: str) -> float:
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= most:
            raise RecordError(f"{where} should be a number from 0 to {most:,}, found {value!r:.60}")
        return value

    return check


def yes_or_no(value: object, where: str) -> bool:
    """JSON's true or false."""
    if not isinstance(value, bool):
        raise RecordError(f"{where} should be true or false, found {value!r:.60}")
    return value


def or_none(check: Check) -> Check:
    """The same, or null."""
    return lambda value, where: None if value is None else check(value, where)


def each(check: Callable[[object, str], T], most: int) -> Check:
    """A list of at most so many, each of which is checked."""

    def checked(value: object, where: str) -> tuple[T, ...]:
        if not isinstance(value, list):
            raise RecordError(f"{where} should be a list, found {value!r:.60}")
        if len(value) > most:
            raise RecordError(f"{where} should have at most {most}, found {len(value):,}")
        return tuple(check(one, f"{where}[{at}]") for at, one in enumerate(value))

    return checked
