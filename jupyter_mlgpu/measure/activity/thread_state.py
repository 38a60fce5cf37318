"""Whether a thread is at work while the interpreter's lock is ours: then it runs code that needs none.

Linux tells it in /proc/self/task/TID/syscall (proc_pid_syscall(5)): `running`, or the call that it waits in.
Such a file is read through `ctypes.PyDLL`, which keeps the lock: `os.pread` would give it to the thread.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

#: Microseconds that a thread is given for going on, where somebody else had its processor: a short call ends
#: in that time.
_GIVEN = 60


class ThreadState(NamedTuple):
    """Questions about one thread, to be asked while the interpreter's lock is ours.

    Attributes:
        running: whether it runs, or would if it had a processor; None where that is not told.
        rest: gives the processor away for a moment, and keeps the lock.
        close: ends the asking.
    """

    running: Callable[[], bool | None]
    rest: Callable[[], object]
    close: Callable[[], object]


def watching(task: int | None) -> ThreadState:
    """The state of the thread with the system's number `task`."""
    unknown = ThreadState(_unknown, _nothing, _nothing)
    if task is None:
        return unknown
    told = open_file(f"/proc/self/task/{task}/syscall", 7)
    if told is None:
        return unknown
    import ctypes

    usleep = ctypes.PyDLL(None).usleep

    def running() -> bool | None:
        got = told.read()
        return got == b"running" if got else None

    return ThreadState(running, lambda: usleep(_GIVEN), told.close)


class OpenFile(NamedTuple):
    """A file of the system's that is read again and again, without giving the interpreter's lock away."""

    read: Callable[[], bytes]
    close: Callable[[], object]


def open_file(path: str, length: int) -> OpenFile | None:
    """The first `length` bytes of a file, none where they cannot be read; None without such a file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    import ctypes  # a kernel whose cells are all short never needs it

    pread = ctypes.PyDLL(None).pread
    pread.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_long]
    pread.restype = ctypes.c_ssize_t
    room = ctypes.create_string_buffer(length)

    def read() -> bytes:
        got = pread(descriptor, room, length, 0)
        return room.raw[: max(0, got)]

    return OpenFile(read, lambda: os.close(descriptor))


def _unknown() -> bool | None:
    return None


def _nothing() -> None:
    return
