"""Splits any text into Python statements and finds the strings in each, even if the code is cut or broken.

`tokenize` takes seven times as long, and fails at open brackets or strings. This scanner reads each character
a bounded number of times and never fails: an open string ends with its line or with the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

#: Most characters of a statement. Otherwise an open bracket would extend it to the end of the text.
LONGEST = 5_000

_SPECIAL = re.compile(r"\"\"\"|'''|[\"'#()\[\]{}\n\r]|\\(?:\r\n|[\r\n])")
_BODIES = {
    '"': re.compile(r'[^"\\\r\n]*+(?:\\(?:\r\n|.)[^"\\\r\n]*+)*+', re.DOTALL),
    "'": re.compile(r"[^'\\\r\n]*+(?:\\(?:\r\n|.)[^'\\\r\n]*+)*+", re.DOTALL),
    '"""': re.compile(r'(?:[^"\\]++|\\.|"(?!""))*+', re.DOTALL),
    "'''": re.compile(r"(?:[^'\\]++|\\.|'(?!''))*+", re.DOTALL),
}
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_LINE = re.compile(r"[^\r\n]*")
_ESCAPE = re.compile(r"\\([^\r\n])")


class Literal(NamedTuple):
    """A string from `start` to `end`, with its quotes, and from `body` to `body_end` without them."""

    start: int
    body: int
    body_end: int
    end: int
    quote: str
    is_formatted: bool


class Statement(NamedTuple):
    """A statement's place in the text, its strings, and the quotes and brackets that its end lacks."""

    start: int
    end: int
    literals: list[Literal]
    closing: str

    def without_escapes(self, text: str) -> str:
        """Return its code with `??` for each escape in its strings.

        Positions do not change, and the parser finds no escape to warn about.
        """
        parts, end = [], self.start
        for one in self.literals:
            parts += [text[end : one.body], _ESCAPE.sub(_marks, text[one.body : one.body_end])]
            end = one.body_end
        return "".join([*parts, text[end : self.end]])

    def without_strings(self, text: str) -> str:
        """Return its code with each string replaced by quotes. Positions do not change."""
        parts, end = [], self.start
        for one in self.literals:
            parts += [text[end : one.start], '"' * (one.end - one.start)]
            end = one.end
        return "".join([*parts, text[end : self.end]])


def _marks(match: re.Match[str]) -> str:
    # The brace of an f-string begins a computed part, even after a backslash.
    return "?" + match[1] if match[1] in "{}" else "??"


def statements(
    text: str, at: int = 0, limit: int | None = None, *, enough: int | None = None, in_comment: bool = False
) -> Iterator[Statement]:
    """Yield each statement of the text between two places, and each comment as if it were one.

    Statements on one line with semicolons count as one. A comment is yielded after the statement that
    contains it. Statements that begin after `enough` are ignored.
    """
    limit = len(text) if limit is None else limit
    start = at
    literals: list[Literal] = []
    opened: list[str] = []
    comments: list[Statement] = []
    enough = limit if enough is None else enough
    while (found := _SPECIAL.search(text, at, limit)) is not None:
        if found.start() > enough:
            limit = found.start()
            break
        at, mark = found.end(), found[0]
        if mark in _BODIES:
            literal = _literal(text, found, start, limit)
            if literal is not None:
                literals.append(literal)
                at = literal.end
        elif mark == "#" and not in_comment:
            begun, at = at, _end(_LINE, text, at, limit)
            comments += statements(text, begun, at, enough=enough, in_comment=True)
        elif mark in _CLOSING:
            opened.append(mark)
        elif mark in ")]}":
            del opened[-1:]
        elif mark == "#" or (mark in "\r\n" and (not opened or at - start > LONGEST)):
            yield Statement(start, found.start(), literals, _closing(literals, opened, found.start()))
            yield from comments
            start, literals, opened, comments = at, [], [], []
    yield Statement(start, limit, literals, _closing(literals, opened, limit))
    yield from comments


def _closing(literals: list[Literal], opened: list[str], end: int) -> str:
    last = literals[-1] if literals else None
    quote = last.quote if last and last.end == last.body_end == end else ""
    brackets = "".join(_CLOSING[mark] for mark in reversed(opened[-LONGEST:]))
    return quote + (f"\n{brackets}" if brackets else "")


def _literal(text: str, opening: re.Match[str], least: int, limit: int) -> Literal | None:
    """Return the string that this quote begins, or None if it is the apostrophe of a word."""
    quote, start, body = opening[0], opening.start(), opening.end()
    while start > max(least, opening.start() - 2) and text[start - 1] in "rbfutRBFUT":
        start -= 1
    if start > least and (text[start - 1].isalnum() or text[start - 1] == "_"):
        if quote == "'":
            return None
        start = opening.start()
    body_end = _end(_BODIES[quote], text, body, limit)
    end = body_end + len(quote) if text.startswith(quote, body_end, limit) else body_end
    begins = text[start : opening.start()].lower()
    return Literal(start, body, body_end, end, quote, "f" in begins or "t" in begins)


def _end(pattern: re.Pattern[str], text: str, at: int, limit: int) -> int:
    """Return the end of a pattern's match at this place."""
    found = pattern.match(text, at, limit)
    return found.end() if found else at
