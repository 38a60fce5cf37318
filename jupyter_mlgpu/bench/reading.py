"""The JSON in a file of `bench --out`, which may be somebody else's: bounded, and with nothing odd in it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NoReturn

from jupyter_mlgpu import incoming
from jupyter_mlgpu.errors import BenchError, UsageError

#: A file of all cases on eight devices is some 500 kB.
MOST_BYTES = 4_000_000
_MOST_DIGITS = 18
_DEEPEST = 30
_MOST_LETTERS = 100_000
_HALF = re.compile("[\ud800-\udfff]")
# What would move a cursor or colour a terminal; ends of lines and tabs may be in what a framework said.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class _OddError(ValueError):
    """JSON in which something stands that no benchmark writes; the text follows "it holds"."""


def read(path: Path) -> object:
    """The data in a file, control characters replaced; raises BenchError in one sentence."""
    try:
        data = incoming.read_bytes(path.expanduser(), most=MOST_BYTES, what="a file of `bench --out`")
    except UsageError as error:
        raise BenchError(str(error)) from None
    try:
        found = json.loads(data.decode(), parse_int=_whole, parse_float=_real, parse_constant=_constant)
        return _plain(found, 0)
    except _OddError as error:
        raise BenchError(f"{path} cannot be used: it holds {error}; it was not written by `bench`.") from None
    except (ValueError, RecursionError):
        raise BenchError(f"{path} holds no JSON, so it is no file of `bench --out`.") from None


def _whole(digits: str) -> int:
    if len(digits.lstrip("-")) > _MOST_DIGITS:
        raise _OddError(f"a number of more than {_MOST_DIGITS} digits")
    return int(digits)


def _real(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise _OddError(f"the number {digits:.40}")
    return value


def _constant(word: str) -> NoReturn:
    raise _OddError(f"{word}, which is no number")


def _plain(value: Any, depth: int) -> Any:
    if depth > _DEEPEST:
        raise _OddError(f"lists and tables more than {_DEEPEST} deep")
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list):
        return [_plain(one, depth + 1) for one in value]
    if isinstance(value, dict):
        return {_text(name): _plain(one, depth + 1) for name, one in value.items()}
    return value


def _text(text: str) -> str:
    if len(text) > _MOST_LETTERS:
        raise _OddError(f"a text of more than {_MOST_LETTERS:,} letters")
    if _HALF.search(text):
        raise _OddError("half of a character")
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)
