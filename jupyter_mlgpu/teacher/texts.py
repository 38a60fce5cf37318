"""All words that the service says, in English and in Simplified Chinese; they stand in texts.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

LANGUAGES = ("en", "zh")

#: Each text by its key, in each of LANGUAGES. `{name}` is filled in by `say`.
TEXTS: Mapping[str, Mapping[str, str]] = tomllib.loads(
    Path(__file__).with_name("texts.toml").read_text(encoding="utf-8")
)


def say(key: str, language: str = "en", /, **slots: object) -> str:
    """A text in a language of LANGUAGES, its slots filled. It is plain text: pages escape it."""
    return TEXTS[key][language].format(**slots)


def language_of(accept: str) -> str:
    """The language of LANGUAGES that a header Accept-Language likes best; English where it names neither."""
    best, wanted = "en", 0.0
    for part in accept[:500].split(","):
        name, _, rest = part.strip().partition(";")
        code = name.strip().lower().split("-")[0]
        try:
            weight = float(rest.strip().removeprefix("q=")) if rest else 1.0
        except ValueError:
            continue
        if code in LANGUAGES and weight > wanted:
            best, wanted = code, weight
    return best
