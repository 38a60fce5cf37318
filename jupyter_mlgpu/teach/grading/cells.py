"""Which cell is whose: a lab's tests and given cells by the teacher's own notebook, all others the student's.

What a submission says of its cells is not asked: a cell that calls itself a test is a student's like any
other.
"""

from __future__ import annotations

import ast
import builtins
import symtable
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from jupyter_mlgpu.record.errors import GradingError

Role = Literal["test", "given", "answer"]

_BUILTINS = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__"}


@dataclass(frozen=True)
class TeachersCell:
    """A code cell of the lab's source: nbgrader's name of it, what it is for, its code and its tags.

    `alone` says of a given cell that it needs nothing that a student writes.
    """

    name: str
    role: Role
    source: str
    tags: tuple[str, ...] = ()
    alone: bool = False

    @property
    def python(self) -> str:
        """The code without IPython's own lines, which a grader does not need."""
        return plain_python(self.source)


def teachers_cells(notebook: Mapping[str, Any]) -> list[TeachersCell]:
    """The code cells of a lab's source that have a name of nbgrader's, from its top to its end."""
    found: list[TeachersCell] = []
    known: set[str] = set(_BUILTINS)
    for cell in notebook["cells"]:
        told = cell["metadata"].get("nbgrader", {})
        if cell["cell_type"] != "code" or "grade_id" not in told:
            continue
        role: Role = "answer" if told.get("solution") else "test" if told.get("grade") else "given"
        source = "".join(cell["source"])
        if role == "given" and "import *" in source:
            raise GradingError(
                f"The lab's cell {told['grade_id']!r} imports *, which hides where its names come from; "
                "import them by name."
            )
        alone = role == "given" and _is_python(source) and needed(plain_python(source)) <= known
        if alone:
            known |= made(plain_python(source))
        found.append(
            TeachersCell(told["grade_id"], role, source, tuple(cell["metadata"].get("tags", ())), alone)
        )
    return found


def plain_python(source: str) -> str:
    """The code without lines that are IPython's: `%matplotlib inline`, `!ls`."""
    lines = source.splitlines(keepends=True)
    return "".join(
        "\n" if line.startswith(("%", "!")) and not line.startswith("%%") else line for line in lines
    )


def _is_python(source: str) -> bool:
    try:
        ast.parse(plain_python(source))
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True


def needed(source: str) -> set[str]:
    """The names that code takes from outside itself, wherever in it. Raises SyntaxError."""
    top = symtable.symtable(source, "<cell>", "exec")
    bound = {one.get_name() for one in top.get_symbols() if one.is_assigned() or one.is_imported()}
    wanted = {one.get_name() for table in _tables(top) for one in _of_the_module(table)}
    return wanted - bound


def made(source: str) -> set[str]:
    """The names that code binds at its top level. Raises SyntaxError."""
    top = symtable.symtable(source, "<cell>", "exec")
    return {one.get_name() for one in top.get_symbols() if one.is_assigned() or one.is_imported()}


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for child in table.get_children():
        yield from _tables(child)


def _of_the_module(table: symtable.SymbolTable) -> Iterable[symtable.Symbol]:
    if table.get_type() == "module":
        return [one for one in table.get_symbols() if one.is_referenced()]
    return [one for one in table.get_symbols() if one.is_referenced() and one.is_global()]


def missing(
    submitted: Sequence[str], teachers: Sequence[TeachersCell]
) -> list[tuple[TeachersCell, str | None]]:
    """The tests that a submission lacks, each with the nearest cell before it (None: it is the first)."""
    there = set(submitted)
    found = []
    last: str | None = None
    for cell in teachers:
        if cell.name in there:
            last = cell.name
        elif cell.role == "test":
            found.append((cell, last))
            last = cell.name
    return found
