"""What the kernel says, in other languages than English: a table of templates for each, one file an area.

Each entry is an English template, as the sources have it, and what it reads in the other language:

    "Replayed from {source}: nothing of it ran here." = "..."

`{name}` stands for anything, and is shown in the other language too where it is a sentence or a piece that
is known; `{name:word}` stands for what has no blank, `{name:known}` for what is known itself, where a
template would otherwise fit too much. A field may be left out of the translation. The browser fills them
(labextension/src/sentences.ts). Why records stay English: docs/adr/0019.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

FOLDER = Path(__file__).parent


def load(language: str) -> dict[str, str]:
    """From English templates to those of a language; empty for a language that there is not."""
    found: dict[str, str] = {}
    for path in sorted((FOLDER / language).glob("*.toml")):
        found.update(tomllib.loads(path.read_text(encoding="utf-8")))
    return found
