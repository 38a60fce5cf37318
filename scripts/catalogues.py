"""Brings the catalogues of jupyter_mlgpu/record/locale up to what the sources say; `make catalogues` runs it.

    python scripts/catalogues.py [--check]

English templates stand in the sources: the kernel's as `say("...")` and `say_count("...", "...", n)`, the
page's in labextension/src/language/texts.json and in the schema of its settings, those of the teacher's view
in its texts.toml. Every `.po` file gets the new ones, untranslated, and loses those that nobody says any
more. With --check nothing is written: what differs or lacks a translation is printed, and the exit status
is 1. A new module is read once it was added to git.
"""

from __future__ import annotations

import ast
import io
import json
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po
from tracked import tracked

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "jupyter_mlgpu"
TEXTS = ROOT / "labextension" / "src" / "language" / "texts.json"
#: The settings of the page, whose titles and descriptions it translates; languages name themselves.
SETTINGS = ROOT / "labextension" / "schema" / "sidebar.json"
NAMES = {"English", "简体中文"}
#: The texts of the teacher's view.
TEACHERS = PACKAGE / "teach" / "teacher" / "texts.toml"
#: The functions of sentence.py, and how many templates they take.
FUNCTIONS = {"say": 1, "say_count": 2}


@dataclass(frozen=True)
class Said:
    """A template of the sources: its plural's, the key of a text of the page, and the file it stands in."""

    template: str
    plural: str | None
    key: str | None
    file: str


def sources() -> Iterator[Said]:
    """All templates, the page's in their order first, then the package's by file; raises ValueError."""
    for key, text in json.loads(TEXTS.read_text(encoding="utf-8")).items():
        one, other = (text, None) if isinstance(text, str) else (text["one"], text["other"])
        yield Said(one, other, key, TEXTS.relative_to(ROOT).as_posix())
    for text in _settings(json.loads(SETTINGS.read_text(encoding="utf-8"))):
        yield Said(text, None, None, SETTINGS.relative_to(ROOT).as_posix())
    for text in tomllib.loads(TEACHERS.read_text(encoding="utf-8")).values():
        yield Said(text, None, None, TEACHERS.relative_to(ROOT).as_posix())
    for path in tracked(PACKAGE, "**/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            said = templates(node)
            if said:
                yield Said(*said, None, path.relative_to(ROOT).as_posix())


def _settings(part: Mapping[str, Any]) -> Iterator[str]:
    yield from (part[name] for name in ("title", "description") if part.get(name, "English") not in NAMES)
    for below in [*part.get("properties", {}).values(), *part.get("oneOf", [])]:
        yield from _settings(below)


def templates(node: ast.AST) -> tuple[str, str | None] | None:
    """Those of a call of `say` or `say_count`; raises ValueError where they do not stand in the call."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS):
        return None
    found = [
        one.value if isinstance(one, ast.Constant) else None for one in node.args[: FUNCTIONS[node.func.id]]
    ]
    if not all(isinstance(one, str) for one in found):
        raise ValueError(f"line {node.lineno}: a template must stand in the call: {ast.unparse(node):.80}")
    return str(found[0]), str(found[1]) if len(found) > 1 else None


def catalogues() -> list[Path]:
    """The catalogue of each language."""
    return tracked(PACKAGE / "record" / "locale", "*/LC_MESSAGES/*.po")


def read(path: Path) -> Catalog:
    """A catalogue as it is."""
    with path.open("rb") as file:
        return read_po(file, locale=path.parts[-3])


def updated(before: Catalog) -> Catalog:
    """Return the catalogue with what the sources say, and with the translations that it had."""
    said = Catalog(locale=before.locale, project="jupyter_mlgpu", creation_date=before.creation_date)
    for one in sources():
        # A text of the page that reads otherwise there than elsewhere has its key for a context.
        context = one.key if one.key and before.get(one.template, one.key) else None
        message = (one.template, one.plural) if one.plural else one.template
        said.add(message, locations=[(one.file, 1)], context=context)
    before.project, before.fuzzy = "jupyter_mlgpu", False
    before.update(said, no_fuzzy_matching=True, update_header_comment=False)
    return before


def text(catalogue: Catalog) -> str:
    """The text of its file."""
    file = io.BytesIO()
    write_po(file, catalogue, width=0, include_lineno=False, ignore_obsolete=True)
    return file.getvalue().decode()


def untranslated(catalogue: Catalog) -> list[str]:
    """Templates without a translation."""
    return [str(one.id) for one in catalogue if one.id and not (one.string and all(one.string))]


def main(arguments: list[str]) -> int:
    """Write the catalogues anew, or only compare them; returns the exit status."""
    wrong = 0
    for path in catalogues():
        new = updated(read(path))
        lacking = untranslated(new)
        for template in lacking:
            print(f"{path.parts[-3]} lacks: {template}")
        if "--check" not in arguments:
            path.write_text(text(new), encoding="utf-8")
        elif text(new) != path.read_text(encoding="utf-8"):
            print(f"{path.relative_to(ROOT)} is not what the sources say: run `make catalogues`.")
            wrong = 1
        wrong = wrong or bool(lacking)
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
