"""The language in which magics and lessons answer a learner in this kernel.

It is the one that was asked for by `speak`; before that, the one whose code the notebook's folder bears,
such as `notebooks/zh`.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import PurePath

from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.sentence import Sentence
from jupyter_mlgpu.record.translation import catalogue_path, messages, translated

_language: str | None = None


def speak(language: str) -> None:
    """From now on magics, `check`, `predict` and the rest of the lessons answer in this language: `en`, `zh`.

    Raises UsageError for one that there is no catalogue of.
    """
    global _language
    if language != "en" and not messages(language):
        raise UsageError(f"Lessons speak en or zh, not {language!r:.40}.")
    _language = language


def current_language() -> str:
    """The language that was asked for last; before that, the one of the notebook's folder, or English."""
    return _of_the_folder() if _language is None else _language


def translate(text: str) -> str:
    """A sentence of ours in that language; what is data stays as it is."""
    return translated(text, current_language()) if isinstance(text, Sentence) else text


@cache
def _of_the_folder() -> str:
    # jupyter_server sets the notebook's path when it starts the kernel.
    folder = PurePath(os.environ.get("JPY_SESSION_NAME", "")).parent.name
    return folder if folder and catalogue_path(folder) else "en"
