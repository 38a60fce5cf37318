"""Finds secrets that `%env` or a shell's `export` puts into the environment.

Only a value can follow the variable's name, so even a plain word counts as a secret here. The value may
contain blanks: it ends with the line, or with its closing quote.
"""

from __future__ import annotations

import itertools
import re

from jupyter_mlgpu.record.redact import assigned, letters
from jupyter_mlgpu.record.redact.patterns import compiled

#: Most lines, and values of a line, that are judged. No ordinary text has more.
_MOST_JUDGED = 500

# `%env NAME value` and `%env NAME=value` take the whole rest of the line, with its quotes.
_MAGIC = (
    r"(?:(?<![\w%])%(?:set_)?env|!\s{0,4}set(?:x|env))[ \t]{1,8}(?P<name>\w{2,80}+)"
    r"(?:[ \t]{0,8}=[ \t]{0,8}|[ \t]{1,8})(?P<value>[^\s=][^\r\n]*)"
)
_EXPORT = r"(?<![\w.])(?:export|declare -x)[ \t][^\r\n]*"
_PAIR = r"(?<![\w.-])(?P<name>\w{2,80}+)=(?P<value>\"(?:[^\"\\]|\\.)*+\"?|'[^']*'?|[^\s;&|<>\"'`)]+)"


def find(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each secret that is put into the environment."""
    found: list[re.Match[str]] = []
    if "%" in text or "!" in text:
        found += _first(_MAGIC, text, 0, len(text))
    if "export" in text or "declare" in text:
        for line in _first(_EXPORT, text, 0, len(text)):
            found += _first(_PAIR, text, *line.span())
    return [one.span("value") for one in found if _is_secret(one)]


def _first(pattern: str, text: str, start: int, end: int) -> list[re.Match[str]]:
    return list(itertools.islice(compiled(pattern).finditer(text, start, end), _MOST_JUDGED))


def _is_secret(found: re.Match[str]) -> bool:
    from jupyter_mlgpu.record.redact import judging  # as in `assigned.py`

    name = letters.normalized(found["name"])
    if not assigned.suspicious_words_pattern().search(name):
        return False
    return judging.is_environments_secret(name, assigned.secret_kind(name), found["value"][:100])
