"""The solutions of a lesson: the same notebook, with the reference answers in its blanks.

In a cell with the tag `exercise`, each function that has the name of an exercise keeps the header and the
docstring that a learner sees, and gets the body of the reference answer. Predictions stay open: there is no
right one.
"""

from __future__ import annotations

import ast
import copy
import inspect
import re
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from jupyter_mlgpu.teach.lessons.exercises import exercises_of, modules

FOLDER = "solutions"
NOTE_ID = "solutions-note"
_NOTE = (
    "*The solutions: this is the lesson with its blanks filled in, made by `make lessons`. Predictions are "
    "left open, for there is no right one. To try for yourself, open [the lesson](../{name}).*"
)

Function = ast.FunctionDef | ast.ClassDef


class SolutionError(Exception):
    """A lesson and its reference answers do not go together; the text says how."""


def module_of(path: Path) -> str | None:
    """The module that holds the exercises of the lesson at `path`; None where it has none."""
    name = f"lesson_{path.name[:2]}"
    return name if name in modules() else None


def path_of(lesson: Path) -> Path:
    """Return the path of a lesson's solutions."""
    return lesson.parent / FOLDER / lesson.name


def build(lesson: NotebookNode, path: Path) -> NotebookNode:
    """The lesson at `path` with its blanks filled in, without outputs.

    Raises SolutionError where a blank is missing, or differs from its reference in what it takes.
    """
    module = module_of(path)
    references = {} if module is None else {one.name: one.reference for one in exercises_of(module)}
    built = copy.deepcopy(lesson)
    filled: list[str] = []
    for cell in built.cells:
        if cell.cell_type == "markdown":
            # A folder deeper, a link out of the lessons' folder has one step more to go.
            cell.source = cell.source.replace("](../", "](../../")
            continue
        cell.outputs, cell.execution_count = [], None
        if "exercise" in cell.metadata.get("tags", []):
            cell.source, names = fill(cell.source, references)
            filled += names
    if missing := [name for name in references if name not in filled]:
        raise SolutionError(f"{path.name} has no blank, in a cell with the tag exercise, for {missing[0]}.")
    note = new_markdown_cell(_NOTE.format(name=path.name), id=NOTE_ID)  # type: ignore[no-untyped-call]
    built.cells.insert(0, note)
    return built


def fill(source: str, references: Mapping[str, Any]) -> tuple[str, list[str]]:
    """A cell's source with the bodies of reference answers, and the names of those that were filled in."""
    lines = source.splitlines()
    filled = []
    # From the last to the first, so that the numbers of the lines above stay what they are.
    for blank in reversed(ast.parse(_without_magics(source)).body):
        if isinstance(blank, Function) and blank.name in references:
            reference, reference_lines = _source(references[blank.name])
            if _takes(blank) != _takes(reference):
                differ = f"{_takes(blank)} in the lesson and {_takes(reference)} in its reference"
                raise SolutionError(f"{blank.name} takes {differ}.")
            start = _before_body(blank, lines)
            answer = reference_lines[_before_body(reference, reference_lines) : reference.end_lineno]
            body = textwrap.dedent("\n".join(answer))
            indent = " " * blank.body[0].col_offset
            lines[start : blank.end_lineno] = textwrap.indent(body, indent).splitlines()
            filled.append(blank.name)
    return "\n".join(lines), filled


def _source(reference: Any) -> tuple[Function, list[str]]:
    text = textwrap.dedent(inspect.getsource(reference))
    tree = ast.parse(text).body[0]
    assert isinstance(tree, Function), f"{reference!r} is no function of its own"
    return tree, text.splitlines()


def _before_body(function: Function, lines: Sequence[str]) -> int:
    """Return the number of lines before the body: up to the docstring's end, or to the header's colon."""
    first = function.body[0]
    if ast.get_docstring(function) is not None:
        return first.end_lineno or first.lineno
    # Comments above the first statement belong to the body.
    for number, line in enumerate(lines[function.lineno - 1 : first.lineno - 1], function.lineno):
        if line.partition("#")[0].rstrip().endswith(":"):
            return number
    raise SolutionError(f"The body of {function.name} has to begin on a line of its own.")


def _takes(function: Function) -> str:
    if isinstance(function, ast.ClassDef):
        return "a class"
    every = function.args
    names = [one.arg for one in [*every.posonlyargs, *every.args, *every.kwonlyargs]]
    return f"({', '.join(names)})"


def _without_magics(source: str) -> str:
    """The source with IPython's magics as comments, so that Python can read it."""
    return re.sub(r"^(\s*)([%!])", r"\1#\2", source, flags=re.MULTILINE)
