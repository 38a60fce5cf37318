"""Maps lines of compiled code to lines of the cell that the user sees.

IPython drops empty lines at a cell's top and rewrites magics before it compiles the rest. A cell magic
compiles the text below it separately, and code may compile other code. So the compiled text is matched with
the cell's text, and a line without a match has no number.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from jupyter_mlgpu.measure.activity.activity import Activity, Line, Part
from jupyter_mlgpu.record.sentence import Sentence, say

if TYPE_CHECKING:
    from jupyter_mlgpu.measure.activity.stack import OfUser

#: Text of a line with a magic after IPython rewrote it; the line's original text is lost.
_CHANGED = "get_ipython()"


def in_cells(activity: Activity | None, code: str, number: int | None, shell: Any) -> Activity | None:
    """Return the activity with line numbers of the cells that the user sees.

    `code` is the text of the cell that ran, and `number` its execution count, if it has one. Line numbers of
    earlier cells refer to their text in IPython's history.
    """
    return _map_lines(activity, lambda line: _in_cell(line, code, number, shell))


def in_blocks(activity: Activity | None, shell: Any, of_user: OfUser) -> Activity | None:
    """Return the activity of a traced block or of training with line numbers of the cells that the user sees.

    `of_user` returns the execution count of a compiled cell. Lines of other files already are what the user
    sees.
    """

    def find(line: Line) -> Line | None:
        count = None if line.file is None else line.cell or of_user(line.file)
        return line if not count else _in_history(line, count, shell, own=line.cell is None)

    return _map_lines(activity, find)


def name_of_line(line: Line, code: str, number: int | None, shell: Any) -> Sentence:
    """Return a line's name for people, as `line 7 of [3]`: in the cell that the user sees, if possible."""
    found = _in_cell(line, code, number, shell)
    cell = number if found is None or found.cell is None else found.cell
    if found is None:
        file = Path(line.file or "").name
        return say("line {number} of {file}", number=line.number, file=file)
    if cell is None:
        return say("line {number}", number=found.number)
    return say("line {number} of [{cell}]", number=found.number, cell=str(cell))


def _map_lines(activity: Activity | None, find: Callable[[Line], Line | None]) -> Activity | None:
    if activity is None:
        return None
    known: dict[Line | None, Line | None] = {None: None}

    def moved(line: Line | None) -> Line | None:
        if line is not None and line not in known:
            try:
                known[line] = find(line)
            except Exception:  # a line that cannot be mapped has no number
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
        found = _line_below_time_magic(line.number, code)
        return None if found is None else Line(found)
    # Code that a cell compiles has the cell's execution count or the next one, depending on IPython's
    # version. A cell that is not stored in the history has the count of the next cell.
    own = number is None or line.cell in (number, number + 1)
    found = visible_line(line.number, linecache.getlines(line.file), code) if own else None
    return Line(found) if found is not None else _in_history(line, line.cell, shell, but=number)


def _in_history(
    line: Line, count: int, shell: Any, *, own: bool = False, but: int | None = None
) -> Line | None:
    """Return the line in an earlier cell other than number `but`; with `own`, without that cell's number."""
    compiled = linecache.getlines(line.file or "")
    for cell in (count, count - 1):
        found = None if cell == but else visible_line(line.number, compiled, _cell_text(cell, shell))
        if found is not None:
            return Line(found, None if own else cell)
    return None


def _line_below_time_magic(number: int, code: str) -> int | None:
    """Return the line in the text below `%%time`, whose compiled code is stored nowhere."""
    lines, above = code.splitlines(), lines_above(code)
    timed = any(line.startswith("%%time") for line in lines[:above])
    return number + above if timed and number + above <= len(lines) else None


def _cell_text(number: int, shell: Any) -> str:
    inputs = shell.history_manager.input_hist_raw
    return str(inputs[number]) if 0 < number < len(inputs) else ""


def visible_line(number: int, compiled: Sequence[str], code: str) -> int | None:
    """Return the line of a cell's text that is line `number` of the compiled text; None if there is none."""
    original = code.rstrip().splitlines()
    executed = _without_trailing_blanks(compiled)
    if not 0 < number <= len(executed):
        return None
    above = len(original) - len(executed)
    if above >= 0 and all(_is_same(line, original[above + at]) for at, line in enumerate(executed)):
        return number + above
    if not any(_CHANGED in line for line in executed):
        return None
    # A magic over several lines became one line: then a line is found by its text, if that is unique.
    text = executed[number - 1].strip()
    places = [at for at, line in enumerate(original, 1) if line.strip() == text]
    return places[0] if text and len(places) == 1 and _CHANGED not in text else None


def _is_same(executed: str, original: str) -> bool:
    executed, original = executed.strip(), original.strip()
    # `drop_trace_line` turns our line over a cell into a comment, which keeps the tracebacks' line numbers.
    return executed == original or _CHANGED in executed or executed.removeprefix("# ") == original


def _without_trailing_blanks(lines: Sequence[str]) -> list[str]:
    """Return the lines without trailing empty ones."""
    remaining = list(lines)
    while remaining and not remaining[-1].strip():
        remaining.pop()
    return remaining


def lines_above(code: str) -> int:
    """Return how many lines of a cell precede the code that a cell magic compiles separately."""
    lines = code.splitlines()
    return next(
        (number for number, line in enumerate(lines) if line.strip() and not line.startswith("%%")), 0
    )
