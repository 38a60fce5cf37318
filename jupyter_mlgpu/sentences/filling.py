"""The templates filled here, for what a terminal or a cell shows; in the browser sentences.ts fills them.

A text is matched whole, then sentence by sentence; what no template fits stays English. Literal pieces are
looked for once, from left to right, and of the templates that fit the one with the most literal characters is
meant.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache

from jupyter_mlgpu import sentences

_FIELD = re.compile(r"\{(\w+)(?::(word|known|figure))?\}")
_BETWEEN = re.compile(r"(?<=[.;:!?]) ")
_FIGURE = re.compile(r"[-+\u2212]?\d[\d.,e]*( [^\s\d]{1,4})?")
#: Longer texts stay as they are, and so do fields within fields that are deeper than this.
LONGEST = 1_200
DEEPEST = 4


def say(text: str, language: str) -> str:
    """The text in a language, as far as it is known in it."""
    templates = _templates(language)
    if not templates or len(text) > LONGEST:
        return text
    return _whole(text, templates, 0) or _in_parts(text, templates, 0)


@dataclass(frozen=True, slots=True)
class _Template:
    """`literals` stand for themselves, between each two of them a field: its name and its kind."""

    literals: tuple[str, ...]
    fields: tuple[tuple[str, str], ...]
    said: str

    def match(self, text: str) -> tuple[str, ...] | None:
        """What stands in the fields; None where the text is another one."""
        first, last = self.literals[0], self.literals[-1]
        if len(self.literals) == 1:
            return () if text == first else None
        end = len(text) - len(last)
        if end < len(first) or not (text.startswith(first) and text.endswith(last)):
            return None
        values, at = [], len(first)
        for literal in self.literals[1:-1]:
            found = text.find(literal, at, end)
            if found < 0:
                return None
            values.append(text[at:found])
            at = found + len(literal)
        return (*values, text[at:end])


@cache
def _templates(language: str) -> tuple[_Template, ...]:
    made = [_template(english, said) for english, said in sentences.load(language).items()]
    return tuple(sorted(made, key=lambda one: -sum(map(len, one.literals))))


def _template(english: str, said: str) -> _Template:
    parts = _FIELD.split(english)
    names = tuple((name, kind or "") for name, kind in zip(parts[1::3], parts[2::3], strict=True))
    return _Template(tuple(parts[::3]), names, said)


def _whole(text: str, templates: tuple[_Template, ...], depth: int) -> str | None:
    if depth > DEEPEST or not text:
        return None
    for one in templates:
        values = one.match(text)
        filled = None if values is None else _filled(one, values, templates, depth)
        if filled is not None:
            return filled
    return None


def _filled(
    one: _Template, values: tuple[str, ...], templates: tuple[_Template, ...], depth: int
) -> str | None:
    told: dict[str, str] = {}
    for (name, kind), value in zip(one.fields, values, strict=True):
        known = None if kind in ("word", "figure") else _whole(value, templates, depth + 1)
        wrong = {
            "word": " " in value,
            "figure": not _FIGURE.fullmatch(value),
            "known": known is None,
            # A field is a piece of one sentence, unless what stands in it is known.
            "": known is None and re.search(r"[.!?] ", value) is not None,
        }
        if wrong[kind]:
            return None
        told[name] = value if known is None else known
    return _FIELD.sub(lambda field: told.get(field[1], ""), one.said)


def _in_parts(text: str, templates: tuple[_Template, ...], depth: int) -> str:
    parts = _BETWEEN.split(text)
    said = ""
    while parts:
        # As many sentences at once as a template knows.
        for count in range(len(parts), 0, -1):
            found = _whole(" ".join(parts[:count]), templates, depth)
            if found is not None or count == 1:
                break
        piece = " ".join(parts[:count]) if found is None else found
        # After Chinese punctuation stands no blank.
        wide = not said or unicodedata.east_asian_width(said[-1]) in ("W", "F")
        said += piece if wide else f" {piece}"
        parts = parts[count:]
    return said
