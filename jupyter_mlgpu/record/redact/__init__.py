"""Removes private data from a text: secrets, home folders, and the names of users and of this machine.

Redaction is applied once, when a record is made, so that receipts, saved records, reports and the sidebar
contain redacted text only. `secrets.py`, `published.py`, `assigned.py`, `code.py` and `environment.py` define
what counts as a secret, and `people.py` finds names and home folders. docs/explanation/measuring.md lists
what cannot be found.

Redaction runs beside the user's cell on any text that was typed or printed, so its time must be proportional
to the text's length: no pattern may read a character more often than a fixed number of times. Every
repetition is bounded, or is at the end of its pattern, where nothing can fail after it. Therefore a text is
not cut into pieces, which could split a secret. Patterns are compiled when a text first needs them.
"""

from __future__ import annotations

from typing import overload

from jupyter_mlgpu.record.sentence import Sentence

#: A secret is recognised by at most this many of its first characters (`secrets.py`). In a cut text, the
#: characters before the last MARGIN ones are therefore redacted as well as in the whole text.
MARGIN = 40


@overload
def redact(text: Sentence) -> Sentence: ...
@overload
def redact(text: str) -> str: ...
def redact(text: str) -> str:
    """Return the text with private data replaced.

    Home folders become `~`, the user's name `<user>`, the host's name `<host>`, and secrets `<redacted>`. In
    a sentence only the fields are redacted.
    """
    return text.map(_redact) if isinstance(text, Sentence) else _redact(text)


def _redact(text: str) -> str:
    from jupyter_mlgpu.record.redact import people, secrets  # they compile patterns

    return people.hide(secrets.hide(_whole(text)))


def _whole(text: str) -> str:
    """Return the text with lone surrogates escaped, because no file or message can hold them."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="backslashreplace").decode()
    return text


def beginning(text: str, limit: int = 80) -> str:
    """Return the first `limit` characters of the redacted text, with an ellipsis if it is longer.

    Only the necessary part of the text is read. A secret that is cut by this is redacted, too.
    """
    read = 2 * limit + MARGIN
    if len(text) <= read:
        return shorten(redact(text), limit)
    known = redact(text[:read])[:-MARGIN]
    before, mark, address = known.rpartition("://")
    # The end of an address shows if it begins with a login, so an address that is cut is left out.
    is_halved = mark and not any(map(str.isspace, address))
    return shorten((before + mark if is_halved else known) + "…", limit)


def shorten(text: str, limit: int = 80) -> str:
    """Return the text cut to `limit` characters, with an ellipsis if it is longer."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
