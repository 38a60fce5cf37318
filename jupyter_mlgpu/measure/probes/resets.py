"""Detects resets of this process's peak memory counter in the Linux kernel by others than our own probe.

Writing 5 to /proc/self/clear_refs resets it: the cell's code, a library or a program that the cell runs may
do so. inotify(7) reports each write. On systems without it, nothing is detected.
"""

from __future__ import annotations

import os

from jupyter_mlgpu.measure.probes.systemfile import link_target, read_waiting

FILE = "/proc/self/clear_refs"

_MODIFIED = 2  # IN_MODIFY
_EVENTS = 4_096
_INOTIFY = b"anon_inode:inotify"


class ResetDetector:
    """Detects resets from its creation until `close`, in the process that created it."""

    def __init__(self) -> None:
        self._file = _inotify_file()

    def was_reset(self) -> bool:
        """Return True if there was a reset since the last call."""
        if self._file is None:
            return False
        if link_target(f"/proc/self/fd/{self._file}") != _INOTIFY:
            self._file = None  # the user's code has closed our file, and perhaps opened another
            return False
        return bool(read_waiting(self._file, _EVENTS))

    def close(self) -> None:
        """Stop. The kernel takes 10 ms to remove the watch."""
        self.was_reset()  # checks that the descriptor is still our own file
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _inotify_file() -> int | None:
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
