"""System files, such as those of /proc, that are read repeatedly without releasing the GIL.

`os.pread` releases the GIL, and the user's code then keeps it for 5 ms. Each time the GIL changes hands, that
code stops until its thread is awake again. This costs a busy cell 0.1 ms, more than reading such a file.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

#: Most bytes of the target of a link.
_LINK = 64


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


def read_once(path: str, most: int) -> bytes:
    """Open a file, return its first `most` bytes, and close it. Raises OSError if that is not possible."""
    calls = _calls()
    with _opened(path, os.O_RDONLY) as descriptor:
        room = calls.room(most)
        count = calls.pread(descriptor, room, most, 0)
    if count < 0:
        raise OSError(f"{path} could not be read.")
    return calls.bytes_at(room, count)


def write_once(path: str, data: bytes) -> None:
    """Open a file, write to it, and close it. Raises OSError if that is not possible."""
    with _opened(path, os.O_WRONLY) as descriptor:
        if _calls().write(descriptor, data, len(data)) != len(data):
            raise OSError(f"{path} could not be written.")


def link_target(path: str) -> bytes:
    """Return where a symbolic link leads, empty if there is none. Only on Linux."""
    calls = _calls()
    room = calls.room(_LINK)
    return calls.bytes_at(room, max(0, calls.readlink(path.encode(), room, _LINK)))


def read_waiting(descriptor: int, most: int) -> bytes:
    """Return what waits in a non-blocking descriptor, empty if there is nothing. Only on Linux."""
    calls = _calls()
    room = calls.room(most)
    return calls.bytes_at(room, max(0, calls.read(descriptor, room, most)))


@contextmanager
def _opened(path: str, flags: int) -> Iterator[int]:
    if not sys.platform.startswith("linux"):
        raise OSError(f"{path} is a file of Linux.")
    calls = _calls()
    descriptor = calls.open(path.encode(), flags | os.O_CLOEXEC)
    if descriptor < 0:
        raise OSError(f"{path} could not be opened.")
    try:
        yield descriptor
    finally:
        calls.close(descriptor)


def _identity(file: int | str) -> tuple[int, int] | None:
    """Return the device and inode of a file, None if none is open there or if its path no longer exists."""
    try:
        status = os.stat(file)
    except OSError:
        return None
    return status.st_dev, status.st_ino


class _Calls(NamedTuple):
    open: Callable[[bytes, int], int]
    read: Callable[[int, Any, int], int]
    readlink: Callable[[bytes, Any, int], int]
    close: Callable[[int], int]
    write: Callable[[int, bytes, int], int]
    pread: Callable[[int, Any, int, int], int]
    room: Callable[[int], Any]
    bytes_at: Callable[[Any, int], bytes]


@cache
def _calls() -> _Calls:
    import ctypes

    library = ctypes.PyDLL(None)
    library.open.argtypes = [ctypes.c_char_p, ctypes.c_int]
    library.read.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t]
    library.readlink.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t]
    library.read.restype = library.readlink.restype = ctypes.c_ssize_t
    library.write.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t]
    library.write.restype = ctypes.c_ssize_t
    library.pread.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_long]
    library.pread.restype = ctypes.c_ssize_t
    return _Calls(
        library.open,
        library.read,
        library.readlink,
        library.close,
        library.write,
        library.pread,
        ctypes.create_string_buffer,
        ctypes.string_at,
    )
