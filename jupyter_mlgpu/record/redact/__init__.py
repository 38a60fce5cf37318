"""Take out of a text what should not leave this machine: secrets, home folders, names of users, its own name.

Applied once, when a record is made, so that receipts, saved records, reports and the sidebar can only ever
show redacted text. What counts as a secret is in `secrets.py`, `published.py`, `assigned.py`, `code.py` and
`environment.py`, who and where in `people.py`; docs/explanation/measuring.md says what cannot be found.

It runs beside the user's cell on whatever was typed and printed, so it takes time in proportion to the
length: no pattern may look at a character more often than a fixed number of times. Every repetition is
bounded, or is the last of its pattern, where nothing follows that could fail. So a text is not cut into
pieces, and a secret has no border to hide behind. Patterns are compiled when a text first needs them.
"""

from __future__ import annotations

from typing import overload

from jupyter_mlgpu.record.redact import people, secrets
from jupyter_mlgpu.record.sentence import Sentence

#: A secret is known by at most so many of its first characters (`secrets.py`), so that those before the last
#: MARGIN characters of a cut text are as safe as those of a whole one.
MARGIN = 40


@overload
def redact(text: Sentence) -> Sentence: ...
@overload
def redact(text: str) -> str: ...
def redact(text: str) -> str:
    """The text with home folders as `~`, the user's name as `<user>`, the host's as `<host>`, secrets as
    `<redacted>`; in a sentence of ours, in its fields."""
    return text.map(_redact) if isinstance(text, Sentence) else _redact(text)


def _redact(text: str) -> str:
    return people.hide(secrets.hide(_whole(text)))


def _whole(text: str) -> str:
    """The text with half characters (lone surrogates) written out: no file and no message can hold them."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="backslashreplace").decode()
    return text


def beginning(text: str, limit: int = 80) -> str:
    """The first `limit` characters of the redacted text, with an ellipsis where it is longer.

    Only so much of it is read as is needed. A secret that is halved by that is redacted, too.
    """
    read = 2 * limit + MARGIN
    if len(text) <= read:
        return shorten(redact(text), limit)
    known = redact(text[:read])[:-MARGIN]
    before, mark, address = known.rpartition("://")
    # Whether an address begins with a login is known at its end alone.
    is_halved = mark and not any(map(str.isspace, address))
    return shorten((before + mark if is_halved else known) + "…", limit)


def shorten(text: str, limit: int = 80) -> str:
    """The text, cut to `limit` characters with an ellipsis where it is longer."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
