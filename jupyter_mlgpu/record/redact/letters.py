"""Normalises letters as Python compares names: in lower case and in the form NFKC.

To Python, a name in full-width letters is the same as one in plain letters. In a text each letter is replaced
by exactly one letter, so that positions stay valid. A single name is normalised as Python does it.
"""

from __future__ import annotations

import re
import unicodedata

from jupyter_mlgpu.record.redact.patterns import compiled

# Letters, digits and underscores that have a plain form: full-width, mathematical, superscript, subscript.
_STYLED = (
    r"[\u00aa\u00ba\u017f\u02b0-\u02e3\u1d2c-\u1dbf\u1e9b\u2070-\u209c\u2102-\u2149\u2160-\u217f\u2c7c\u2c7d\ua7f2-\ua7f4"
    r"\ufe33\ufe34\ufe4d-\ufe4f\uff10-\uff19\uff21-\uff3a\uff3f\uff41-\uff5a"
    r"\U000107a5\U0001d400-\U0001d7ff\U0001fbf0-\U0001fbf9]+"
)
# Letters of which one becomes several, or several one: the text after them moves.
_MOVING = r"[\u0132-\u014a\u01c4-\u01f3\u0300-\u036f\u2160-\u217f\ufb00-\ufb06]"


def lower(text: str) -> str:
    """Return the text in plain lower case, of the same length."""
    return small(text if text.isascii() else compiled(_STYLED).sub(_plain, text))


def small(text: str) -> str:
    """Return the text in lower case, of the same length. Only U+0130 would become two letters."""
    return text.replace("\u0130", "i").lower()


def _plain(match: re.Match[str]) -> str:
    return match[0].translate(_PLAIN)


class _PlainLetters(dict[int, str]):
    """The plain form of each letter used so far, or the letter itself if its plain form is not one letter."""

    def __missing__(self, letter: int) -> str:
        one = chr(letter)
        plain = unicodedata.normalize("NFKC", one)
        self[letter] = plain if len(plain) == 1 else one
        return self[letter]


_PLAIN = _PlainLetters()


def may_move(text: str) -> bool:
    """Return True if normalising a name in the text could change its length."""
    return not text.isascii() and compiled(_MOVING).search(text) is not None


def normalized(name: str) -> str:
    """Return a name as Python compares it, in lower case."""
    return (name if name.isascii() else unicodedata.normalize("NFKC", name)).lower()
