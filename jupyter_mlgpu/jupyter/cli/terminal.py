"""What a command says in a terminal: lines on stdout, and on stderr what went wrong, in one sentence.

Names of files and words of others are in them, so nothing that could move a cursor, colour a line or name a
window is printed as it is.
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
