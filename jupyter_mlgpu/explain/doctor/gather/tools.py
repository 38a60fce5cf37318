"""Functions that all gatherers share: a fact or its error, a command with a time limit, a file's text."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

from jupyter_mlgpu.explain.doctor.maybe import Maybe, NotKnownError, Unknown
from jupyter_mlgpu.record.sentence import Sentence, say

T = TypeVar("T")

#: Most seconds for one system command.
COMMAND_S = 3.0


def fact(read: Callable[[], T]) -> Maybe[T]:
    """Return the result of `read`; if it raises, Unknown with the error or NotKnownError's own reason."""
    try:
        return read()
    except NotKnownError as error:
        return error.unknown
    except subprocess.TimeoutExpired as error:
        return Unknown(
            say(
                "{program} did not answer within {seconds} s.",
                program=Path(error.cmd if isinstance(error.cmd, str) else error.cmd[0]).name,
                seconds=f"{error.timeout:g}",
            )
        )
    except Exception as error:
        # Our own errors may contain a sentence.
        why = next((one for one in error.args if isinstance(one, Sentence)), str(error))
        return Unknown(say("It could not be read ({error}: {why}).", error=type(error).__name__, why=why))


def all_unknown(kind: type[T], reason: Sentence) -> T:
    """Return a part of the facts in which every field is unknown for one reason."""
    return kind(**{item.name: Unknown(reason) for item in dataclasses.fields(kind)})  # type: ignore[arg-type]


def run(command: Sequence[str], seconds: float = COMMAND_S, /, **environment: str | None) -> str:
    """Return a command's output; raises OSError, CalledProcessError or TimeoutExpired.

    Variables that are None in `environment` are removed.
    """
    merged = {**os.environ, **environment}
    variables = {name: value for name, value in merged.items() if value is not None}
    done = subprocess.run(
        command,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        text=True,
        errors="replace",
        timeout=seconds,
        check=True,
        env=variables,
    )
    return done.stdout


def text_of(path: Path, most: int = 1_000_000) -> str | None:
    """Return the first characters of a file; None if it cannot be read."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(most)
    except OSError:
        return None


def version_of(package: str) -> str | None:
    """Return the version of an installed package of this Python, or None."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def table_of(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file; empty if there is none."""
    try:
        data = json.loads(text_of(path) or "")
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
