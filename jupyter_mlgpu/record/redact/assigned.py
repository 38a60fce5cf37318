"""Finds secrets by the name that they are assigned to: `password = "..."`, `--api-key=...`, `{"key": "..."}`.

A suspicious name only marks a candidate. `judging.py` decides by the value.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from jupyter_mlgpu.record.redact.patterns import any_of, compiled

if TYPE_CHECKING:
    from jupyter_mlgpu.record.redact.judging import AssignedValue

HIDDEN = "<redacted>"

# Words that make a name suspicious, each with a pattern for what must follow it, by kind. A password may be
# an ordinary word; keys and tokens are longer.
_PASSWORDS = {
    **dict.fromkeys(
        ("password", "passwd", "passwort", "kennwort", "passphrase", "passcode", "contraseña"), ""
    ),
    **dict.fromkeys(("密码", "口令", "密钥"), ""),
    "secret": "(?!ar)",
    "pwd": "(?<![a-z]pwd)",
}
_KEYS = {
    **{
        f"{which}{mark}key": ""
        for which in ("api", "account", "private", "signing", "encryption", "auth", "subscription")
        for mark in ("", "_", "-")
    },
    **{f"access{mark}key": "(?![_-]?id)" for mark in ("", "_", "-")},
    **dict.fromkeys(("private-mac", "credential", "令牌"), ""),
}
_TOKENS = {
    "token": "(?!s(?![a-z])|i[sz])",
    "signature": "",
    "jwt": "(?<![a-z]jwt)(?![a-z])",
    "pass": "(?<![a-z]pass)(?![a-z])",
}
# Under these names, and under the name of a service, only a value that looks random is a secret.
_WEAK = {
    word: rf"(?<![a-z]{word})(?![a-z])"
    for word in ("key", "auth", "sig", "sid", "csrf", "session", "sessionid", "session_id", "session-id")
}

# A whole name, what closes it (`"]`), and what assigns a value. The check for suspicious words comes last,
# because most names are followed by something else.
_NAME = r"[\w.-]{2,80}+"
_GIVES = r"\\{0,3}[\"'`]?\]?[ \t]{0,8}(?::=|=>|[=:\uff1a](?![=:])|(?<=[\"'`]),(?=[ \t]{0,4}[\"']))[ \t]{0,8}"
_OPENING = (
    r"(?P<opening>(?:[rbfu]{0,2}(?P<escapes>\\{0,3})(?P<quote>[\"'`])(?:(?P=quote){2})?)?)(?=[^\s\"'`<])"
)

# `--password X`. Other kinds of assignment have more than a blank between name and value.
_OF_FLAGS = any_of({**_PASSWORDS, **_KEYS, "token": _TOKENS["token"]})
#: A number with so few digits is a size or a descriptor: `--token_dim 64`, `--passphrase-fd 0`.
_SIZE = r"(?!\d[\d.]{0,4}(?![^\s;|&)]))"
_FLAG = (
    rf"(?<![\w-])--(?=[\w-]{{0,30}}?{_OF_FLAGS})([\w-]{{1,60}}+)[ \t]{{1,3}}"
    rf"{_SIZE}(?![-$<{{[(=:|&])"
    r"([^\s\"'`,;)]+|\"[^\"\n]+\"?|'[^'\n]+'?)"
)

# The number of a value's first characters that are judged. A secret is then hidden up to its end.
_JUDGED = 100
#: Most values that are judged in a text. No ordinary text has more. Judging takes time, so the rest of such a
#: text is hidden completely.
_MOST_JUDGED = 500
_BARE = r"[^\s,;&)}\]\"'`<>#|]"
_BARE_BEGINNING = re.compile(rf"{_BARE}{{1,{_JUDGED}}}")
_BARE_REST = re.compile(rf"{_BARE}*")


def find(text: str, lower: str) -> list[tuple[int, int]]:
    """Return the start and end of values that are secrets by their names.

    `lower` is the text in lower case.
    """
    places = _after_flags(text, lower) if "--" in lower else []
    if any(mark in lower for mark in "=:,\uff1a"):
        places += _values(text, lower, _assigned())
    return places


def _values(text: str, lower: str, pattern: re.Pattern[str]) -> list[tuple[int, int]]:
    found = pattern.search(lower)
    if found is None:
        return []
    from jupyter_mlgpu.record.redact import judging  # compiles its patterns, so only when needed

    places: list[tuple[int, int]] = []
    judged = 0
    while found is not None:
        judged += 1
        if judged > _MOST_JUDGED:
            return [*places, (found.start("opening"), len(text))]
        go_on = found.end()
        if judging.is_secret(_value(text, found)):
            go_on = _end_of_secret(text, found)
            places.append((found.start("opening"), go_on))
        found = pattern.search(lower, go_on)
    return places


@functools.cache
def suspicious_words_pattern() -> re.Pattern[str]:
    """Return a pattern for the words that make a name suspicious, in lower case."""
    return re.compile(any_of(suspicious_words()))


def suspicious_words() -> dict[str, str]:
    """Return each word that makes a name suspicious, with the pattern that must follow it."""
    from jupyter_mlgpu.record.redact.published import SERVICES

    return {**dict.fromkeys(SERVICES, ""), **_WEAK, **_TOKENS, **_KEYS, **_PASSWORDS}


@functools.cache
def _assigned() -> re.Pattern[str]:
    name_last = rf"(?=[\w.-]{{0,76}}?{suspicious_words_pattern().pattern})"
    return re.compile(
        rf"(?<![\w.-])(?={_NAME}{_GIVES}){name_last}(?P<name>{_NAME})(?P<gives>{_GIVES}){_OPENING}"
    )


@functools.cache
def _kinds() -> dict[str, re.Pattern[str]]:
    kinds = {"password": _PASSWORDS, "key": _KEYS, "token": _TOKENS}
    return {kind: re.compile(any_of(words)) for kind, words in kinds.items()}


def secret_kind(name: str) -> str | None:
    """Return `password`, `key` or `token`, or None for a less specific name."""
    return next((kind for kind, pattern in _kinds().items() if pattern.search(name)), None)


def _value(text: str, found: re.Match[str]) -> AssignedValue:
    start = found.end()
    if found["quote"]:
        end = _closing(text, found, start + _JUDGED)
        end = min(start + _JUDGED, len(text)) if end < 0 else end
    else:
        value = _BARE_BEGINNING.match(text, start)
        end = value.end() if value else start
    before = text[max(found.start() - 80, 0) : found.start()]
    name = text[found.start("name") : found.end("name")]
    is_quoted, after = bool(found["quote"]), text[end : end + 1]
    from jupyter_mlgpu.record.redact.judging import AssignedValue

    return AssignedValue(
        name, found["gives"], secret_kind(found["name"]), text[start:end], is_quoted, before, after
    )


def _end_of_secret(text: str, found: re.Match[str]) -> int:
    """Return the end of the whole secret, including its closing quote."""
    if found["quote"]:
        end = _closing(text, found, len(text))
        return len(text) if end < 0 else end + len(found["opening"].lstrip("rbfu"))
    rest = _BARE_REST.match(text, found.end())
    return rest.end() if rest else found.end()


def _closing(text: str, found: re.Match[str], limit: int) -> int:
    """Return the position of the quote that closes this opening, or -1 if there is none before `limit`."""
    mark = found["opening"].lstrip("rbfu")
    end = text.find(mark, found.end(), limit)
    while end > 0 and not found["escapes"] and _is_escaped(text, end):
        end = text.find(mark, end + 1, limit)
    return end


def _is_escaped(text: str, at: int) -> bool:
    before = text[max(at - 16, 0) : at]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _after_flags(text: str, lower: str) -> list[tuple[int, int]]:
    """Return the secrets that follow flags such as `--password`, in upper or lower case."""
    from jupyter_mlgpu.record.redact import judging

    found = compiled(_FLAG).finditer(lower)
    return [one.span(2) for one in found if judging.is_flags_secret(one[1], text[one.start(2) : one.end(2)])]
