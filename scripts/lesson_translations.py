"""A lesson in another language: its own prose, and the cells and outputs of the English lesson.

The file of the other language holds the text cells, each with the id of the English cell it translates. Code
is not translated, so it is copied with its outputs, and nothing has to be run again.
"""

from __future__ import annotations

import copy
from pathlib import Path

from nbformat import NotebookNode

FOLDER = "zh"


class TranslationError(Exception):
    """A translated lesson does not have the text cells of the English one; the text names the first."""


def path_of(lesson: Path) -> Path:
    """Where the translation of a lesson is."""
    return lesson.parent / FOLDER / lesson.name


def build(lesson: NotebookNode, translated: NotebookNode) -> NotebookNode:
    """The lesson with the prose of `translated`.

    Raises TranslationError where a text cell is missing, or left over from an older lesson.
    """
    prose = {cell.id: cell for cell in translated.cells if cell.cell_type == "markdown"}
    built = copy.deepcopy(lesson)
    built.cells = [_prose_of(cell, prose) if cell.cell_type == "markdown" else cell for cell in built.cells]
    kept = {cell.id for cell in built.cells}
    if unknown := [name for name in prose if name not in kept]:
        raise TranslationError(f"The English lesson has no text cell {unknown[0]!r}: remove or rename it.")
    return built


def _prose_of(cell: NotebookNode, prose: dict[str, NotebookNode]) -> NotebookNode:
    if cell.id not in prose:
        raise TranslationError(f"The text cell {cell.id!r} of the English lesson is not translated yet.")
    return prose[cell.id]
