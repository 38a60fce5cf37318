"""Escapes invisible characters in file names and other people's text before they are printed.

A file name may hold a sequence that renames the terminal's window or colours what follows, or a character
that reverses the direction of the text.
"""

from __future__ import annotations

import re
from pathlib import PurePath

# Control characters, lone surrogates, which cannot be printed, and characters that change the direction of a
# text.
_MARKS = "\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_UNSEEN = f"[\x00-\x08\x0b-\x1f{_MARKS}]"
# In a name, a line end is escaped too: the text after it would look like a message of ours.
_UNSEEN_IN_A_LINE = f"[\x00-\x1f\u2028\u2029{_MARKS}]"


def visible(text: str) -> str:
    """Return the text with invisible characters escaped. Line ends and tabs stay."""
    if text.isprintable():  # fast, and true for nearly all texts
        return text
    return re.sub(_UNSEEN, _written, text.replace("\r\n", "\n"))


def visible_line(text: str | PurePath) -> str:
    """Return a path or a name on one line, with invisible characters escaped."""
    line = str(text)
    return line if line.isprintable() else re.sub(_UNSEEN_IN_A_LINE, _written, line)


def _written(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
