"""What an instruction calls, in the words of the code: `loader.next`, and the module that this comes from.

Names are looked up in the module's globals alone, and attributes in modules alone: nothing of the user's
runs. A function's own variables are left alone, for looking at them from outside would keep them alive.
"""

from __future__ import annotations

import ast
import builtins
import linecache
import re
import textwrap
from collections.abc import Sequence
from itertools import islice
from keyword import iskeyword
from opcode import opname
from types import CodeType, FunctionType
from typing import cast

from jupyter_mlgpu.measure import user_objects
from jupyter_mlgpu.measure.activity.activity import Call
from jupyter_mlgpu.measure.activity.stack import Place
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.user_objects import MISSING
from jupyter_mlgpu.record.redact import redact

_NAME = re.compile(r"[A-Za-z_]\w*")
#: Libraries of arrays beside the frameworks: an array of theirs tells its size, and runs nothing for it.
_OF_ARRAYS = frozenset(("numpy", "cupy", "jaxlib"))
#: Letters of a call that are kept.
LONGEST = 80
_BUILTINS = vars(builtins)


def call_at(place: Place) -> Call | None:
    """What is called there; None where the source is not at hand."""
    text = _source(place.code, place.instruction)
    if text is None:
        return None
    names = _Names(place)
    goes_on = place.instruction >= 0 and opname[place.code.co_code[place.instruction]] == "FOR_ITER"
    try:
        node = ast.parse(f"(\n{text}\n)", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _of_line(place, names)
    return _call(node, names, goes_on) or _of_line(place, names)


class _Names:
    """What names stand for at a place, but for a function's own variables."""

    def __init__(self, place: Place) -> None:
        code = place.code
        self._own = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
        self._table = place.names
        self.arrays_near = any(
            user_objects.is_module(value) and "ndarray" in user_objects.module_namespace(value)
            for value in list(dict.values(place.names))
        )

    def get(self, name: str) -> object:
        """The value; `MISSING` where there is none to be seen."""
        if name in self._own:
            return MISSING
        return dict.get(self._table, name, _BUILTINS.get(name, MISSING))


def _of_line(place: Place, names: _Names) -> Call:
    """Where a loop begins again, the lock is given up: what its line works on tells what it does."""
    line = linecache.getline(place.code.co_filename, place.line)
    values = [names.get(name) for name in set(_NAME.findall(line)) if not iskeyword(name)]
    arrays = [value for value in values if _is_array(value)]
    if arrays:
        return Call("", user_objects.type_module(type(arrays[0])), _largest(arrays))
    unsure = names.arrays_near and (not line or any(value is MISSING for value in values))
    return Call("", None if unsure else "builtins")


def _call(node: ast.expr, names: _Names, goes_on: bool) -> Call | None:
    """What a piece of code calls; `goes_on`: a loop goes over it, which asks it for its next item."""
    called: ast.expr = node.value if isinstance(node, ast.Await) else node
    arrays = [
        value
        for one in ast.walk(called)
        if isinstance(one, ast.Name) and _is_array(value := names.get(one.id))
    ]
    size = _largest(arrays)
    if isinstance(called, ast.Call):
        return Call(_words(called.func), _module_of(called.func, names), size)
    if goes_on and isinstance(called, ast.Name | ast.Attribute):
        return Call(_words(called), _module_of(called, names), size)
    text = {ast.BinOp: "arithmetic", ast.Compare: "a comparison", ast.Subscript: "indexing"}.get(type(called))
    if text is None or not arrays:
        return None
    return Call(text, user_objects.type_module(type(arrays[0])), size)


def _words(node: ast.expr) -> str:
    """A dotted name; of anything longer its last part."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    parts.append(node.id if isinstance(node, ast.Name) else "(...)")
    return redact(".".join(reversed(parts)))[:LONGEST]


def _module_of(node: ast.expr, names: _Names) -> str | None:
    """The module of a function, or of the type of the object whose method it is."""
    attributes: list[str] = []
    while isinstance(node, ast.Attribute):
        attributes.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    value = names.get(node.id)
    for name in reversed(attributes):
        if not user_objects.is_module(value):
            break
        value = user_objects.module_namespace(value).get(name, MISSING)
    return None if value is MISSING else _home(value)


def _home(value: object) -> str | None:
    if user_objects.is_module(value):
        name = user_objects.module_namespace(value).get("__name__")
        return name if type(name) is str else None
    if type(value) is FunctionType:
        at = dict.get(value.__globals__, "__name__")
        if type(at) is str and any(
            at == registry.framework(one).compiled_in for one in registry.imported_or_importing()
        ):
            return at
    # Functions and methods of C and Python, and classes, tell where they come from.
    return user_objects.defining_module(value) or user_objects.type_module(type(value)) or None


def _is_array(value: object) -> bool:
    kind = type(value)
    if user_objects.type_module(kind) in ("__main__", "builtins"):
        return False
    return user_objects.type_attribute(kind, "shape") is not MISSING


def _largest(arrays: Sequence[object]) -> int | None:
    """Bytes of the largest of these arrays whose size a library tells."""
    if not arrays:
        return None
    libraries = _OF_ARRAYS.union(name.partition(".")[0] for name in registry.MODULES)
    sizes = (user_objects.number_of_bytes(one, libraries) for one in arrays)
    return max(filter(None, sizes), default=None)


def _source(code: CodeType, instruction: int) -> str | None:
    """The piece of source that an instruction was made of."""
    where = next(islice(code.co_positions(), max(instruction, 0) // 2, None), None)
    if where is None or None in where:
        return None
    first, last, begin, end = cast(tuple[int, int, int, int], where)
    lines = linecache.getlines(code.co_filename)[first - 1 : last]
    if len(lines) != last - first + 1 or len(lines) > 200:
        return None
    # Columns are counted in bytes of UTF-8.
    lines[-1] = lines[-1].encode()[:end].decode(errors="replace")
    lines[0] = lines[0].encode()[begin:].decode(errors="replace")
    return textwrap.dedent("".join(lines))
