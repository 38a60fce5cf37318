"""System files, such as those of /proc, that are read repeatedly without releasing the GIL.

`os.pread` releases the GIL, and the user's code then keeps it for 5 ms. Each time the GIL changes hands, that
code stops until its thread is awake again. This costs a busy cell 0.1 ms, more than reading such a file.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple


class SystemFile:
    """The first `most` bytes of a file, which is opened at the first read and stays open.

    A path below /proc/self belongs to the process that opens it: a forked child must not go on reading.
    """

    def __init__(self, path: str | os.PathLike[str], most: int) -> None:
        self._path = os.fspath(path)
        self._most = most
        self._descriptor: int | None = None

    def read(self) -> bytes:
        """Return the content now, empty if the file cannot be read or the system is not Linux."""
        if not sys.platform.startswith("linux"):
            return b""
        calls = _calls()
        if self._descriptor is None:
            self._descriptor = calls.open(os.fsencode(self._path), os.O_RDONLY | os.O_CLOEXEC)
        room = calls.room(self._most)  # a buffer of its own: two threads may read one file
        count = calls.pread(self._descriptor, room, self._most, 0)
        return calls.bytes_at(room, max(0, count))

    def close(self) -> None:
        """Close the file."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor is None or descriptor < 0:
            return
        # The user's code may have closed our file and opened another, which has its number now. This is not
        # checked when the file is opened, because `os.stat` releases the GIL.
        open_now, ours = _identity(descriptor), _identity(self._path)
        if open_now is not None and open_now == (ours or open_now):
            os.close(descriptor)


def _identity(file: int | str) -> tuple[int, int] | None:
    """Return the device and inode of a file, None if none is open there or if its path no longer exists."""
    try:
        status = os.stat(file)
    except OSError:
        return None
    return status.st_dev, status.st_ino


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
