"""Finds the call of an instruction as written in the code (`loader.next`), and the module of the callee.

Names are looked up only in the module's globals, and attributes only in modules, so no user code runs. A
function's local variables are not read: reading them from outside would keep their values alive.
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
from jupyter_mlgpu.record.parsing import parse
from jupyter_mlgpu.record.redact import redact

_NAME = re.compile(r"[A-Za-z_]\w*")
#: Array libraries other than the frameworks. To read the size of their arrays runs no user code.
_OF_ARRAYS = frozenset(("numpy", "cupy", "jaxlib"))
#: Longest text of a call, in characters.
LONGEST = 80
_BUILTINS = vars(builtins)


def call_at(place: Place) -> Call | None:
    """Return the call at a place, None if the source is not available."""
    text = _source(place.code, place.instruction)
    if text is None:
        return None
    names = _Names(place)
    goes_on = place.instruction >= 0 and opname[place.code.co_code[place.instruction]] == "FOR_ITER"
    try:
        [statement] = parse(f"(\n{text}\n)").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _of_line(place, names)
    called = _call(statement.value, names, goes_on) if isinstance(statement, ast.Expr) else None
    return called or _of_line(place, names)


class _Names:
    """The values of names at a place, without the function's local variables."""

    def __init__(self, place: Place) -> None:
        code = place.code
        self._own = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
        self._table = place.names
        self.arrays_near = any(
            user_objects.is_module(value) and "ndarray" in user_objects.module_namespace(value)
            for value in list(dict.values(place.names))
        )

    def get(self, name: str) -> object:
        """Return the value of a name, `MISSING` if it is unknown."""
        if name in self._own:
            return MISSING
        return dict.get(self._table, name, _BUILTINS.get(name, MISSING))


def _of_line(place: Place, names: _Names) -> Call:
    """Return the arrays in a line without a call: a loop releases the GIL as it begins again."""
    line = linecache.getline(place.code.co_filename, place.line)
    values = [names.get(name) for name in set(_NAME.findall(line)) if not iskeyword(name)]
    arrays = [value for value in values if _is_array(value)]
    if arrays:
        return Call("", user_objects.type_module(type(arrays[0])), _largest(arrays))
    unsure = names.arrays_near and (not line or any(value is MISSING for value in values))
    return Call("", None if unsure else "builtins")


def _call(node: ast.expr, names: _Names, goes_on: bool) -> Call | None:
    """Return the call of an expression. `goes_on`: a loop asks the expression's value for its next item."""
    called: ast.expr = node.value if isinstance(node, ast.Await) else node
    arrays = [
        value
        for child in ast.walk(called)
        if isinstance(child, ast.Name) and _is_array(value := names.get(child.id))
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
    """Return a dotted name, or only the last part of a longer expression."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    parts.append(node.id if isinstance(node, ast.Name) else "(...)")
    return redact(".".join(reversed(parts)))[:LONGEST]


def _module_of(node: ast.expr, names: _Names) -> str | None:
    """Return the module of a function, or of the type of the object whose method it is."""
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
        names = registry.imported_or_importing()
        if type(at) is str and any(at == registry.framework(name).compiled_in for name in names):
            return at
    # Functions, methods and classes, of C or Python, know their module.
    return user_objects.defining_module(value) or user_objects.type_module(type(value)) or None


def _is_array(value: object) -> bool:
    kind = type(value)
    if user_objects.type_module(kind) in ("__main__", "builtins"):
        return False
    return user_objects.type_attribute(kind, "shape") is not MISSING


def _largest(arrays: Sequence[object]) -> int | None:
    """Return the bytes of the largest of these arrays, among those of known libraries."""
    if not arrays:
        return None
    libraries = _OF_ARRAYS.union(name.partition(".")[0] for name in registry.MODULES)
    sizes = (user_objects.number_of_bytes(array, libraries) for array in arrays)
    return max(filter(None, sizes), default=None)


def _source(code: CodeType, instruction: int) -> str | None:
    """Return the source text of an instruction."""
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
