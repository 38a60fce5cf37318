"""The language in which magics, receipts and lessons answer a learner in this kernel.

It is the one that `speak` chose; before that the one of the notebook's metadata, as in
`"jupyter_mlgpu": {"language": "zh"}`. A kernel cannot read those: JupyterLab sends it, and what starts a
kernel without a page sets VARIABLE. Elsewhere it is the one whose code the notebook's folder bears, such as
`my-lessons/zh`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import PurePath
from typing import Any

from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.sentence import Sentence
from jupyter_mlgpu.record.translation import catalogue_path, messages, translated

#: The environment variable with the language of the notebook that a kernel is started for.
VARIABLE = "JUPYTER_MLGPU_LANGUAGE"

_language: str | None = None
_of_the_page: str | None = None


def speak(language: str) -> None:
    """From now on magics, `check`, `predict` and the rest of the lessons answer in this language: `en`, `zh`.

    Raises UsageError for one that there is no catalogue of.
    """
    global _language
    if language != "en" and not messages(language):
        raise UsageError(f"Lessons speak en or zh, not {language!r:.40}.")
    _language = language


def hear_from_page(language: object) -> None:
    """Take over what a page found in its notebook's metadata, unless it is no language of ours."""
    global _of_the_page
    if isinstance(language, str) and _is_known(language):
        _of_the_page = language


def environment(metadata: Mapping[str, Any]) -> dict[str, str]:
    """Return the variables that the kernel of a notebook with these metadata needs in its environment."""
    ours = metadata.get("jupyter_mlgpu")
    language = ours.get("language") if isinstance(ours, Mapping) else None
    return {VARIABLE: language} if isinstance(language, str) and _is_known(language) else {}


def current_language() -> str:
    """The language that was asked for last; before that, the one of the notebook, or English."""
    return _language or _of_the_page or _of_the_surroundings()


def translate(text: str) -> str:
    """A sentence of ours in that language; what is data stays as it is."""
    return translated(text, current_language()) if isinstance(text, Sentence) else text


@cache
def _of_the_surroundings() -> str:
    # jupyter_server sets the notebook's path when it starts the kernel.
    folder = PurePath(os.environ.get("JPY_SESSION_NAME", "")).parent.name
    return next(filter(_is_known, (os.environ.get(VARIABLE, ""), folder)), "en")


def _is_known(language: str) -> bool:
    return language == "en" or (bool(language) and catalogue_path(language) is not None)
