"""What an instruction calls, in the words of the code: `loader.next`, and the module that this comes from.

Names are looked up in the module's globals alone, and attributes in modules alone: nothing of the user's runs,
and a function's own variables are left alone, for looking at them from outside would keep them alive.
"""

from __future__ import annotations

import ast
import builtins
import linecache
import re
import textwrap
from collections.abc import Mapping
from itertools import islice
from opcode import opname
from types import CodeType, ModuleType
from typing import Any

from jupyter_mlgpu.measure.activity.activity import Call
from jupyter_mlgpu.measure.activity.stack import Place
from jupyter_mlgpu.record.redact import redact

_NAME = re.compile(r"[A-Za-z_]\w*")
#: Letters of a call that are kept.
LONGEST = 80


def call_at(place: Place) -> Call | None:
    """What is called there; None where the source is not at hand, or nothing is called."""
    text = _source(place.code, place.instruction)
    if text is None:
        return None
    try:
        node = ast.parse(f"(\n{text}\n)", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _of_line(place)
    goes_on = place.instruction >= 0 and opname[place.code.co_code[place.instruction]] == "FOR_ITER"
    return _call(node, place.names, goes_on) or _of_line(place)


def _of_line(place: Place) -> Call:
    """Where a loop begins again, the interpreter gives its lock up: what its line works on tells what it does."""
    line = linecache.getline(place.code.co_filename, place.line).strip()
    names = set(_NAME.findall(line))
    arrays = [value for name in names if (value := place.names.get(name)) is not None and _is_array(value)]
    if arrays:
        return Call("", type(arrays[0]).__module__, max(filter(None, map(_size, arrays)), default=None))
    known = any(isinstance(value, ModuleType) and hasattr(value, "ndarray") for value in [*place.names.values()])
    return Call("", None if known else "builtins")


def _call(node: ast.expr, names: Mapping[str, Any], goes_on: bool) -> Call | None:
    """What a piece of code calls; `goes_on`: it is what a loop goes over, which is asked for its next item."""
    called: ast.expr = node.value if isinstance(node, ast.Await) else node
    size = _largest(called, names)
    if isinstance(called, ast.Call):
        return Call(_words(called.func), _module_of(called.func, names), size)
    if goes_on and isinstance(called, ast.Name | ast.Attribute):
        return Call(_words(called), _module_of(called, names), size)
    module = next((found for one in ast.walk(called) if (found := _array_module(one, names))), None)
    text = {ast.BinOp: "arithmetic", ast.Compare: "a comparison", ast.Subscript: "indexing"}.get(type(called))
    return Call(text, module, size) if text is not None and module is not None else None


def _words(node: ast.expr) -> str:
    """A dotted name; of anything longer its last part."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    parts.append(node.id if isinstance(node, ast.Name) else "(...)")
    return redact(".".join(reversed(parts)))[:LONGEST]


def _module_of(node: ast.expr, names: Mapping[str, Any]) -> str | None:
    """The module of a function, or of the type of the object whose method it is."""
    attributes: list[str] = []
    while isinstance(node, ast.Attribute):
        attributes.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    value = names.get(node.id, _NOTHING)
    if value is _NOTHING:
        value = vars(builtins).get(node.id, _NOTHING)
    for name in reversed(attributes):
        if not isinstance(value, ModuleType):
            break
        value = vars(value).get(name, _NOTHING)
    return None if value is _NOTHING else _home(value)


def _home(value: object) -> str | None:
    if isinstance(value, ModuleType):
        return value.__name__
    kind = type(value)
    if kind.__module__ == "builtins" or isinstance(value, type):
        # Functions and methods of C and Python, and classes, tell where they come from.
        found = getattr(value, "__module__", None)
        if isinstance(found, str):
            return found
    return kind.__module__


def _array_module(node: ast.AST, names: Mapping[str, Any]) -> str | None:
    value = names.get(node.id, None) if isinstance(node, ast.Name) else None
    return type(value).__module__ if value is not None and _is_array(value) else None


def _is_array(value: object) -> bool:
    kind = type(value)
    return kind.__module__ not in ("__main__", "builtins") and hasattr(kind, "shape")


def _size(array: object) -> int | None:
    """Bytes of an array; an array that was given away has none."""
    try:
        return int(array.nbytes)  # type: ignore[attr-defined]
    except Exception:
        return None


def _largest(node: ast.expr, names: Mapping[str, Any]) -> int | None:
    values = [names.get(one.id) for one in ast.walk(node) if isinstance(one, ast.Name)]
    sizes = [_size(value) for value in values if value is not None and _is_array(value)]
    return max((size for size in sizes if size is not None), default=None)


def _source(code: CodeType, instruction: int) -> str | None:
    """The piece of source that an instruction was made of."""
    where = next(islice(code.co_positions(), max(instruction, 0) // 2, None), None)
    if where is None or None in where:
        return None
    first, last, begin, end = where
    assert first is not None and last is not None and begin is not None and end is not None
    lines = linecache.getlines(code.co_filename)[first - 1 : last]
    if len(lines) != last - first + 1 or len(lines) > 200:
        return None
    # Columns are counted in bytes of UTF-8.
    lines[-1] = lines[-1].encode()[:end].decode(errors="replace")
    lines[0] = lines[0].encode()[begin:].decode(errors="replace")
    return textwrap.dedent("".join(lines))


class _Nothing:
    pass


_NOTHING = _Nothing()
