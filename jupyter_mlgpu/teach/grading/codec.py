"""JSON encoding of the plain data that crosses between the grader and a student's process.

Numbers, texts, bytes, lists, tuples, dicts, sets and arrays of numbers can cross. The receiver builds new
values from Python's and NumPy's own types, so they compare as these do, whatever class they had. Nothing is
unpickled, and received data never chooses a class. Functions cross in one direction only: a function of the
grader is called back.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
import sys
from collections.abc import Callable
from typing import Any

from jupyter_mlgpu.record.errors import CrossingError

#: Most bytes of one message, in either direction.
LIMIT = 32 * 1024**2
#: Greatest depth of nested lists.
DEPTH = 60

_DTYPE = re.compile(r"[<>|=]?(?:b1|[iu][1248]|f(?:2|4|8)|c(?:8|16))")
_MOST_DIMENSIONS = 32

#: Functions that map a function of the grader to its number in a message, and back.
Naming = Callable[[Callable[..., Any]], int]
Finding = Callable[[int], Callable[..., Any]]


def encode(value: object, naming: Naming | None = None, depth: int = 0) -> Any:
    """Return JSON-ready data for a value; raises CrossingError if the value is not plain."""
    if depth > DEPTH:
        raise CrossingError(f"A value is nested more than {DEPTH} deep, or holds itself; give a flatter one.")
    if value is None or value is True or value is False:
        return value
    if isinstance(value, str):
        return str.__str__(value)
    numbers = _numbers(value)
    if numbers is not None:
        return numbers
    if isinstance(value, float):
        number = float.__float__(value)
        return number if math.isfinite(number) else ["float", repr(number)]
    if isinstance(value, int):
        return ["int", hex(int.__index__(value))]
    if isinstance(value, complex):
        return ["complex", *(encode(part) for part in (value.real, value.imag))]
    if isinstance(value, bytes | bytearray):
        return ["bytes", base64.b64encode(bytes(value)).decode()]
    for name, kind in _GROUPS.items():
        if isinstance(value, kind):
            return [name, *(encode(item, naming, depth + 1) for item in value)]
    if isinstance(value, dict):
        pairs = dict.items(value)
        return ["dict", *([encode(item, naming, depth + 1) for item in pair] for pair in pairs)]
    if naming is not None and callable(value):
        return ["function", naming(value)]
    raise CrossingError(
        f"A {type(value).__name__} is not plain data: numbers, texts, lists, tuples, dicts, sets and "
        "arrays of numbers can be judged."
    )


_GROUPS: dict[str, Any] = {"list": list, "tuple": tuple, "set": (set, frozenset)}


def _numbers(value: Any) -> list[Any] | None:
    """Return an array, a NumPy number, or a tensor that converts to NumPy, as JSON-ready data."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return None
    if not isinstance(value, numpy.ndarray | numpy.generic):
        if not hasattr(type(value), "__array__"):
            return None
        value = numpy.asarray(value)
    if _DTYPE.fullmatch(value.dtype.str) is None:
        raise CrossingError(
            f"An array of {value.dtype} cannot be judged: give one of whole numbers or floats."
        )
    kind = "scalar" if isinstance(value, numpy.generic) else "array"
    data = base64.b64encode(value.tobytes()).decode()
    return [kind, value.dtype.str, list(value.shape), data]


def decode(data: Any, finding: Finding | None = None, depth: int = 0) -> Any:
    """Return the value of untrusted data; raises CrossingError for anything that `encode` does not write."""
    if depth > DEPTH:
        raise CrossingError(f"What arrived is nested more than {DEPTH} deep.")
    if data is None or isinstance(data, bool | str | float):
        return data
    if not isinstance(data, list) or not data or not isinstance(data[0], str):
        raise CrossingError(f"What arrived is not plain data: {data!r:.60}")
    kind, *rest = data
    try:
        return _decode_kind(kind, rest, finding, depth)
    except CrossingError:
        raise
    except (ValueError, TypeError, OverflowError, binascii.Error, RecursionError) as error:
        raise CrossingError(f"What arrived as {kind!r:.20} is none: {error!s:.80}") from None


def _decode_kind(kind: str, rest: list[Any], finding: Finding | None, depth: int) -> Any:
    if kind == "int":
        (text,) = rest
        return int(_text(text), 16)
    if kind == "float":
        (text,) = rest
        return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[_one_of(text, ("nan", "inf", "-inf"))]
    if kind == "complex":
        real, imaginary = (decode(part, None, depth + 1) for part in rest)
        return complex(float(real), float(imaginary))
    if kind == "bytes":
        (text,) = rest
        return base64.b64decode(_text(text), validate=True)
    if kind in ("list", "tuple", "set"):
        make: Any = {"list": list, "tuple": tuple, "set": set}[kind]
        return make(decode(item, finding, depth + 1) for item in rest)
    if kind == "dict":
        pairs = [one for one in rest if isinstance(one, list) and len(one) == 2]
        if len(pairs) != len(rest):
            raise CrossingError("What arrived as a dict has no pairs.")
        return {decode(key, finding, depth + 1): decode(value, finding, depth + 1) for key, value in pairs}
    if kind in ("array", "scalar"):
        return _array(kind, *rest)
    if kind == "function" and finding is not None:
        (number,) = rest
        if not isinstance(number, int):
            raise CrossingError("What arrived names no function.")
        return finding(number)
    raise CrossingError(f"What arrived is not plain data: {kind!r:.60}")


def _array(kind: str, dtype: Any, shape: Any, text: Any) -> Any:
    import numpy

    if _DTYPE.fullmatch(_text(dtype)) is None:
        raise CrossingError(f"What arrived as an array is of {dtype!r:.30}, which is not a number.")
    lengths = [one for one in shape if type(one) is int and one >= 0] if isinstance(shape, list) else None
    if lengths is None or len(lengths) != len(shape) or len(lengths) > _MOST_DIMENSIONS:
        raise CrossingError("What arrived as an array has no shape.")
    data = base64.b64decode(_text(text), validate=True)
    number_type = numpy.dtype(dtype)
    if math.prod(lengths) * number_type.itemsize != len(data):
        raise CrossingError("What arrived as an array does not have the size that it says.")
    array = numpy.frombuffer(bytearray(data), number_type).reshape(lengths)
    if kind == "array":
        return array
    if lengths:
        raise CrossingError("What arrived as one number is several.")
    return array[()]


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise CrossingError(f"What arrived should be a text, and is {type(value).__name__}.")
    return value


def _one_of(value: Any, choices: tuple[str, ...]) -> str:
    if value not in choices:
        raise CrossingError(f"What arrived is not a number: {value!r:.30}")
    return str(value)


def pack(message: dict[str, Any]) -> bytes:
    """Return a message as one line; raises CrossingError if it is too large."""
    line = json.dumps(message, allow_nan=False).encode() + b"\n"
    if len(line) > LIMIT:
        raise CrossingError(
            f"A value of {len(line) / 1e6:.0f} MB is too large to be judged: {LIMIT / 1e6:.0f} MB may cross."
        )
    return line


def with_number(line: bytes, number: str) -> bytes:
    """Return the line with one more field: the number that the answer has to carry."""
    return b'{"number": "' + number.encode() + b'"' + (b"}\n" if line == b"{}\n" else b", " + line[1:])


def unpack(line: bytes) -> dict[str, Any]:
    """Return the message in a line; raises CrossingError if the line is invalid."""
    try:
        message = json.loads(line, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise CrossingError(f"What arrived is not a message: {line[:40]!r}") from None
    if not isinstance(message, dict):
        raise CrossingError(f"What arrived is not a message: {line[:40]!r}")
    return message


def _refuse(name: str) -> Any:
    raise ValueError(name)
