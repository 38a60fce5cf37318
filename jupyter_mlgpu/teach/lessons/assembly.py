"""A lesson or a lab in another language, assembled from the English notebook and a catalogue of its texts.

The catalogue is a gettext `.po` file. Each entry names its cells (`#: at-once`) and holds the whole text of
one, or of a code cell a text between double quotes. What is not translated, or marked `fuzzy` because the
English has changed, stays English.

Nothing is run. Receipts are drawn again from their records; what `check` and `predict` answered is looked up
in the package's catalogue, sentence by sentence; other outputs are those of the English notebook.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import fill_in
from jupyter_mlgpu.record.translation import catalogue_path
from jupyter_mlgpu.show.markup import joined
from jupyter_mlgpu.show.receipts import html
from jupyter_mlgpu.show.receipts import text as plain
from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE

_FIELD = re.compile(r"\\\{([a-z_]+)\\\}")
#: The sentences of the package's catalogue that `check` and `predict` answer with.
_LESSONS = "jupyter_mlgpu/teach/lessons/"


def assembled(english: bytes, catalogue: Path, language: str) -> bytes:
    """Return the notebook `english` in a language, as the bytes of its file."""
    notebook = json.loads(english)
    translations = _translations(catalogue)
    for cell in notebook["cells"]:
        texts = translations.get(cell["id"], {})
        cell["source"] = _translated("".join(cell["source"]), texts).splitlines(keepends=True)
        for output in cell.get("outputs", ()):
            _translate(output, language)
    notebook["metadata"]["jupyter_mlgpu"] = {"language": language}
    return f"{json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True)}\n".encode()


def _translations(catalogue: Path) -> dict[str, dict[str, str]]:
    """Return the translation of each English text, by the id of the cell that it stands in."""
    import polib  # reading takes a moment, and English does not need it

    found: dict[str, dict[str, str]] = {}
    for entry in polib.pofile(str(catalogue), encoding="utf-8"):
        for cell, _ in entry.occurrences if entry.translated() else ():
            found.setdefault(cell, {})[entry.msgid] = entry.msgstr
    return found


def _translated(source: str, texts: dict[str, str]) -> str:
    if source in texts:
        return texts[source]
    for english, other in texts.items():
        source = source.replace(f'"{english}"', f'"{other}"')
    return source


def _translate(output: dict[str, Any], language: str) -> None:
    """Put an output of ours into a language; leave any other as it is."""
    data: dict[str, Any] = output.get("data", output)
    if MIME_TYPE in data:
        record, cut = Record.from_json(data[MIME_TYPE]), data[MIME_TYPE].get("cut")
        drawings = (("text/plain", plain.receipt), ("text/html", html.receipt))
        data |= {kind: _lines(draw(record, cut, language)) for kind, draw in drawings if kind in data}
        return
    # Our answers begin with a verdict or a question, which the catalogue knows as they stand; a cell may have
    # printed something before.
    known, _ = _answers(language)
    lines = "".join(data.get("text", data.get("text/plain", ()))).split("\n")
    before = next((at for at, line in enumerate(lines) if " " in line and line in known), None)
    if before is None:
        return
    ours = {line: _said(line, language) for line in lines[before:]}
    for kind in data.keys() & {"text", "text/plain"}:
        data[kind] = _lines("\n".join([*lines[:before], *(ours[line] for line in lines[before:])]))
    if "text/html" in data:
        text = "".join(data["text/html"])
        for english, other in {**known, **ours}.items():
            text = text.replace(f">{joined(english)}<", f">{joined(other)}<")
        data["text/html"] = _lines(text)


@cache
def _said(text: str, language: str) -> str:
    """Return a line of an answer in a language, or as it is where no template of ours matches it.

    Of several templates that match, the one counts that leaves the fewest characters untranslated.
    """
    known, templates = _answers(language)
    if text in known:
        return known[text]
    made = []
    for pattern, template, is_sentence in templates:
        if found := pattern.fullmatch(text):
            given = found.groupdict()
            # A word alone is the name of something.
            fields = {name: _said(one, language) if " " in one else one for name, one in given.items()}
            if is_sentence or fields != given:
                stays = sum(len(one) for name, one in given.items() if fields[name] == one)
                made.append((stays, fill_in(template, fields, str)))
    return min(made)[1] if made else text


@cache
def _answers(language: str) -> tuple[dict[str, str], list[tuple[re.Pattern[str], str, bool]]]:
    """Return the translations of the lessons' sentences: by the English, or with a pattern if it has fields.

    The flag of a pattern says whether the words around its fields are enough to recognise the sentence.
    """
    import polib

    known, templates = {}, []
    for entry in polib.pofile(str(catalogue_path(language)), encoding="utf-8"):
        if any(file.startswith(_LESSONS) for file, _ in entry.occurrences):
            pattern, fields = _FIELD.subn(r"(?P<\1>.+?)", re.escape(entry.msgid))
            if fields:
                words = re.sub(r"\{[a-z_]+\}", "", entry.msgid)
                is_sentence = re.search(r"[a-z]{3}.*[.:]$", words) is not None
                templates.append((re.compile(pattern, re.DOTALL), entry.msgstr, is_sentence))
            else:
                known[entry.msgid] = entry.msgstr
    return known, templates


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)
