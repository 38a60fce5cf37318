"""What native code has printed, written out: it may still be in a buffer of C's."""

from __future__ import annotations

import contextlib
import ctypes
import sys
from collections.abc import Iterable
from functools import cache


def flush_native(descriptors: Iterable[int] = (1, 2)) -> None:
    """Write out what C's own buffers and Python's first streams hold for these descriptors.

    A stream of C's that another thread has locked is left out: that thread may be writing to a full pipe.
    """
    for descriptor in descriptors:
        with contextlib.suppress(Exception):
            libc, stream = _c_stream(descriptor)
            if libc.ftrylockfile(stream) == 0:
                try:
                    libc.fflush(stream)
                finally:
                    libc.funlockfile(stream)
        with contextlib.suppress(Exception):
            python = sys.__stdout__ if descriptor == 1 else sys.__stderr__
            if python is not None:
                python.flush()


@cache
def _c_stream(descriptor: int) -> tuple[ctypes.CDLL, ctypes.c_void_p]:
    # Not fflush(NULL): it would wait for a thread that sits in a read of stdin.
    libc = ctypes.CDLL(None)
    names = {1: "stdout", 2: "stderr"}
    name = f"__{names[descriptor]}p" if sys.platform == "darwin" else names[descriptor]
    return libc, ctypes.c_void_p.in_dll(libc, name)
