"""Sees that something has begun the kernel's peak of this process's memory afresh, as our own probe does.

Whoever writes 5 to /proc/self/clear_refs does so: the cell's code, a library, a program that the cell runs.
inotify(7) tells of each write. Where it is not to be had, nothing is seen.
"""

from __future__ import annotations

import os

FILE = "/proc/self/clear_refs"

_MODIFIED = 2  # IN_MODIFY
_EVENTS = 4_096
_INOTIFY = "anon_inode:inotify"


class Resets:
    """Watches from when it is made until `close`, in the process that made it."""

    def __init__(self) -> None:
        self._file = _watching()

    def seen(self) -> bool:
        """Whether there was one since this was last asked."""
        if self._file is None:
            return False
        try:
            if os.readlink(f"/proc/self/fd/{self._file}") != _INOTIFY:
                self._file = None  # the user's code has closed ours, and opened another file
                return False
            return bool(os.read(self._file, _EVENTS))
        except BlockingIOError:
            return False
        except OSError:
            self._file = None
            return False

    def close(self) -> None:
        """Watch no more: 10 ms, which the kernel takes to let go of it."""
        self.seen()  # whether the number is still that of our own file
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _watching() -> int | None:
    import ctypes

    try:
        libc = ctypes.CDLL(None)
        file: int = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if file < 0:
            return None
        if libc.inotify_add_watch(file, FILE.encode(), _MODIFIED) < 0:
            os.close(file)
            return None
    except (OSError, AttributeError):
        return None
    return file
