"""Which line of a cell tells what the cell is about: its title, wherever cells are listed.

The code is read, never run. What takes long in a cell is a call, and what trains takes longest; who looks for
a cell in a list of twenty looks for that, not for its imports.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache

#: Letters of a cell up to which its code is read: a longer one has been written by a program.
_LONGEST = 50_000

#: Cells that are remembered: one that is run again is not read again.
_CELLS = 128

#: Letters of a statement up to which all of its lines are told.
_SHORT = 300

#: Calls that take longest in nearly every cell that has one.
_TRAINS = {"fit", "train"}

#: Calls that only show what others have computed: by their own name, or by that of what they draw on.
_SHOWS = {"print", "display", "show"}
_DRAWS = {"plt", "ax", "axes", "fig", "sns"}

#: Cell magics below which stands Python that tells more than they do.
_TRANSPARENT = {"%%time", "%%timeit", "%%capture", "%%prun"}

#: IPython's own syntax, in a line that Python does not understand.
_MAGIC = re.compile(r"^(\s*)(?:\w+\s*=\s*)?([%!].*|\?.*|[^#'\"]*\?)$")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)

_NEVER = (ast.Import, ast.ImportFrom, ast.Pass, ast.Global, ast.Nonlocal)
_DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_COMPOUND = (*_DEFINES, ast.For, ast.AsyncFor, ast.While, ast.If, ast.With, ast.AsyncWith, ast.Try, ast.Match)
#: Those of which a statement inside tells more than their own line does.
_WITH_A_BODY = (ast.With, ast.AsyncWith, ast.If, ast.Try)


@lru_cache(maxsize=_CELLS)
def cell_title(code: str) -> str:
    """What a cell is about, in one line; empty where there is no code.

    The last statement that trains something, else the last that calls something, else the last one. What only
    shows a result, an import, a comment and a text count where there is nothing else.
    """
    lines = code.splitlines()
    first = next((line.strip() for line in lines if line.strip()), "")
    if first.startswith("%%"):
        if first.split()[0] not in _TRANSPARENT:
            return first
        lines[lines.index(next(line for line in lines if line.strip()))] = ""
    found = _statement(lines)
    if found is not None:
        return _one_line(found, lines)
    told = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    return next(
        (line for line in told if not line.startswith(("import ", "from "))), told[0] if told else first
    )


def _statement(lines: list[str]) -> ast.stmt | None:
    """The statement that tells most; None where nothing does, or where this is no Python."""
    tree = _tree(lines)
    best: tuple[int, ast.stmt] | None = None
    pending = list(reversed(tree.body)) if tree is not None else []
    while pending:
        one = pending.pop()
        if isinstance(one, _WITH_A_BODY):
            inside = [*one.body, *getattr(one, "orelse", ())]
            pending += reversed(inside)
            continue
        weight = _weight(one)
        if weight > 0 and (best is None or weight >= best[0]):
            best = weight, one
    return None if best is None else best[1]


def _tree(lines: list[str]) -> ast.Module | None:
    if sum(map(len, lines)) > _LONGEST:
        return None
    # Nothing is read of what a text escapes; to warn of what is no escape is left to the user's cell.
    plain = _ESCAPED.sub(_unescaped, "\n".join(lines))
    for source in (plain, "\n".join(map(_python, plain.split("\n")))):
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return None


def _unescaped(escape: re.Match[str]) -> str:
    return escape[0] if escape[1] in "\n'\"\\" else f"/{escape[1]}"


def _python(line: str) -> str:
    """A line of IPython's own syntax as Python with as much to tell."""
    magic = _MAGIC.match(line)
    if magic is None:
        return line
    return f"{magic[1]}magic()" if "(" in magic[2] else f"{magic[1]}magic"


def _weight(one: ast.stmt) -> int:
    """How much a statement tells; 0: nothing."""
    if isinstance(one, _NEVER) or (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)):
        return 0
    if isinstance(one, _DEFINES):
        return 1
    calls = [call for call in ast.walk(one) if isinstance(call, ast.Call)]
    if any(_name(call.func) in _TRAINS for call in calls):
        return 4
    shown = isinstance(one, ast.Expr) and isinstance(one.value, ast.Call) and _shows(one.value.func)
    return 3 if calls and not shown else 2


def _shows(called: ast.expr) -> bool:
    name, root = _name(called), called
    while isinstance(root, ast.Attribute | ast.Call | ast.Subscript):
        root = root.func if isinstance(root, ast.Call) else root.value
    return name in _SHOWS or (isinstance(root, ast.Name) and root.id in _DRAWS)


def _name(called: ast.expr) -> str:
    return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")


def _one_line(one: ast.stmt, lines: list[str]) -> str:
    """A statement's code in one line, as it was written; three dots stand for lines that are left out."""
    first = lines[one.lineno - 1]
    if isinstance(one, _COMPOUND) or one.end_lineno is None or _MAGIC.match(first):
        return first.strip()
    if one.lineno == one.end_lineno:
        return first.encode()[one.col_offset : one.end_col_offset].decode(errors="replace")
    written = "\n".join(lines[one.lineno - 1 : one.end_lineno])
    told = ast.unparse(one) if len(written) < _SHORT and "\\" not in written else ""
    return told if told and "\n" not in told else f"{first.strip()} …"
