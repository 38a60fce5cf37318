"""Regular expressions for redaction: many words as one pattern, and compilation on first use."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping


@functools.cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern, compiled when a text first needs it."""
    return re.compile(pattern)


def any_of(words: Mapping[str, str]) -> str:
    """Return a pattern for the longest matching word of `words`, each followed by its own pattern.

    It is a prefix tree, so it reads each letter of a text once.
    """
    begins: dict[str, dict[str, str]] = {}
    for word, after in words.items():
        if word:
            begins.setdefault(word[0], {})[word[1:]] = after
    choices = [re.escape(letter) + any_of(rests) for letter, rests in sorted(begins.items())]
    if "" in words:  # the shortest comes last
        choices.append(words[""])
    return choices[0] if len(choices) == 1 else f"(?:{'|'.join(choices)})"
