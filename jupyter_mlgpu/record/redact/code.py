"""Finds secrets in code, by the name or the call that they are given to.

Examples are `password: str = "..."` and `login("...")`. A statement that contains one is parsed. If it was
cut, as the first line of a cell may be, the missing quotes and brackets are added first. A statement that
does not parse, such as one with a magic, is searched with a pattern instead. `judging.py` decides if a value
is a secret. `assigned.py` reads every text afterwards, and finds secrets inside strings and in text that is
not code.
"""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Iterator
from typing import NamedTuple

from jupyter_mlgpu.record.redact import assigned, calls, letters
from jupyter_mlgpu.record.redact.parsed import GivenString, given_strings
from jupyter_mlgpu.record.redact.statements import LONGEST, Literal, Statement, statements

#: Most statements and characters of a text that are parsed. Patterns search the rest.
_MOST_PARSED, _MOST_CHARACTERS = 200, 50_000
#: Most names of a text that are examined, and values that are judged. No ordinary cell has more.
_MOST_NAMES = _MOST_JUDGED = 500
#: Characters of a value that are judged.
_JUDGED = 100
# Least characters of a constant part of a formatted string that is judged: a part says less than a whole one.
_LEAST_PIECE = 8

# In code whose strings are only quotes: a name, its annotation, the assignment, and the string.
_BRACKETS = r"\[[^=\n\[\]]{0,80}+(?:\[[^=\n\[\]]{0,80}+\][^=\n\[\]]{0,80}+){0,6}+\]"
_ANNOTATION = rf":[ \t]{{0,8}}(?:[^\n=:,()\[\]{{}}]{{1,80}}+|{_BRACKETS}){{1,8}}+"
_GIVEN = re.compile(
    rf"(?<![\w.])(?P<name>[\w.]{{2,80}}+)[ \t]{{0,8}}(?:{_ANNOTATION})?=(?!=)[\s(\\]{{0,200}}(?P<value>\")"
)
# What may follow a suspicious word in a name: the rest of the name, an assignment, a string.
_GIVES = re.compile(
    r"[\w.]{0,80}+(?:[\"']\]?)?[ \t]{0,8}(?:[:,]|[+]?=(?!=))"
    r"(?=[^\"'\r\n;}]{0,200}+\s{0,80}[rbfutRBFUT]{0,2}[\"'])"
)
# What may follow it in a text with a placeholder or before a value: "... %s", "... {}", "...:".
_PUTS = re.compile(r"[^\"'\r\n%{:=]{0,60}+(?:[%{]|[:=][ \t]{0,8}[\"'])")
_COMPUTED = re.compile(r"\{[^{}]{0,200}\}")


def find(text: str, lower: str) -> list[tuple[int, int]]:
    """Return the start and end of each string that is a secret because of its name or call.

    `lower` is the text in lower case, character for character.
    """
    if '"' not in text and "'" not in text:
        return []
    names = list(itertools.islice(_names(lower), _MOST_NAMES))
    moves = letters.may_move(text)
    secrets: list[tuple[int, int]] = []
    judged = 0
    budget = _Budget(_MOST_PARSED, _MOST_CHARACTERS)
    # The value of the last name may be several lines further.
    enough = len(text) if moves or not names else names[-1] + LONGEST
    for statement in statements(text, enough=enough) if names or moves else ():
        first = bisect.bisect(names, statement.start)
        if not moves and first == len(names):
            break
        # In most cases the value of the name is not a string.
        last = statement.literals[-1].start if statement.literals else -1
        if last < 0 or (not moves and names[first] > last):
            continue
        given, budget = _given(text, statement, budget)
        judged += len(given)
        if judged > _MOST_JUDGED:
            secrets += [(one.start, len(text)) for one in given]
            break
        secrets += [(one.start, one.end) for one in given if _is_secret(one, text, statement)]
    return secrets


def _names(lower: str) -> Iterator[int]:
    """Yield, in order, the end of each suspicious name or call that a string may be given to."""
    for found in calls.openings_or_sounds().finditer(lower):
        if lower.endswith("(", found.start(), found.end()):
            yield found.end()
            continue
        gives = _GIVES.match(lower, found.end()) or _PUTS.match(lower, found.end())
        if gives:
            yield gives.end()


class _Budget(NamedTuple):
    statements: int
    characters: int


def _given(text: str, statement: Statement, budget: _Budget) -> tuple[list[GivenString], _Budget]:
    """Return the strings that a statement gives to suspicious names and calls, and the remaining budget."""
    length = statement.end - statement.start
    given = None
    if length <= LONGEST and budget.statements > 0 and budget.characters >= length:
        budget = _Budget(budget.statements - 1, budget.characters - length)
        given = given_strings(statement.without_escapes(text), statement.closing)
    if given is None:
        sounds = assigned.suspicious_words_pattern().search
        given = [one for one in _matched(text, statement) if sounds(letters.normalized(one.name))]
    else:
        given = [
            one._replace(
                at=one.at + statement.start, start=one.start + statement.start, end=one.end + statement.start
            )
            for one in given
        ]
    return given, budget


def _matched(text: str, statement: Statement) -> Iterator[GivenString]:
    """Yield the strings that a statement assigns to names, found with a pattern."""
    places = {one.start: number for number, one in enumerate(statement.literals)}
    for found in _GIVEN.finditer(statement.without_strings(text)):
        number = places.get(statement.start + found.start("value"))
        if number is None:
            continue
        joined = [statement.literals[number]]
        for place in range(number + 1, len(statement.literals)):
            one = statement.literals[place]
            if text[joined[-1].end : one.start].strip(" \t\r\n\\"):
                break
            joined.append(one)
        pieces = tuple(piece for one in joined for piece in _pieces(text, one))
        is_formatted = any(one.is_formatted for one in joined)
        at = statement.start + found.start("name")
        yield GivenString(found["name"], at, joined[0].start, joined[-1].end, pieces, is_formatted)


def _pieces(text: str, literal: Literal) -> list[str]:
    body = text[literal.body : literal.body_end]
    return _COMPUTED.split(body) if literal.is_formatted else [body]


def _is_secret(given: GivenString, text: str, statement: Statement) -> bool:
    from jupyter_mlgpu.record.redact import judging  # as in `assigned.py`

    name = letters.normalized(given.name)
    before = text[max(given.at - 80, statement.start) : given.at]
    sound = assigned.secret_kind(name)
    pieces = [piece[:_JUDGED].strip() for piece in given.pieces]
    if given.is_formatted and sound != "password":
        pieces = [piece for piece in pieces if len(piece) >= _LEAST_PIECE]
    if not given.is_formatted:
        pieces = ["".join(pieces)[:_JUDGED]]
    gives = "(" if given.is_passed else "="
    values = (judging.AssignedValue(name, gives, sound, piece, True, before, "") for piece in pieces)
    return any(map(judging.is_secret, values))
