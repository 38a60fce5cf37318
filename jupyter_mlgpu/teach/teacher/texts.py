"""All words that the service says: in English they stand in texts.toml, in others in our catalogues."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from jupyter_mlgpu.record import translation
from jupyter_mlgpu.record.sentence import Given, Sentence

#: Each text by its key, in English. `{name}` is filled in by `say`.
TEXTS: Mapping[str, str] = tomllib.loads(Path(__file__).with_name("texts.toml").read_text(encoding="utf-8"))


def say(key: str, language: str = "en", /, **slots: Given) -> str:
    """A text in a language, its slots filled. It is plain text: pages escape it."""
    return translation.translated(Sentence(TEXTS[key], slots), language)


def language_of(accept: str) -> str:
    """The language that a header Accept-Language likes best and that we speak; else English."""
    best, wanted = "en", 0.0
    for part in accept[:500].split(","):
        name, _, rest = part.strip().partition(";")
        code = name.strip().lower().split("-")[0]
        try:
            weight = float(rest.strip().removeprefix("q=")) if rest else 1.0
        except ValueError:
            continue
        if weight > wanted and (code == "en" or translation.messages(code)):
            best, wanted = code, weight
    return best
