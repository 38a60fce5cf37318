"""A lesson in another language: its own prose, and the cells and outputs of the English lesson.

The file of the other language holds the text cells, each with the id of the English cell it translates. Code
is not translated, so it is copied with its outputs, and nothing has to be run again. The metadata of a
translated cell hold a digest of the English text it was made from, so that it is known when that has changed.

Run with the paths of lessons, this tells which text cells have to be translated again; with `--translated` it
notes that they have been.
"""

from __future__ import annotations

import argparse
import copy
import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path

import nbformat
from nbformat import NotebookNode

FOLDER = "zh"
#: In the metadata of a translated text cell: the digest of the English text that it says in its language.
MADE_FROM = "translated_from"


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


def outdated(lesson: NotebookNode, translated: NotebookNode) -> list[str]:
    """Ids of the text cells whose English is another than the one that was translated."""
    made_from = {cell.id: cell.metadata.get(MADE_FROM) for cell in translated.cells}
    return [name for name, told in _digests(lesson).items() if made_from.get(name) != told]


def note_translated(lesson: NotebookNode, translated: NotebookNode) -> None:
    """Note in `translated` that its text cells say what those of the lesson say now."""
    digests = _digests(lesson)
    for cell in translated.cells:
        if cell.id in digests:
            cell.metadata[MADE_FROM] = digests[cell.id]


def _digests(lesson: NotebookNode) -> dict[str, str]:
    return {cell.id: _digest(cell.source) for cell in lesson.cells if cell.cell_type == "markdown"}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _prose_of(cell: NotebookNode, prose: dict[str, NotebookNode]) -> NotebookNode:
    if cell.id not in prose:
        raise TranslationError(f"The text cell {cell.id!r} of the English lesson is not translated yet.")
    return prose[cell.id]


def main(arguments: Sequence[str] | None = None) -> int:
    """Tell or note what has to be translated again; the exit status is 1 where something is left to do."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--translated", action="store_true", help="note that the text cells told are translated now"
    )
    parser.add_argument("lessons", nargs="+", type=Path, help="learner's notebooks")
    asked = parser.parse_args(arguments)
    left = 0
    for path in filter(Path.exists, map(path_of, asked.lessons)):
        lesson, translated = _read(path.parents[1] / path.name), _read(path)
        if not (names := outdated(lesson, translated)):
            continue
        print(f"    {path}: {'noted' if asked.translated else 'to translate again'}: {', '.join(names)}")
        if asked.translated:
            note_translated(lesson, translated)
            nbformat.write(translated, path)  # type: ignore[no-untyped-call]
        else:
            left += len(names)
    return 1 if left else 0


def _read(path: Path) -> NotebookNode:
    notebook: NotebookNode = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    return notebook


if __name__ == "__main__":
    sys.exit(main())
