"""Whether a thread is at work while the interpreter's lock is ours: then it runs code that needs none.

Linux tells it in /proc/self/task/TID/syscall (proc_pid_syscall(5)): `running`, or the call that it waits in. The file
is read through `ctypes.PyDLL`, which keeps the lock: `os.pread` would give it away, and the thread would go on.
"""

from __future__ import annotations

import os
from collections.abc import Callable

#: None: cannot be told.
Running = Callable[[], bool | None]


def watching(task: int | None) -> tuple[Running, Callable[[], None]]:
    """What tells it of the thread with the system's number `task`, and what ends that."""
    if task is None:
        return _unknown, _nothing
    try:
        descriptor = os.open(f"/proc/self/task/{task}/syscall", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return _unknown, _nothing
    import ctypes  # a kernel whose cells are all short never needs it

    pread = ctypes.PyDLL(None).pread
    pread.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_long]
    pread.restype = ctypes.c_ssize_t
    room = ctypes.create_string_buffer(8)

    def running() -> bool | None:
        got = pread(descriptor, room, 7, 0)
        return room.raw[:7] == b"running" if got > 0 else None

    return running, lambda: os.close(descriptor)


def _unknown() -> bool | None:
    return None


def _nothing() -> None:
    return
