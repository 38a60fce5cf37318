"""What we say on stderr within the user's program, which may have taken it away, closed or replaced it."""

from __future__ import annotations

import contextlib
import sys
from typing import TextIO

from jupyter_mlgpu.record.visible import visible


def say_on_stderr(line: str) -> None:
    """Write a line; where that cannot be, nobody hears it and nothing is raised."""
    stream: TextIO | None = sys.stderr  # None where the user's code has said so
    if stream is not None:
        with contextlib.suppress(Exception):
            stream.write(f"{visible(line)}\n")
