"""Finds the strings that a statement gives to names and calls, with Python's own parser. Nothing is run.

The parser gets one statement of bounded length at a time, because long or deeply nested code can exhaust it.
It warns about invalid escapes and about numbers that touch a word (`1if`). Hiding these warnings would hide
those of the user's threads as well. Therefore the caller replaces escapes, and a statement with such a number
is refused.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from jupyter_mlgpu.record.parsing import parse
from jupyter_mlgpu.record.redact import assigned, calls, letters

#: Most parts of a statement that are visited. Nested values are visited once per level.
_MOST_STEPS = 20_000
#: Functions whose result contains the letters of their arguments.
_KEEPS = frozenset(
    re.findall(
        r"\w+",
        "str bytes bytearray repr format join list tuple SecretStr SecretBytes Secret b64decode b64encode "
        "fromhex unhexlify quote quote_plus unquote",
    )
)

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

_LINE_END = re.compile(r"\r\n|\r|\n")
_INDENT = re.compile(r"[ \t\f]*(?:@|(?:el(?=if\b))?)")
_TOUCHING_NUMBER = re.compile(r"(?<!\w)\.?\d[\w.]{0,80}?(?:and|else|for|if|in|is|not|or)\b")


class GivenString(NamedTuple):
    """A string, and the name that it is given to.

    `start` and `end` are the string's place, `at` is the name's. `pieces` are its letters, without the
    computed parts. `is_passed`: a call turns it into something else.
    """

    name: str
    at: int
    start: int
    end: int
    pieces: tuple[str, ...]
    is_formatted: bool
    is_passed: bool = False


def given_strings(code: str, closing: str = "") -> list[GivenString] | None:
    """Return the strings that a statement gives to suspicious names, or to calls that take a secret.

    Returns None if it does not parse, or has too many parts. `closing` holds the quotes and brackets that a
    cut statement lacks.
    """
    indent = _INDENT.match(code)
    skipped = indent.end() if indent else 0
    tree = _parsed(code[skipped:], closing)
    if tree is None:
        return None
    places = _Places(code, skipped)
    sounds = assigned.suspicious_words_pattern().search
    steps = iter(range(_MOST_STEPS))
    found = []
    for name, named, value in itertools.chain.from_iterable(map(_given, ast.walk(tree))):
        for literal, is_passed in _literals(value, steps) if sounds(letters.normalized(name)) else ():
            start, end = places.of(literal.lineno, literal.col_offset), places.end(literal)
            is_formatted = not isinstance(literal, ast.Constant)
            found.append(
                GivenString(name, places.of(*named), start, end, _pieces(literal), is_formatted, is_passed)
            )
    return None if next(steps, None) is None else found


def _parsed(code: str, closing: str) -> ast.AST | None:
    if _TOUCHING_NUMBER.search(code):
        return None
    # The first line of a block lacks its body, and if it was cut, the colon too.
    for end in ("", "\n pass", ": 0")[: 3 if closing else 2]:
        try:
            return parse(code + closing + end)
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            continue
    return None


_Named = tuple[str, tuple[int, int], ast.expr]


def _given(node: ast.AST) -> Iterator[_Named]:
    """Yield each name that a node gives a value to, its line and column, and the value."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _pairs(target, node.value)
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)) and node.value is not None:
        yield from _pairs(node.target, node.value)
    elif isinstance(node, ast.keyword) and node.arg is not None:
        yield node.arg, (node.lineno, node.col_offset), node.value
    elif isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value, (key.lineno, key.col_offset + 1), value
    elif isinstance(node, _Function):
        yield from _defaults(node.args)
    for name, text, value in calls.put_into(node):
        yield name, (text.lineno, text.col_offset), value
    if isinstance(node, ast.Call):
        for value in calls.arguments(node, _dotted(node.func)):
            yield "password", (node.lineno, node.col_offset), value


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[_Named]:
    waiting = [(target, value)]
    while waiting:
        target, value = waiting.pop()
        if isinstance(target, (ast.Tuple, ast.List)):
            if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
                waiting += zip(target.elts, value.elts, strict=True)
            continue
        at = target.lineno, target.col_offset
        if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
            yield str(target.slice.value), (target.slice.lineno, target.slice.col_offset + 1), value
        elif isinstance(target, (ast.Name, ast.Attribute)):
            yield _dotted(target), at, value


def _dotted(target: ast.expr) -> str:
    """Return a dotted name such as `self.password`, as far as it consists of names."""
    names: list[str] = []
    while isinstance(target, ast.Attribute) and len(names) < 8:
        names.append(target.attr)
        target = target.value
    if isinstance(target, ast.Name):
        names.append(target.id)
    return ".".join(reversed(names))


def _defaults(arguments: ast.arguments) -> Iterator[_Named]:
    by_place = [*arguments.posonlyargs, *arguments.args]
    first = len(by_place) - len(arguments.defaults)
    pairs = [*zip(by_place[first:], arguments.defaults, strict=True)]
    by_name = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    pairs += [(one, default) for one, default in by_name if default is not None]
    for one, default in pairs:
        yield one.arg, (one.lineno, one.col_offset), default


def _literals(value: ast.expr, steps: Iterator[int]) -> Iterator[tuple[ast.expr, bool]]:
    """Yield each string that this value may be made of, and if a call turns it into something else."""
    waiting: list[tuple[ast.AST, bool]] = [(value, False)]
    while waiting and next(steps, None) is not None:
        one, is_passed = waiting.pop()
        if isinstance(one, ast.expr) and calls.is_string(one):
            yield one, is_passed
        elif isinstance(one, ast.Call):
            waiting.append((one.func, is_passed))
            is_passed = is_passed or _makes_another(_dotted(one.func))
            waiting += ((part, is_passed) for part in (*one.args, *one.keywords))
        else:
            waiting += ((part, is_passed) for part in _parts(one))


def _makes_another(function: str) -> bool:
    return function.rpartition(".")[2] not in _KEEPS or function.endswith("path.join")


def _parts(value: ast.AST) -> Iterable[ast.AST]:
    """Return the parts that a value is made of, without conditions and keys."""
    if isinstance(value, ast.IfExp):
        return value.body, value.orelse
    if isinstance(value, ast.Subscript):
        return (value.value,)
    if isinstance(value, ast.Dict):
        return value.values
    return () if isinstance(value, (ast.Compare, ast.Lambda)) else ast.iter_child_nodes(value)


def _pieces(literal: ast.expr) -> tuple[str, ...]:
    """Return a string's letters, with those of the strings that are computed in it."""
    computed = [one for one in getattr(literal, "values", ()) if not isinstance(one, ast.Constant)]
    inner = (
        calls.pieces(one)
        for part in computed
        for one, is_passed in _literals(part.value, iter(range(_MOST_STEPS)))
        if not is_passed
    )
    return (*calls.pieces(literal), *itertools.chain.from_iterable(inner))


class _Places:
    """Converts the parser's lines and byte offsets into indices of the code."""

    def __init__(self, code: str, skipped: int) -> None:
        self._code = code
        self._starts = [skipped, *(end.end() for end in _LINE_END.finditer(code, skipped))]

    def of(self, line: int, column: int) -> int:
        """Return the index of the byte at `column` of a line."""
        start = self._starts[line - 1]
        if self._code.isascii():
            return start + column
        end = self._starts[line] if line < len(self._starts) else len(self._code)
        return start + len(self._code[start:end].encode()[:column].decode(errors="ignore"))

    def end(self, node: ast.expr) -> int:
        """Return the index at which a node ends."""
        line, column = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        return min(self.of(line, column), len(self._code))  # the end may be in the part that was added
