"""Chooses the line of a cell that describes it best: its title wherever cells are listed.

The code is parsed, never run. The slow part of a cell is a call, and training is slowest. A reader who looks
for a cell in a list of twenty looks for that, not for its imports.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache

from jupyter_mlgpu.record.parsing import parse

#: Characters of the longest cell that is parsed: a longer one was written by a program.
_LONGEST = 50_000

#: Size of the cache of titles: a cell that runs again is not parsed again.
_CELLS = 128

#: Characters of the longest statement that is joined into one line.
_SHORT = 300

#: Calls that take longest in nearly every cell that has one.
_TRAINS = {"fit", "train"}

#: Calls that only show results: by their own name, or by the name of the object they draw on.
_SHOWS = {"print", "display", "show"}
_DRAWS = {"plt", "ax", "axes", "fig", "sns"}

#: Cell magics above Python code that describes the cell better than they do.
_TRANSPARENT = {"%%time", "%%timeit", "%%capture", "%%prun"}

#: IPython's own syntax, in a line that Python does not understand.
_MAGIC = re.compile(r"^(\s*)(?:\w+\s*=\s*)?([%!].*|\?.*|[^#'\"]*\?)$")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)

_NEVER = (ast.Import, ast.ImportFrom, ast.Pass, ast.Global, ast.Nonlocal)
_DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_COMPOUND = (*_DEFINES, ast.For, ast.AsyncFor, ast.While, ast.If, ast.With, ast.AsyncWith, ast.Try, ast.Match)
#: Statements whose body describes the cell better than their own line does.
_WITH_A_BODY = (ast.With, ast.AsyncWith, ast.If, ast.Try)


@lru_cache(maxsize=_CELLS)
def cell_title(code: str) -> str:
    """Return one line that describes a cell, or "" if it is empty.

    This is the last statement that trains something, else the last that calls something, else the last one.
    Statements that only show a result, imports, comments and texts count only if there is nothing else.
    """
    lines = code.splitlines()
    first = next((line.strip() for line in lines if line.strip()), "")
    if first.startswith("%%"):
        if first.split()[0] not in _TRANSPARENT:
            return first
        lines[lines.index(next(line for line in lines if line.strip()))] = ""
    statement = _statement(lines)
    if statement is not None:
        return _one_line(statement, lines)
    code_lines = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    not_imports = (line for line in code_lines if not line.startswith(("import ", "from ")))
    return next(not_imports, code_lines[0] if code_lines else first)


def _statement(lines: list[str]) -> ast.stmt | None:
    """Return the statement that describes the cell best; None if there is none or the text is not Python."""
    tree = _tree(lines)
    best: tuple[int, ast.stmt] | None = None
    pending = list(reversed(tree.body)) if tree is not None else []
    while pending:
        statement = pending.pop()
        if isinstance(statement, _WITH_A_BODY):
            inside = [*statement.body, *getattr(statement, "orelse", ())]
            pending += reversed(inside)
            continue
        weight = _weight(statement)
        if weight > 0 and (best is None or weight >= best[0]):
            best = weight, statement
    return None if best is None else best[1]


def _tree(lines: list[str]) -> ast.Module | None:
    if sum(map(len, lines)) > _LONGEST:
        return None
    # Escapes do not matter here. Replacing them avoids warnings of invalid ones, which the user's cell gives.
    plain = _ESCAPED.sub(_unescaped, "\n".join(lines))
    for source in (plain, "\n".join(map(_python, plain.split("\n")))):
        try:
            return parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return None


def _unescaped(escape: re.Match[str]) -> str:
    return escape[0] if escape[1] in "\n'\"\\" else f"/{escape[1]}"


def _python(line: str) -> str:
    """Return a line of IPython's own syntax as Python of the same weight."""
    magic = _MAGIC.match(line)
    if magic is None:
        return line
    return f"{magic[1]}magic()" if "(" in magic[2] else f"{magic[1]}magic"


def _weight(statement: ast.stmt) -> int:
    """Return how well a statement describes the cell, from 0 (not at all) to 4 (it trains something)."""
    if isinstance(statement, _NEVER) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    ):
        return 0
    if isinstance(statement, _DEFINES):
        return 1
    calls = [call for call in ast.walk(statement) if isinstance(call, ast.Call)]
    if any(_name(call.func) in _TRAINS for call in calls):
        return 4
    shows_only = (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and _shows(statement.value.func)
    )
    return 3 if calls and not shows_only else 2


def _shows(called: ast.expr) -> bool:
    name, root = _name(called), called
    while isinstance(root, ast.Attribute | ast.Call | ast.Subscript):
        root = root.func if isinstance(root, ast.Call) else root.value
    return name in _SHOWS or (isinstance(root, ast.Name) and root.id in _DRAWS)


def _name(called: ast.expr) -> str:
    return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")


def _one_line(statement: ast.stmt, lines: list[str]) -> str:
    """Return a statement's code as one line; an ellipsis stands for lines that are left out."""
    first = lines[statement.lineno - 1]
    if isinstance(statement, _COMPOUND) or statement.end_lineno is None or _MAGIC.match(first):
        return first.strip()
    if statement.lineno == statement.end_lineno:
        return first.encode()[statement.col_offset : statement.end_col_offset].decode(errors="replace")
    written = "\n".join(lines[statement.lineno - 1 : statement.end_lineno])
    one_line = ast.unparse(statement) if len(written) < _SHORT and "\\" not in written else ""
    return one_line if one_line and "\n" not in one_line else f"{first.strip()} …"
