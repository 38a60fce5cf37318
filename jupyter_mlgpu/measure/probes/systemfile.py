"""Files of the system's, such as those of /proc, that are read again and again with the interpreter's lock.

`os.pread` gives it to the user's code, which keeps it for 5 ms; and each time that it changes hands, that
code stands still until its thread is awake again: 0.1 ms of a busy cell, more than such a file takes to read.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple


class SystemFile:
    """The first `most` bytes of a file, which is opened when it is read first, and stays open.

    A path below /proc/self belongs to the process that opens it: a forked child must not read on.
    """

    def __init__(self, path: str | os.PathLike[str], most: int) -> None:
        self._path = os.fspath(path)
        self._most = most
        self._descriptor: int | None = None

    def read(self) -> bytes:
        """What it holds now; nothing where it cannot be read, or the system is not Linux."""
        if not sys.platform.startswith("linux"):
            return b""
        calls = _calls()
        if self._descriptor is None:
            self._descriptor = calls.open(os.fsencode(self._path), os.O_RDONLY | os.O_CLOEXEC)
        room = calls.room(self._most)  # of its own: two threads may read one file
        got = calls.pread(self._descriptor, room, self._most, 0)
        return calls.bytes_at(room, max(0, got))

    def close(self) -> None:
        """Read no more."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor is None or descriptor < 0:
            return
        # The user's code may have closed ours, and opened another file, which has the number now. That is not
        # asked when it is opened, for it gives the lock away.
        there, ours = _which(descriptor), _which(self._path)
        if there is not None and there == (ours or there):
            os.close(descriptor)


def _which(file: int | str) -> tuple[int, int] | None:
    """What tells a file from all others; None where none is open there, or its path has gone."""
    try:
        told = os.stat(file)
    except OSError:
        return None
    return told.st_dev, told.st_ino


class _Calls(NamedTuple):
    open: Callable[[bytes, int], int]
    pread: Callable[[int, Any, int, int], int]
    room: Callable[[int], Any]
    bytes_at: Callable[[Any, int], bytes]


@cache
def _calls() -> _Calls:
    import ctypes  # a kernel whose cells are all short never needs it

    library = ctypes.PyDLL(None)
    library.open.argtypes = [ctypes.c_char_p, ctypes.c_int]
    library.pread.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_long]
    library.pread.restype = ctypes.c_ssize_t
    return _Calls(library.open, library.pread, ctypes.create_string_buffer, ctypes.string_at)
