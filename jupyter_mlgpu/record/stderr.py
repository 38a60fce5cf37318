"""Writes our messages to stderr, even if the user's program has closed, replaced or removed it."""

from __future__ import annotations

import contextlib
import sys
from typing import TextIO

from jupyter_mlgpu.record.visible import visible


def say_on_stderr(line: str) -> None:
    """Write a line to stderr. If that fails, the line is lost and no error is raised."""
    stream: TextIO | None = sys.stderr  # None if the user's code removed it
    if stream is not None:
        with contextlib.suppress(Exception):
            stream.write(f"{visible(line)}\n")
