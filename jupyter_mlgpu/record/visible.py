"""Texts of others with the characters written out that one does not see: they deceive readers and terminals.

A file's name may hold what renames the window of the terminal that prints it, or colours what follows. All
that is said of a file, or of what somebody else wrote, goes through here before it is printed.
"""

from __future__ import annotations

import re
from pathlib import PurePath

# Control characters, halves of surrogate pairs, which cannot be printed, and those that turn the direction of
# a text around.
_MARKS = "\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_UNSEEN = re.compile(f"[\x00-\x08\x0b-\x1f{_MARKS}]")
# In a name, an end of a line would begin a line that we seem to say.
_UNSEEN_IN_A_LINE = re.compile(f"[\x00-\x1f\u2028\u2029{_MARKS}]")


def visible(text: str) -> str:
    """Text with the characters that one does not see written out; ends of lines and tabs stay."""
    if text.isprintable():  # which is quick, and so are nearly all
        return text
    return _UNSEEN.sub(_written, text.replace("\r\n", "\n"))


def visible_line(text: str | PurePath) -> str:
    """A path or a name on one line, with the characters that one does not see written out."""
    line = str(text)
    return line if line.isprintable() else _UNSEEN_IN_A_LINE.sub(_written, line)


def _written(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
