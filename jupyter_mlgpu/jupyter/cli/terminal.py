"""Prints the output and the errors of commands, with control characters escaped.

File names and other people's words are part of them, and could move the cursor, colour a line or rename the
terminal's window.
"""

from __future__ import annotations

import sys

from jupyter_mlgpu.record.visible import visible

PROGRAM = "jupyter mlgpu"


def tell(text: object) -> None:
    """Print a line, or lines, on stdout."""
    print(visible(str(text)))


def complain(problem: object) -> None:
    """Print on stderr what went wrong, after the name of the program."""
    print(f"{PROGRAM}: {visible(str(problem))}", file=sys.stderr)
