"""Which line of a cell, as the user sees it, a line of compiled code is.

IPython drops empty lines at a cell's top and changes magics before it compiles the rest, a cell magic
compiles what stands below it by itself, and code may compile other code. So the compiled text is laid over
the text of the cell, and a line that is not found there has no number.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from jupyter_mlgpu.measure.activity.activity import Activity, Line, Part

if TYPE_CHECKING:
    from jupyter_mlgpu.measure.activity.stack import OfUser

#: What IPython makes of a line with a magic, and so of one whose text says nothing.
_CHANGED = "get_ipython()"


def in_cells(activity: Activity | None, code: str, number: int | None, shell: Any) -> Activity | None:
    """Return the activity with its lines as they stand in the cells that the user sees.

    `code` is the text of the cell that ran, and `number` its execution count, if it has one. Lines of earlier
    cells are counted in the text that IPython's history has of them.
    """
    return _moved(activity, lambda line: _in_cell(line, code, number, shell))


def in_blocks(activity: Activity | None, shell: Any, of_user: OfUser) -> Activity | None:
    """Return the activity of a traced block, or of training, with its lines as they stand in their cells.

    `of_user` tells the execution count of a compiled cell. Lines of other files are what the user sees.
    """

    def found(line: Line) -> Line | None:
        count = None if line.file is None else line.cell or of_user(line.file)
        return line if not count else _in_history(line, count, shell, own=line.cell is None)

    return _moved(activity, found)


def _moved(activity: Activity | None, find: Callable[[Line], Line | None]) -> Activity | None:
    if activity is None:
        return None
    known: dict[Line | None, Line | None] = {None: None}

    def moved(line: Line | None) -> Line | None:
        if line is not None and line not in known:
            try:
                known[line] = find(line)
            except Exception:  # a line that cannot be looked up has no number
                known[line] = None
        return known[line]

    def with_line(part: Part) -> Part:
        return replace(part, line=moved(part.line))

    return replace(
        activity,
        parts=tuple(map(with_line, activity.parts)),
        unsampled_in=tuple(map(with_line, activity.unsampled_in)),
        lane_lines=tuple(map(moved, activity.lane_lines)),
    )


def _in_cell(line: Line, code: str, number: int | None, shell: Any) -> Line | None:
    if line.cell is None or line.file is None:
        found = _timed(line.number, code)
        return None if found is None else Line(found)
    # Code that a cell compiles has its count or the next one, which differs between IPython's versions. A
    # cell that is in no history has the count of the one to come.
    own = number is None or line.cell in (number, number + 1)
    found = visible_line(line.number, linecache.getlines(line.file), code) if own else None
    return Line(found) if found is not None else _in_history(line, line.cell, shell, but=number)


def _in_history(
    line: Line, count: int, shell: Any, *, own: bool = False, but: int | None = None
) -> Line | None:
    """Return the line in an earlier cell, not in number `but`; `own`: without the number of that cell."""
    compiled = linecache.getlines(line.file or "")
    for cell in (count, count - 1):
        found = None if cell == but else visible_line(line.number, compiled, _earlier(cell, shell))
        if found is not None:
            return Line(found, None if own else cell)
    return None


def _timed(number: int, code: str) -> int | None:
    """The line of what `%%time` compiles, which is kept nowhere: the text below that magic."""
    lines, above = code.splitlines(), lines_above(code)
    timed = any(line.startswith("%%time") for line in lines[:above])
    return number + above if timed and number + above <= len(lines) else None


def _earlier(number: int, shell: Any) -> str:
    inputs = shell.history_manager.input_hist_raw
    return str(inputs[number]) if 0 < number < len(inputs) else ""


def visible_line(number: int, compiled: Sequence[str], code: str) -> int | None:
    """Return the line of a cell's text that is line `number` of the compiled text; None where none is."""
    seen = code.rstrip().splitlines()
    made = _without_end(compiled)
    if not 0 < number <= len(made):
        return None
    above = len(seen) - len(made)
    if above >= 0 and all(_is_same(one, seen[above + at]) for at, one in enumerate(made)):
        return number + above
    if not any(_CHANGED in one for one in made):
        return None
    # A magic over several lines became one: the text of a line tells it, where no other has the same.
    text = made[number - 1].strip()
    places = [at for at, one in enumerate(seen, 1) if one.strip() == text]
    return places[0] if text and len(places) == 1 and _CHANGED not in text else None


def _is_same(made: str, seen: str) -> bool:
    made, seen = made.strip(), seen.strip()
    # Our own line over a cell becomes a comment, so that the numbers of tracebacks are those of the cell.
    return made == seen or _CHANGED in made or made.removeprefix("# ") == seen


def _without_end(lines: Sequence[str]) -> list[str]:
    """The lines without empty ones at the end."""
    kept = list(lines)
    while kept and not kept[-1].strip():
        kept.pop()
    return kept


def lines_above(code: str) -> int:
    """Return how many lines of a cell stand above the code that a cell magic compiles by itself."""
    lines = code.splitlines()
    return next(
        (number for number, line in enumerate(lines) if line.strip() and not line.startswith("%%")), 0
    )
