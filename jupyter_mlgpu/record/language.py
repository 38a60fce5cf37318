"""The language of magics, receipts and lessons in this kernel.

It is the one that was chosen with `speak`. If none was, it is the language in the notebook's metadata, as in
`"jupyter_mlgpu": {"language": "zh"}`. A kernel cannot read the metadata: JupyterLab sends it, and programs
that start a kernel without a page set VARIABLE. Otherwise it is the language whose code is the name of the
notebook's folder, such as `my-lessons/zh`: jupyter_server tells the notebook's path, and programs such as
nbconvert start the kernel in its folder.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path, PurePath
from typing import Any

from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.sentence import Sentence
from jupyter_mlgpu.record.translation import catalogue_path, messages, translated

#: The environment variable with the language of the notebook that the kernel runs.
VARIABLE = "JUPYTER_MLGPU_LANGUAGE"

_language: str | None = None
_of_the_page: str | None = None


def speak(language: str) -> None:
    """Set the language of magics, `check`, `predict` and the rest of the lessons: `en` or `zh`.

    Raises UsageError for a language without a catalogue.
    """
    global _language
    if language != "en" and not messages(language):
        raise UsageError(f"Lessons speak en or zh, not {language!r:.40}.")
    _language = language


def hear_from_page(language: object) -> None:
    """Set the language that a page found in its notebook's metadata. An unknown language is ignored."""
    global _of_the_page
    if isinstance(language, str) and _is_known(language):
        _of_the_page = language


def of_notebook(metadata: Mapping[str, Any]) -> str | None:
    """Return the language in a notebook's metadata, or None."""
    ours = metadata.get("jupyter_mlgpu")
    language = ours.get("language") if isinstance(ours, Mapping) else None
    return language if isinstance(language, str) and _is_known(language) else None


def environment(metadata: Mapping[str, Any]) -> dict[str, str]:
    """Return the environment variables that the kernel of a notebook with this metadata needs."""
    language = of_notebook(metadata)
    return {} if language is None else {VARIABLE: language}


def current_language() -> str:
    """Return the language that was chosen last, or else the language of the notebook, or else English."""
    return _language or _of_the_page or _of_the_surroundings()


def translate(text: str) -> str:
    """Return a sentence in the current language. Texts that are not sentences are data and stay unchanged."""
    return translated(text, current_language()) if isinstance(text, Sentence) else text


@cache
def _of_the_surroundings() -> str:
    notebook = os.environ.get("JPY_SESSION_NAME", "")
    folder = PurePath(notebook).parent.name if notebook else _working_folder()
    return next(filter(_is_known, (os.environ.get(VARIABLE, ""), folder)), "en")


def _working_folder() -> str:
    try:
        return Path.cwd().name
    except OSError:  # somebody removed it
        return ""


def _is_known(language: str) -> bool:
    return language == "en" or (bool(language) and catalogue_path(language) is not None)
