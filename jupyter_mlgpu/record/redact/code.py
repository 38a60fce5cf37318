"""Finds secrets that code gives to a telling name or call: `password: str = "..."`, `login("...")`.

A statement that contains one is parsed. If it was cut, as the first line of a cell may be, the missing quotes
and brackets are added first. A statement that does not parse, such as one with a magic, is searched with a
pattern instead. `judging.py` decides whether a value is a secret. `assigned.py` reads every
text afterwards, and finds what stands inside a string or in text that is not code.
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

#: The most statements and characters of a text that are parsed; patterns search the rest.
_MOST_PARSED, _MOST_CHARACTERS = 200, 50_000
#: The most names of a text that are examined, and values that are judged; no ordinary cell has more.
_MOST_NAMES = _MOST_JUDGED = 500
#: A value is judged by its beginning.
_JUDGED = 100
# A string is computed in part: a piece of it says less than a whole one.
_LEAST_PIECE = 8

# With strings as quotes alone: a name, what it is annotated with, what gives the value, and the string.
_BRACKETS = r"\[[^=\n\[\]]{0,80}+(?:\[[^=\n\[\]]{0,80}+\][^=\n\[\]]{0,80}+){0,6}+\]"
_ANNOTATION = rf":[ \t]{{0,8}}(?:[^\n=:,()\[\]{{}}]{{1,80}}+|{_BRACKETS}){{1,8}}+"
_GIVEN = re.compile(
    rf"(?<![\w.])(?P<name>[\w.]{{2,80}}+)[ \t]{{0,8}}(?:{_ANNOTATION})?=(?!=)[\s(\\]{{0,200}}(?P<value>\")"
)
# What may follow the word by which a name sounds of a secret: the rest of it, what gives a value, a string.
_GIVES = re.compile(
    r"[\w.]{0,80}+(?:[\"']\]?)?[ \t]{0,8}(?:[:,]|[+]?=(?!=))"
    r"(?=[^\"'\r\n;}]{0,200}+\s{0,80}[rbfutRBFUT]{0,2}[\"'])"
)
# Or, in a text, where something is put into it or follows it: "... %s", "... {}", "...:".
_PUTS = re.compile(r"[^\"'\r\n%{:=]{0,60}+(?:[%{]|[:=][ \t]{0,8}[\"'])")
_COMPUTED = re.compile(r"\{[^{}]{0,200}\}")


def find(text: str, lower: str) -> list[tuple[int, int]]:
    """Return the start and end of each string that is a secret by the name or the call it is given to.

    `lower` is the text in lower case, character for character.
    """
    if '"' not in text and "'" not in text:
        return []
    names = list(itertools.islice(_names(lower), _MOST_NAMES))
    moves = letters.may_move(text)
    secrets: list[tuple[int, int]] = []
    judged = 0
    budget = _Budget(_MOST_PARSED, _MOST_CHARACTERS)
    # What is given to the last name may stand on several lines.
    enough = len(text) if moves or not names else names[-1] + LONGEST
    for statement in statements(text, enough=enough) if names or moves else ():
        first = bisect.bisect(names, statement.start)
        if not moves and first == len(names):
            break
        # Most often what is given to the name is no string.
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
    """Yield, in order, the end of each telling name or call that a string may be given to."""
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
    """Return the strings that a statement gives to telling names and calls, and the budget that is left."""
    length = statement.end - statement.start
    given = None
    if length <= LONGEST and budget.statements > 0 and budget.characters >= length:
        budget = _Budget(budget.statements - 1, budget.characters - length)
        given = given_strings(statement.without_escapes(text), statement.closing)
    if given is None:
        sounds = assigned.sounds_of_secret().search
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
    sound = assigned.sound(name)
    pieces = [piece[:_JUDGED].strip() for piece in given.pieces]
    if given.is_formatted and sound != "password":
        pieces = [piece for piece in pieces if len(piece) >= _LEAST_PIECE]
    if not given.is_formatted:
        pieces = ["".join(pieces)[:_JUDGED]]
    gives = "(" if given.is_passed else "="
    values = (judging.AssignedValue(name, gives, sound, piece, True, before, "") for piece in pieces)
    return any(map(judging.is_secret, values))
