"""Translates the package's sentences with the gettext catalogues in `locale/`.

A catalogue maps English templates to those of its language. Sentences carry template and fields
(`sentence.py`), so nothing is parsed. Plain texts are looked up as they are. What a catalogue does not
contain stays English. To add a language, add a `.po` file (CONTRIBUTING.md).
"""

from __future__ import annotations

import gettext
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from jupyter_mlgpu.record.sentence import Sentence, fill_in

LOCALE = Path(__file__).parent / "locale"

#: Maps each English template to its translations, one per plural form of the language.
Messages = Mapping[str, tuple[str, ...]]


def catalogue_path(language: str) -> Path | None:
    """Return the catalogue for a language code (`zh`, `zh_CN`, `zh-Hans`), or None if there is none."""
    wanted = language.replace("-", "_").casefold()
    there = {folder.name.casefold(): folder for folder in LOCALE.iterdir() if folder.is_dir()}
    close = (folder for name, folder in sorted(there.items()) if name[:2] == wanted.split("_")[0])
    found = there.get(wanted) or next(close, None)
    return found / "LC_MESSAGES" / "jupyter_mlgpu.po" if found else None


@cache
def messages(language: str) -> Messages:
    """Return all translations of a catalogue. A context precedes its template, as in gettext's own files.

    Empty for English, and for a language without a catalogue.
    """
    return _read(language)[0]


@cache
def _read(language: str) -> tuple[Messages, str]:
    path = catalogue_path(language)
    if path is None:
        return {}, ""
    import polib  # here because loading it takes time, and English does not need it

    catalogue = polib.pofile(str(path), encoding="utf-8")
    found: dict[str, tuple[str, ...]] = {}
    for message in catalogue:
        plural = message.msgstr_plural
        forms = tuple(plural[number] for number in sorted(plural)) or (message.msgstr,)
        if all(forms) and not message.obsolete:
            found[f"{message.msgctxt}\x04{message.msgid}" if message.msgctxt else message.msgid] = forms
    rule = catalogue.metadata.get("Plural-Forms", "")
    return found, rule.partition("plural=")[2].rstrip("; ") or "0"


def translated(sentence: str, language: str) -> str:
    """Return a sentence and its fields in a language, or in English if there is no translation."""
    known, plural = _read(language)
    return _say(sentence, known, plural) if known else str(sentence)


def in_language(shown: Any, language: str) -> Any:
    """Return data to show with each sentence in it translated.

    Sentences are found in dataclasses, tuples and mappings. Other texts are data and stay unchanged.
    """
    if isinstance(shown, Sentence):
        return translated(shown, language)
    if isinstance(shown, tuple):
        return tuple(in_language(one, language) for one in shown)
    if isinstance(shown, Mapping):
        return {name: in_language(one, language) for name, one in shown.items()}
    if is_dataclass(shown) and not isinstance(shown, type):
        found = {one.name: in_language(getattr(shown, one.name), language) for one in fields(shown)}
        return replace(shown, **found)
    return shown


def languages() -> list[str]:
    """Return English and the code of each language that has a catalogue, such as `zh_CN`."""
    return ["en", *sorted(folder.name for folder in LOCALE.iterdir() if folder.is_dir())]


def _say(sentence: str, known: Messages, plural: str) -> str:
    if not isinstance(sentence, Sentence):
        return known.get(sentence, (sentence,))[0]
    forms = known.get(sentence.template)
    count = sentence.fields.get("count")
    if forms is None:
        one = sentence.plural is None or count == 1
        template = sentence.template if one else str(sentence.plural)
    else:
        template = forms[gettext.c2py(plural)(count) if len(forms) > 1 and isinstance(count, int) else 0]
    return fill_in(template, sentence.fields, lambda field: _field(field, known, plural))


def _field(field: str, known: Messages, plural: str) -> str:
    """Return a field translated if it is a sentence. Other texts are data and stay unchanged."""
    return _say(field, known, plural) if isinstance(field, Sentence) else field
