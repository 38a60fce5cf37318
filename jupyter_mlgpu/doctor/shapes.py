"""What a text in the facts may look like, by its annotation: `version: Version`.

Facts may come from a file of somebody else's, and stand in commands afterwards. A text is one line without
control characters unless its annotation says otherwise.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

# PEP 440 sets no limit; a build's own part (`+cu126.git0a1b2c3`) is the longest.
_LONGEST_VERSION = 100
# PEP 440, appendix B. The package `packaging` has the same, and may itself be what is broken.
_PEP_440 = re.compile(
    r"v?(?:[0-9]+!)?[0-9]+(?:\.[0-9]+)*"
    r"(?:[-_.]?(?:alpha|beta|preview|pre|a|b|c|rc)[-_.]?[0-9]*)?"
    r"(?:-[0-9]+|[-_.]?(?:post|rev|r)[-_.]?[0-9]*)?"
    r"(?:[-_.]?dev[-_.]?[0-9]*)?"
    r"(?:\+[a-z0-9]+(?:[-_.][a-z0-9]+)*)?",
    re.ASCII | re.IGNORECASE,
)
#: Control characters (Cc), halves of a character (Cs), and what ends a line (Zl, Zp).
_NEVER = {"Cc", "Cs", "Zl", "Zp"}


@dataclass(frozen=True, slots=True)
class Shape:
    """What a text has to be, in words that follow "should be", and whether one is."""

    what: str
    fits: Callable[[str], bool]


def _plain(text: str) -> bool:
    # What can be printed is none of these, and is told in a hundredth of the time.
    return text.isprintable() or not any(unicodedata.category(one) in _NEVER for one in text)


def _lines(text: str) -> bool:
    return _plain(text.replace("\n", "").replace("\t", ""))


def _is_version(text: str) -> bool:
    return len(text) <= _LONGEST_VERSION and _PEP_440.fullmatch(text) is not None


def _like(pattern: str) -> Callable[[str], bool]:
    matches = re.compile(pattern, re.ASCII).fullmatch
    return lambda text: matches(text) is not None


TEXT = Shape("one line without control characters", _plain)

#: Several lines, such as a traceback.
Lines = Annotated[str, Shape("lines without control characters", _lines)]
#: A file, a folder, or what else goes to a program by its name; one that begins with `-` would be an option.
Name = Annotated[
    str,
    Shape(
        "a name of one line, without control characters and no - at its start",
        lambda text: _plain(text) and not text.startswith("-"),
    ),
]
Version = Annotated[str, Shape("a version, such as 2.19.1", _is_version)]
PackageName = Annotated[str, Shape("a package's name", _like(r"[a-z0-9](?:[a-z0-9._-]{0,98}[a-z0-9])?"))]
VariableName = Annotated[str, Shape("a variable's name", _like(r"[A-Za-z_][A-Za-z0-9_]*"))]
HostName = Annotated[str, Shape("a host's name", _like(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?"))]
#: A module's file in the current folder.
Shadow = Annotated[str, Shape("a module's file", _like(r"[A-Za-z_]\w*(?:\.py|/__init__\.py)"))]
