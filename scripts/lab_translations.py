"""The labs in Chinese: text cells of their own, and the code, tests and answers of the English labs.

What their tests say to a student is translated by lab_messages_zh.json, and nothing else of the code.

    python scripts/lab_translations.py [--translated]

Brings the code of notebooks/labs/zh up to that of notebooks/labs/source, and lists the text cells whose
English has changed; the exit status is then 1. With `--translated` it notes that they say the same again.
"""

from __future__ import annotations

import copy
import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import lesson_translations
import nbformat
from nbformat import NotebookNode

from jupyter_mlgpu.teach import packaged

LABS = Path(__file__).parents[1] / "notebooks" / "labs"
MESSAGES = Path(__file__).with_name("lab_messages_zh.json")

#: What the first cell of a Chinese lab does besides: its folder does not bear the language's name.
SPEAK = '\n\nfrom jupyter_mlgpu.lessons import speak\n\nspeak("zh")'


#: A message of a test, as it stands in its quotes.
_MESSAGE = re.compile(r'"((?:Expected |The peak memory was)[^"\n]*)"')


def messages() -> Mapping[str, str]:
    """What the tests say, by its English."""
    told: dict[str, str] = json.loads(MESSAGES.read_text(encoding="utf-8"))
    return told


def build(english: NotebookNode, chinese: NotebookNode) -> NotebookNode:
    """The lab with the prose of `chinese`, and all else of `english`."""
    built = lesson_translations.build(english, chinese)
    known = messages()
    told = {cell.id: cell.metadata.get("nbgrader") for cell in english.cells}
    for cell in built.cells:
        if cell.cell_type == "markdown" and told[cell.id] is not None:
            cell.metadata.nbgrader = copy.deepcopy(told[cell.id])
        if cell.id == "load":
            cell.source += SPEAK
        if cell.cell_type == "code":
            cell.source = _MESSAGE.sub(lambda said: f'"{known.get(said[1], said[1])}"', cell.source)
    return built


def read(folder: str, lab: str) -> NotebookNode:
    """A lab as it stands in `source`, or in `zh`."""
    path = LABS / folder / lab / f"{lab}.ipynb"
    notebook: NotebookNode = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    return notebook


def main(arguments: Sequence[str]) -> int:
    """Write the Chinese labs; returns the exit status, 1 where something is to be translated."""
    left = 0
    for lab in packaged.LABS:
        english, chinese = read("source", lab), read("zh", lab)
        if "--translated" in arguments:
            lesson_translations.note_translated(english, chinese)
        names = lesson_translations.outdated(english, chinese)
        left += len(names)
        if names:
            print(f"{lab}: to translate again: {', '.join(names)}")
        nbformat.write(build(english, chinese), LABS / "zh" / lab / f"{lab}.ipynb")  # type: ignore[no-untyped-call]
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
