"""Prints the output and the errors of commands, with control characters escaped.

File names and other people's words are part of them, and could move the cursor, colour a line or rename the
terminal's window.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from jupyter_mlgpu.record.visible import visible

PROGRAM = "jupyter mlgpu"


def tell(text: object) -> None:
    """Print a line, or lines, on stdout; a reader that stops reading early (`| head`) is no error."""
    with until_nobody_reads():
        print(visible(str(text)), flush=True)


@contextmanager
def until_nobody_reads() -> Iterator[None]:
    """Print, unless the reader has gone: what is printed after that goes nowhere, and the command goes on."""
    try:
        yield
    except BrokenPipeError:
        # Python would complain once more when it closes stdout at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(problem: object) -> None:
    """Print on stderr what went wrong, after the name of the program."""
    print(f"{PROGRAM}: {visible(str(problem))}", file=sys.stderr)
