"""Flushes what native code has printed and what may still be in a buffer of C's.

C's own lock on a stream is held only within single calls of C. Between two calls, a Ctrl-C would leave it
locked for ever, and a thread that prints while it holds the GIL would wait for it while we wait for the GIL.
"""

from __future__ import annotations

import ctypes
import operator
import sys
from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Any

from jupyter_mlgpu.measure.handlers import OurFailures


def flush_native(descriptors: Iterable[int] = (1, 2)) -> None:
    """Flush C's buffers and Python's original streams for these descriptors.

    A C stream that another thread has locked is left out: that thread may be writing to a full pipe.
    """
    for descriptor in descriptors:
        with OurFailures():
            flush, is_locked = _c_stream(descriptor)
            # Flushing releases the GIL, which another thread may then take.
            if is_pending(descriptor) and not is_locked():
                flush()
        with OurFailures():
            python = sys.__stdout__ if descriptor == 1 else sys.__stderr__
            if python is not None:
                python.flush()


def is_pending(descriptor: int) -> bool:
    """Return True if C's stream of a descriptor may hold output that is not written yet. Takes 1 µs.

    It is False only if the C library counts the bytes, as glibc and musl do.
    """
    count = _pending_bytes(descriptor)
    return count is None or count() != 0


@cache
def _pending_bytes(descriptor: int) -> Callable[[], int] | None:
    """Return a function that counts the bytes in C's buffer, or None if the C library has none."""
    keeps_the_gil = ctypes.PyDLL(None)
    if not hasattr(keeps_the_gil, "__fpending"):
        return None
    count = getattr(keeps_the_gil, "__fpending")
    count.restype = ctypes.c_size_t
    return partial(count, _stream_of(descriptor))


def _stream_of(descriptor: int) -> ctypes.c_void_p:
    names = {1: "stdout", 2: "stderr"}
    name = f"__{names[descriptor]}p" if sys.platform == "darwin" else names[descriptor]
    return ctypes.c_void_p.in_dll(ctypes.CDLL(None), name)


@cache
def _c_stream(descriptor: int) -> tuple[Callable[[], Any], Callable[[], bool]]:
    """Return two functions: one flushes C's stream, the other returns True if another thread locked it."""
    # Not fflush(NULL): it would wait for a thread that is blocked in a read of stdin.
    libc, keeps_the_gil = ctypes.CDLL(None), ctypes.PyDLL(None)
    stream = _stream_of(descriptor)
    lock, unlock = keeps_the_gil.ftrylockfile, keeps_the_gil.funlockfile
    unlock.restype = None
    call = operator.methodcaller("__call__", stream)

    def is_locked() -> bool:
        # One call of Python for two of C: `any` goes on to unlock if locking has returned 0.
        return any(map(call, (lock, unlock)))

    return partial(libc.fflush, stream), is_locked
