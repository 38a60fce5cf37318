"""The texts of the service: English ones are in texts.toml, translations in our catalogues."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from jupyter_mlgpu.record import translation
from jupyter_mlgpu.record.sentence import Given, Sentence

#: Each text by its key, in English. `say` fills in `{name}`.
TEXTS: Mapping[str, str] = tomllib.loads(Path(__file__).with_name("texts.toml").read_text(encoding="utf-8"))


def say(key: str, language: str = "en", /, **slots: Given) -> str:
    """Return a text in a language with its slots filled; it is plain text, which pages escape."""
    return translation.translated(Sentence(TEXTS[key], slots), language)


def language_of(accept: str) -> str:
    """Return the supported language that a header Accept-Language prefers; English if there is none."""
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
