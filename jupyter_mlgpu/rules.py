"""What the fields of a record may hold, beyond their types.

A record may come from a file of somebody else's. What is read is checked here once, so that all that shows,
adds up or saves records can rely on it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jupyter_mlgpu.errors import RecordError

#: No count is larger (a counter of 64 bits that is full), no time, size or energy either.
MOST_COUNTED = 2**64
MOST_MEASURED = 1e18
#: The smallest uncertainty that is told in figures.
_LEAST = 1e-15
_DEEPEST = 40
_QUANTITY = re.compile(r"[a-z][a-z0-9_]{1,63}")


@dataclass(frozen=True, slots=True)
class Rule:
    """What a value should be, in words, and whether it is."""

    words: str
    holds: Callable[[Any], bool]


def _one_of(*words: str) -> Rule:
    return Rule(f"one of {', '.join(words)}", lambda value: value in words)


def _between(low: float, high: float) -> Callable[[Any], bool]:
    return lambda value: value is None or low <= value <= high


def _is_date(value: str) -> bool:
    try:
        return datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


_NAMED = Rule("a name", lambda value: bool(value))
_COUNT = Rule("a count", _between(0, MOST_COUNTED))
_MEASURED = Rule(f"a figure from 0 to {MOST_MEASURED:g}", _between(0, MOST_MEASURED))
# A quotient of two sums may be a rounding error more than the whole.
_SHARE = Rule("a share from 0 to 1", _between(0, 1 + 1e-9))

DATE = Rule("a date with time and zone (2026-01-31T12:00:00.000000Z)", _is_date)

#: By class and field; what is not named here may hold whatever its type allows.
OF: Mapping[str, Mapping[str, Rule]] = {
    "Run": {"id": _NAMED},
    "Cell": {"sequence": _COUNT, "execution_count": _COUNT},
    "Reading": {
        # A later version may have more quantities: one that is not known here is kept, and shown.
        "quantity": Rule("a name in lower case", lambda value: bool(_QUANTITY.fullmatch(value))),
        "unit": Rule("a unit", lambda value: 0 < len(value) <= 20 and value.isprintable()),
        "scope": _one_of("cell", "process", "device", "machine"),
        "value": _MEASURED,
        "samples": _COUNT,
        "uncertainty": Rule(
            f"0, or a figure from {_LEAST:g} to {MOST_MEASURED:g}",
            lambda value: value in (None, 0) or _LEAST <= value <= MOST_MEASURED,
        ),
    },
    "RanOn": {"framework": _NAMED, "device": _NAMED, "operations": _COUNT, "share": _SHARE},
    "LogLine": {"count": _COUNT},
    "OpStat": {
        "count": _COUNT,
        "self_time": _MEASURED,
        "total_time": _MEASURED,
        "share": _SHARE,
        "bytes": _COUNT,
        "flops": Rule("a number of at least 0", _between(0, math.inf)),
    },
}


def refuse_what_cannot_be_saved(data: object, what: str) -> None:
    """Raise RecordError for what Python may read from JSON, and can neither write again nor add up.

    That is NaN and infinity, whole numbers beyond 64 bits, halves of surrogate pairs, and what is nested
    deeper than anything of ours.
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
            if abs(value) > MOST_COUNTED:
                raise RecordError(f"{where} should be a number of at most 64 bits, found a larger one")
        elif isinstance(value, dict | list):
            if depth == _DEEPEST:
                raise RecordError(f"{what} is nested deeper than {_DEEPEST} levels")
            waiting += _inside(value, where, depth + 1)


def _inside(value: dict[str, Any] | list[Any], where: str, depth: int) -> list[tuple[object, str, int]]:
    if isinstance(value, list):
        return [(one, where, depth) for one in value]
    return [
        part for key, one in value.items() for part in ((key, where, depth), (one, f"{key!r:.60}", depth))
    ]


def _is_text(value: str) -> bool:
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
