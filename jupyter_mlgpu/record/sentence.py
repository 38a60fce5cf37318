"""English sentences that keep their template and fields, so that a catalogue can translate them.

    say("{device} was idle {share} of this cell.", device="gpu:0", share="12 %")

is the text `gpu:0 was idle 12 % of this cell.`, and can be used wherever a string can. It also holds its
template, which translators translate, and its fields. `{name}` is the only syntax: other braces in a template
stay as they are. In JSON a sentence without fields is a string, and one with fields a table of `text`,
`template` and `fields`: readers without the package's catalogues show `text`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from typing import Any, TypeVar, Union

from jupyter_mlgpu.record.visible import visible_line

T = TypeVar("T")
Field = Union["Sentence", str, int]
#: Values that a field is made from. An error becomes its message, a path one line.
Given = Field | BaseException | PurePath

_FIELD = re.compile(r"\{([a-z_]+)\}")
#: Limits of a sentence read from a file: characters of its text and of its templates, number of fields, and
#: depth of nesting.
MOST_LETTERS = 8_000
MOST_FIELDS = 24
DEEPEST = 6


class Sentence(str):
    """A text with its `template` and its `fields`. `plural` is the template for counts other than 1."""

    __slots__ = ("fields", "plural", "template")

    template: str
    fields: Mapping[str, Field]
    plural: str | None

    def __new__(
        cls, template: str, fields: Mapping[str, Given] | None = None, plural: str | None = None
    ) -> Sentence:
        kept = {name: _as_field(value) for name, value in fields.items()} if fields else {}
        chosen = plural if plural is not None and kept.get("count") != 1 else template
        made = super().__new__(cls, fill_in(chosen, kept, str) if kept else chosen)
        made.template, made.fields, made.plural = template, kept, plural
        return made

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.template, self.fields, self.plural

    def map(self, change: Callable[[str], str]) -> Sentence:
        """Return the sentence with `change`, such as redaction, applied to the texts in its fields."""
        return Sentence(
            self.template,
            {
                name: value.map(change)
                if isinstance(value, Sentence)
                else change(value)
                if isinstance(value, str)
                else value
                for name, value in self.fields.items()
            },
            self.plural,
        )

    def to_json(self, texts: bool = True) -> str | dict[str, Any]:
        """Return a string, or a table with template and fields if the sentence has fields.

        If `texts` is true, the table also has the text, which `from_json` does not need.
        """
        return self._table(texts) if self.fields else str(self)

    def _table(self, texts: bool) -> dict[str, Any]:
        table: dict[str, Any] = {"text": str(self)} if texts else {}
        table["template"] = self.template
        if self.fields:
            # A sentence in a field is a table even without fields: a string there is untranslated data.
            table["fields"] = {
                name: one._table(texts) if isinstance(one, Sentence) else one
                for name, one in self.fields.items()
            }
        if self.plural is not None:
            table["plural"] = self.plural
        return table


def say(template: str, /, **fields: Given) -> Sentence:
    """Return a sentence. Whole numbers get commas between thousands. Pass other figures as texts."""
    return Sentence(template, fields)


def say_count(one: str, many: str, count: int, /, **fields: Given) -> Sentence:
    """Return a sentence in the singular or the plural. Both templates may contain `{count}`."""
    return Sentence(one, {"count": count, **fields}, many)


def joined(*sentences: str) -> Sentence:
    """Return sentences one after another, each different one once."""
    different = [one if isinstance(one, Sentence) else Sentence(one) for one in dict.fromkeys(sentences)]
    if len(different) < 2:
        return different[0] if different else Sentence("")
    first, second = _halves(different)
    return say("{first} {second}", first=joined(*first), second=joined(*second))


def listed(things: Sequence[Given]) -> Sentence:
    """Return `a`, `a and b`, or `a, b and c`."""
    *most, last = things
    return say("{one} and {other}", one=with_commas(most), other=last) if most else say("{name}", name=last)


def with_commas(things: Sequence[Given]) -> Sentence:
    """Return `a`, `a, b`, or `a, b, c`."""
    one, other = _halves(things)
    if not one:
        return say("{name}", name=things[0])
    return say("{one}, {other}", one=with_commas(one), other=with_commas(other))


def below(*sentences: str) -> Sentence:
    """Return sentences below one another, one per line."""
    if len(sentences) < 2:
        return joined(*sentences)
    first, second = _halves(sentences)
    return say("{first}\n{second}", first=below(*first), second=below(*second))


def folded(combine: Callable[[str, str], Sentence], parts: Sequence[str]) -> str:
    """Return what `functools.reduce` returns for an associative `combine`, nested less deeply.

    Of a file of any source, the number of parts is not known. A thousand of them are nested ten deep.
    """
    if len(parts) == 1:
        return parts[0]
    middle = (len(parts) + 1) // 2
    return combine(folded(combine, parts[:middle]), folded(combine, parts[middle:]))


def _halves(things: Sequence[T]) -> tuple[Sequence[T], Sequence[T]]:
    """Return the halves of a list.

    Eight joined parts are then nested three deep; from_json reads six levels.
    """
    middle = len(things) // 2
    return things[:middle], things[middle:]


def of_error(error: BaseException) -> str:
    """Return an error's message, if possible as the sentence that it was raised with.

    `str(error)` would turn a sentence into plain text.
    """
    argument = error.args[0] if len(error.args) == 1 else None
    return argument if isinstance(argument, Sentence) else str(error)


def _as_field(value: Given) -> Field:
    if isinstance(value, str | int):
        return value
    return of_error(value) if isinstance(value, BaseException) else visible_line(value)


def fill_in(template: str, fields: Mapping[str, Field], shown: Callable[[str], str]) -> str:
    """Return a template with its fields filled in, after `shown` was applied to each text."""

    def field(found: re.Match[str]) -> str:
        value = fields.get(found[1])
        if value is None:
            return found[0]
        return f"{value:,}" if isinstance(value, int) else shown(value)

    return _FIELD.sub(field, template)


def from_json(data: object, depth: int = 0) -> Sentence:
    """Return the sentence in data from `to_json`, from any source.

    Raises ValueError, whose text is half a sentence. The text is made again from template and fields. The
    `text` in the data is for people.
    """
    if isinstance(data, str):
        # Taken as it stands: braces in it are not fields, and nothing is filled in.
        return Sentence(data)
    if not isinstance(data, dict) or not isinstance(data.get("template"), str):
        raise ValueError("a sentence is a text, or a table with a template")
    template, plural, fields = data["template"], data.get("plural"), data.get("fields", {})
    if not isinstance(fields, dict) or not (plural is None or isinstance(plural, str)):
        raise ValueError("the fields of a sentence are a table, its plural is a text")
    if len(fields) > MOST_FIELDS or depth == DEEPEST or len(template) + len(plural or "") > MOST_LETTERS:
        raise ValueError("a sentence of this size is none of ours")
    values = {name: _field(value, depth) for name, value in fields.items() if isinstance(name, str)}
    letters = sum(len(str(values.get(name, ""))) for name in _FIELD.findall(f"{template}{plural or ''}"))
    if letters > MOST_LETTERS:
        raise ValueError("a sentence of this size is none of ours")
    return Sentence(template, values, plural)


def only_texts(data: Any) -> Any:
    """Return JSON-ready data with its sentences as texts, for readers without a catalogue."""
    if isinstance(data, dict):
        if _is_table(data):
            return data["text"]
        return {name: only_texts(value) for name, value in data.items()}
    return [only_texts(value) for value in data] if isinstance(data, list) else data


def _is_table(data: dict[str, Any]) -> bool:
    """Return True if a table is a sentence with its text. Facts from other programs may be any table."""
    return isinstance(data.get("template"), str) and isinstance(data.get("text"), str)


def _field(value: object, depth: int) -> Field:
    if isinstance(value, bool) or not isinstance(value, str | int | dict):
        raise ValueError(
            f"a field of a sentence is a text, a whole number or a sentence, found {value!r:.60}"
        )
    return from_json(value, depth + 1) if isinstance(value, dict) else value
