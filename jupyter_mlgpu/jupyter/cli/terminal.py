"""Prints the output and the errors of commands, with control characters escaped.

The output contains file names and other people's text, which could move the cursor, colour a line or rename
the terminal's window.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from jupyter_mlgpu.record.visible import visible

PROGRAM = "jupyter mlgpu"


def tell(text: object) -> None:
    """Print text on stdout; a reader that stops early (`| head`) causes no error."""
    with until_nobody_reads():
        print(visible(str(text)), flush=True)


@contextmanager
def until_nobody_reads() -> Iterator[None]:
    """Continue without output when the reader of stdout has gone."""
    try:
        yield
    except BrokenPipeError:
        # Otherwise Python would report the error again when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(problem: object) -> None:
    """Print an error on stderr, after the program's name."""
    print(f"{PROGRAM}: {visible(str(problem))}", file=sys.stderr)
