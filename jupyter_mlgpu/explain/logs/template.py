"""The pattern language of the catalogue, compiled to regular expressions.

    "Created device {device:word} with {memory:size} of memory{end}"

Literal text stands for itself, and blanks for any white space. A status such as `Not found: ` also stands for
`NOT_FOUND: `, as TensorFlow writes it since 2.8. A slot is `{name}` (anything on one line, as short as
possible), `{name:type}` with one of the TYPES below, or `{*}` (anything at all, with line breaks, not kept);
`{:type}` is not kept either. `{end}` means that the text must end here, `{{` and `}}` are braces. A pattern
is matched from the start of the text and may end anywhere except within a word. If it is an `opening`, the
text may also go on within its last word ("Search for 'cudaError" opens any error's name).

Matching takes time proportional to the text: what follows a free slot is searched for once, from left to
right, without backtracking (an atomic group).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

Value = str | int | float

#: The expression of each slot type. All are bounded, so that no text makes a search slow.
TYPES: Mapping[str, str] = {
    "int": r"[+-]?\d{1,40}(?:,\d{3})*",
    "number": r"[+-]?(?:\d{1,40}(?:,\d{3})*(?:\.\d{0,40})?|\.\d{1,40}|nan|inf)(?:[eE][+-]?\d{1,5})?",
    "size": r"\d{1,40}(?:,\d{3})*(?:\.\d{1,40})?\s?(?:[kKMGTPE]i?[Bb]?|[Bb]ytes?|B)(?![A-Za-z])",
    "word": r"\S{1,1000}?",
    "hex": r"0x[0-9a-fA-F]{1,64}",
    "line": r"[^\n]+",
}
_CONVERT: Mapping[str, Callable[[str], Value]] = {
    "int": lambda text: int(text.replace(",", "")),
    "number": lambda text: float(text.replace(",", "")),
}
_WORD = re.compile(r"[A-Za-z_]{3,}")
_BOUNDED_WORD = re.compile(r"(?<![A-Za-z_\0])[A-Za-z_]{3,}(?![A-Za-z_\0])")
_TOKEN = re.compile(r"\{\{|\}\}|\{(?P<slot>[^{}]*)\}|[{}]")
_QUOTES = str.maketrans(dict.fromkeys("‘’‛`´", "'") | dict.fromkeys("“”", '"'))  # noqa: RUF001
#: TensorFlow's words for a status until 2.8, and since.
_STATUSES = {
    words: words.upper().replace(" ", "_")
    for words in (
        "Aborted",
        "Already exists",
        "Cancelled",
        "Data loss",
        "Deadline exceeded",
        "Failed precondition",
        "Internal",
        "Invalid argument",
        "Not found",
        "Out of range",
        "Permission denied",
        "Resource exhausted",
        "Unauthenticated",
        "Unavailable",
        "Unimplemented",
        "Unknown",
    )
}
_STATUS = re.compile(rf"\b(?:{'|'.join((*_STATUSES, *_STATUSES.values()))})(?=: )")
_NAME = re.compile(r"[a-z][a-z0-9_]*")


def straighten(text: str) -> str:
    """Return the text with curly quotes and back quotes made straight, as in patterns."""
    # Most texts are ASCII, which takes a tenth of the time.
    return text.replace("`", "'") if text.isascii() else text.translate(_QUOTES)


def words_of(text: str) -> set[str]:
    """Return the words by which a text's patterns are found."""
    return set(_WORD.findall(text))


class _Slot(NamedTuple):
    name: str
    kind: str  # a key of TYPES, "text" for {name}, "any" for {*}

    @property
    def is_free(self) -> bool:
        return self.kind in ("text", "any")


_ANYTHING = _Slot("", "any")


@dataclass(frozen=True)
class Pattern:
    """One pattern, compiled when it is first matched. Raises ValueError for a wrong source."""

    source: str
    #: True if the text may go on within the pattern's last word.
    opening: bool = False
    #: The type of each named slot, in order.
    slots: Mapping[str, str] = field(init=False)
    #: The number of literal characters: of two patterns that match, the more literal one is used.
    literals: int = field(init=False)
    #: The number of slots that can match anything.
    free_slots: int = field(init=False)
    #: Words that every matching text contains, whole.
    words: frozenset[str] = field(init=False)
    _parts: tuple[str | _Slot, ...] = field(init=False, repr=False)
    _to_the_end: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        parts, to_the_end = _read(self.source)
        kept = [part for part in parts if isinstance(part, _Slot) and part.name]
        literal = [part for part in parts if isinstance(part, str)]
        slots = {slot.name: slot.kind for slot in kept}
        if len(slots) != len(kept):
            raise ValueError(f"a slot's name stands twice in {self.source!r}")
        # A zero byte marks a place where a slot could add letters to a word.
        marked = "".join(_STATUS.sub("\0", part) if isinstance(part, str) else "\0" for part in parts)
        for name, value in {
            "slots": slots,
            "literals": sum(len(part) - part.count(" ") for part in literal),
            "free_slots": sum(isinstance(part, _Slot) and part.is_free for part in parts),
            "words": frozenset(_BOUNDED_WORD.findall(marked)),
            "_parts": tuple(parts),
            "_to_the_end": to_the_end,
        }.items():
            object.__setattr__(self, name, value)

    def match(self, text: str) -> dict[str, Value] | None:
        """Return the named slots' values in a straightened text, or None if the pattern does not match."""
        found = self._expression.match(text)
        if found is None:
            return None
        return {
            name: _CONVERT.get(self.slots[name], str.strip)(value)
            for name, value in found.groupdict().items()
        }

    @cached_property
    def _expression(self) -> re.Pattern[str]:
        pieces: list[str] = []
        open_groups = ""
        last = len(self._parts) - 1
        for number, part in enumerate(self._parts):
            if isinstance(part, str):
                pieces.append(_literal(part))
                continue
            if part.is_free:
                pieces.append(open_groups + "(?>")
                open_groups = ")"
            pieces.append(_group(part, is_last=number == last and not self._to_the_end))
        if self._to_the_end:
            pieces.append(r"\s*\Z")
        elif not self.opening and isinstance(self._parts[-1], str) and self._parts[-1][-1:].isalpha():
            pieces.append("(?![A-Za-z_])")
        return re.compile("".join(pieces) + open_groups)


def _read(source: str) -> tuple[list[str | _Slot], bool]:
    """Return the parts of a pattern, and True if it ends with {end}."""
    parts: list[str | _Slot] = []
    literal = ""
    done = 0
    to_the_end = False
    text = straighten(source.strip())
    for token in _TOKEN.finditer(text):
        literal += text[done : token.start()]
        done = token.end()
        if token[0] in ("{{", "}}"):
            literal += token[0][0]
            continue
        slot = token["slot"]
        if slot is None:
            raise ValueError(f"a lone brace in {source!r}; write it twice")
        if slot == "end":
            if done != len(text):
                raise ValueError(f"text after {{end}} in {source!r}")
            to_the_end = True
            continue
        parts += [literal] if literal else []
        literal = ""
        parts.append(_slot(slot, source))
    literal += text[done:]
    parts += [literal] if literal else []
    if parts and parts[-1] == _ANYTHING and not to_the_end:  # nothing may follow, so drop blanks before it
        parts = [*parts[:-2], *(part.rstrip() for part in parts[-2:-1] if isinstance(part, str))]
    for before, after in pairwise(parts):
        if not isinstance(before, _Slot) or not isinstance(after, _Slot):
            continue
        if before.kind == "text" or (before.is_free and after.is_free):
            raise ValueError(f"nothing stands between two slots in {source!r}")
    return parts, to_the_end


def _slot(text: str, source: str) -> _Slot:
    if text == "*":
        return _ANYTHING
    name, colon, kind = text.partition(":")
    if name and not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name for a slot in {source!r}: lower case, digits and _ only")
    if colon and kind not in TYPES:
        raise ValueError(f"{kind!r} is no type of slot in {source!r}; there are {', '.join(TYPES)}")
    if not name and not colon:
        raise ValueError(f"an empty slot in {source!r}")
    return _Slot(name, kind or "text")


def _literal(text: str) -> str:
    pieces = []
    done = 0
    for status in _STATUS.finditer(text):
        old = status[0].replace("_", " ").capitalize()
        pieces += [_spaced(text[done : status.start()]), f"(?:{_spaced(old)}|{_STATUSES[old]})"]
        done = status.end()
    return "".join([*pieces, _spaced(text[done:])])


def _spaced(text: str) -> str:
    return r"\s+".join(re.escape(piece) for piece in re.split(r"\s+", text))


def _group(slot: _Slot, *, is_last: bool) -> str:
    if slot.kind == "any":
        return r"[\s\S]*?"
    if slot.kind == "text":
        expression = "[^\n]+" if is_last else "[^\n]+?"
    elif slot.kind == "word" and is_last:
        expression = r"\S+"
    elif slot.kind == "int" and is_last:
        expression = TYPES["int"] + r"(?!\.?\d)"  # not a part of a number
    else:
        expression = TYPES[slot.kind]
    return f"(?P<{slot.name}>{expression})" if slot.name else f"(?:{expression})"


_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([a-z][a-z0-9_]*)\}")


def fill(text: str, fields: Mapping[str, Value]) -> str:
    """Return a sentence of the catalogue with {name} replaced by the fields' values."""
    if "{" not in text:
        return text
    return _PLACEHOLDER.sub(lambda found: str(fields[found[1]]) if found[1] else found[0][0], text)


def placeholders(text: str) -> set[str]:
    """Return the names of the fields in a sentence."""
    return {found[1] for found in _PLACEHOLDER.finditer(text) if found[1]}
