"""Annotations that restrict texts in the facts, such as `version: Version`.

Facts may come from another person's file and are used in commands. A text is one line without control
characters unless its annotation allows more.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

#: Most characters in a text.
MOST_LETTERS = 4_000
# PEP 440 sets no limit; a build's own part (`+cu126.git0a1b2c3`) is the longest.
_LONGEST_VERSION = 100
# PEP 440, appendix B. The package `packaging` has the same, and may itself be what is broken.
_PEP_440 = (
    r"(?ai:v?(?:[0-9]+!)?[0-9]+(?:\.[0-9]+)*"
    r"(?:[-_.]?(?:alpha|beta|preview|pre|a|b|c|rc)[-_.]?[0-9]*)?"
    r"(?:-[0-9]+|[-_.]?(?:post|rev|r)[-_.]?[0-9]*)?"
    r"(?:[-_.]?dev[-_.]?[0-9]*)?"
    r"(?:\+[a-z0-9]+(?:[-_.][a-z0-9]+)*)?)"
)
# No control character and no other line end. Lone surrogates are refused earlier.
_PLAIN = r"[^\x00-\x1f\x7f-\x9f\u2028\u2029]"


def _shape(what: str, pattern: str, longest: int = MOST_LETTERS) -> Meta:
    """Return the constraint that all of a text matches; `what` completes the phrase "should be"."""
    return Meta(title=what, pattern=rf"^(?:{pattern})\Z", max_length=longest)


Text = Annotated[str, _shape("one line without control characters", f"{_PLAIN}*")]
#: Several lines, such as a traceback.
Lines = Annotated[str, _shape("lines without control characters", rf"(?:{_PLAIN}|[\n\t])*")]
#: The name of a file, a folder or another argument. With a leading `-` it would be taken as an option.
Name = Annotated[
    str,
    _shape("a name of one line, without control characters and no - at its start", f"(?!-){_PLAIN}*"),
]
Version = Annotated[str, _shape("a version, such as 2.19.1", _PEP_440, _LONGEST_VERSION)]
PackageName = Annotated[str, _shape("a package's name", r"[a-z0-9](?:[a-z0-9._-]{0,98}[a-z0-9])?")]
VariableName = Annotated[str, _shape("a variable's name", r"[A-Za-z_][A-Za-z0-9_]*")]
HostName = Annotated[str, _shape("a host's name", r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")]
#: A module's file in the current folder.
Shadow = Annotated[str, _shape("a module's file", r"(?a:[A-Za-z_]\w*(?:\.py|/__init__\.py))")]
