"""Ownership of cells: the teacher's notebook defines the tests and given cells, all others are the student's.

The submission's own metadata is not trusted: a cell that claims to be a test is a student's cell.
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
    """A code cell of the lab's source: its nbgrader name, its role, its code and its tags.

    `alone` is True for a given cell that uses nothing a student writes.
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
    """Return the code cells of a lab's source that have an nbgrader name, from top to bottom."""
    found: list[TeachersCell] = []
    known: set[str] = set(_BUILTINS)
    for cell in notebook["cells"]:
        metadata = cell["metadata"].get("nbgrader", {})
        if cell["cell_type"] != "code" or "grade_id" not in metadata:
            continue
        role: Role = "answer" if metadata.get("solution") else "test" if metadata.get("grade") else "given"
        source = "".join(cell["source"])
        if role == "given" and "import *" in source:
            raise GradingError(
                f"The lab's cell {metadata['grade_id']!r} imports *, which hides where its names come from; "
                "import them by name."
            )
        alone = role == "given" and _is_python(source) and used_names(plain_python(source)) <= known
        if alone:
            known |= bound_names(plain_python(source))
        found.append(
            TeachersCell(metadata["grade_id"], role, source, tuple(cell["metadata"].get("tags", ())), alone)
        )
    return found


def plain_python(source: str) -> str:
    """Return code without IPython's own lines, such as `%matplotlib inline` or `!ls`."""
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


def used_names(source: str) -> set[str]:
    """Return the names that code uses but does not define; raises SyntaxError for invalid code."""
    top = symtable.symtable(source, "<cell>", "exec")
    bound = {one.get_name() for one in top.get_symbols() if one.is_assigned() or one.is_imported()}
    wanted = {one.get_name() for table in _tables(top) for one in _of_the_module(table)}
    return wanted - bound


def bound_names(source: str) -> set[str]:
    """Return the names that code binds at its top level; raises SyntaxError for invalid code."""
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
    """Return the tests that a submission lacks, each with the nearest cell before it, or None."""
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
