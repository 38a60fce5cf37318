"""Brings the catalogues of translated lessons, labs and the demo up to the English: `make catalogues`.

    python scripts/lesson_catalogues.py [--check]

A new text cell comes in untranslated, and one whose English has changed keeps its translation, marked fuzzy,
until somebody has looked at it; what no cell says any more goes. So it is with the messages of a lab's tests,
and with any other text of a code cell that a translator has put into the catalogue. What is open is printed,
and the exit status is 1. With --check nothing is written.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import catalogues
import nbformat
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po
from nbformat import NotebookNode
from tracked import tracked

from jupyter_mlgpu.teach.lessons import shipped

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = ROOT / "notebooks"
DEMO = ROOT / "demo"
#: A message of a lab's test, as it stands in its quotes.
_MESSAGE = re.compile(r'"((?:Expected |The peak memory was)[^"\n]*)"')


def path_of(lesson: Path) -> Path:
    """Return the path of a lesson's catalogue."""
    return lesson.parent / shipped.LANGUAGES[1] / f"{lesson.stem}.po"


def english_of(catalogue: Path) -> NotebookNode:
    """Return the notebook that a catalogue translates."""
    catalogue = catalogue.resolve()
    if catalogue.is_relative_to(DEMO):
        path = DEMO / f"{catalogue.stem}.ipynb"
    else:
        path = NOTEBOOKS / shipped.english_of(catalogue.relative_to(NOTEBOOKS)).with_suffix(".ipynb")
    notebook: NotebookNode = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    return notebook


def updated(before: Catalog, notebook: NotebookNode) -> Catalog:
    """Return the catalogue with what the notebook says now, and with the translations that it had."""
    stood = {cell: message for message in before for cell, _ in message.locations}
    said = Catalog()
    for cell in notebook.cells:
        for text in _texts(cell, before):
            said.add(text, locations=[(cell.id, 1)])
            old = stood.get(cell.id)
            if cell.cell_type == "markdown" and text not in before and old is not None:
                before.add(text, old.string, flags=["fuzzy"])
    before.update(said, no_fuzzy_matching=True, update_creation_date=False)
    before.obsolete.clear()
    return before


def _texts(cell: NotebookNode, catalogue: Catalog) -> Iterator[str]:
    if cell.cell_type == "markdown":
        yield cell.source
        return
    yield from _MESSAGE.findall(cell.source)
    for text in (str(message.id) for message in catalogue if message.id):
        if text == cell.source or f'"{text}"' in cell.source:
            yield text


def untranslated(catalogue: Catalog) -> list[str]:
    """Return the cells with a text that is not translated, or not since its English has changed."""
    wanting = (one for one in catalogue if one.id and (one.fuzzy or not one.string))
    return list(dict.fromkeys(cell for one in wanting for cell, _ in one.locations))


def bring_up(path: Path, *, write: bool = True) -> list[str]:
    """Bring a catalogue up to its notebook; returns a line for each cell that has to be translated."""
    with path.open("rb") as file:
        catalogue = updated(read_po(file), english_of(path))
    wanting = [f"{path}: to translate: {cell}" for cell in untranslated(catalogue)]
    if write:
        path.write_text(catalogues.text(catalogue), encoding="utf-8")
    elif catalogues.text(catalogue) != path.read_text(encoding="utf-8"):
        wanting.append(f"{path} is not what the notebook says: run `make catalogues`.")
    return wanting


def main(arguments: list[str]) -> int:
    """Bring up every catalogue, or only look; returns the exit status."""
    paths = [*tracked(NOTEBOOKS, "**/*.po"), *tracked(DEMO, "**/*.po")]
    wanting = [line for path in paths for line in bring_up(path, write="--check" not in arguments)]
    print("\n".join(wanting), end="\n" if wanting else "")
    return 1 if wanting else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
