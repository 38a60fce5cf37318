"""What native code has printed, written out: it may still be in a buffer of C's."""

from __future__ import annotations

import contextlib
import ctypes
import sys
from collections.abc import Callable
from functools import cache


def flush_native() -> None:
    """Write out what C's own buffers and Python's first streams hold, so that it is seen now."""
    with contextlib.suppress(Exception):
        for flush, stream in _c_streams():
            flush(stream)
    for python in (sys.__stdout__, sys.__stderr__):
        with contextlib.suppress(Exception):
            if python is not None:
                python.flush()


@cache
def _c_streams() -> tuple[tuple[Callable[[object], object], object], ...]:
    # Not fflush(NULL): it would wait for a thread that sits in a read of stdin.
    libc = ctypes.CDLL(None)
    marks = ("__stdoutp", "__stderrp") if sys.platform == "darwin" else ("stdout", "stderr")
    return tuple((libc.fflush, ctypes.c_void_p.in_dll(libc, mark)) for mark in marks)
