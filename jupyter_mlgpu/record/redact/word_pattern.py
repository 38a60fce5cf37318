"""Many words as one pattern that looks at each letter once: it branches where the words do."""

from __future__ import annotations

import re
from collections.abc import Mapping


def any_of(words: Mapping[str, str]) -> str:
    """A pattern for the longest of these words that stands there, each with what must follow it."""
    begins: dict[str, dict[str, str]] = {}
    for word, after in words.items():
        if word:
            begins.setdefault(word[0], {})[word[1:]] = after
    choices = [re.escape(letter) + any_of(rests) for letter, rests in sorted(begins.items())]
    if "" in words:  # the shortest comes last
        choices.append(words[""])
    return choices[0] if len(choices) == 1 else f"(?:{'|'.join(choices)})"
