"""The file that takes what is written to a file descriptor while it is tapped.

A file, and never a pipe: a write to it cannot wait for a reader. On Linux it lies in memory (a memfd), so
that a full disk cannot make the user's own writes fail; elsewhere, and where the system refuses it, as the
sandbox for submissions does, it is a temporary file without a name.
What has been let go of is given back to the system by punching a hole: the writers, who append, notice
nothing, and offsets stay what they were.

Sources: memfd_create(2), fallocate(2) of Linux; F_PUNCHHOLE and struct fpunchhole in Darwin's
<sys/fcntl.h> (read, not run on a Mac).
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import struct
import sys
import tempfile

_lseek = ctypes.PyDLL(None).lseek
_lseek.argtypes, _lseek.restype = [ctypes.c_int, ctypes.c_long, ctypes.c_int], ctypes.c_long
_PAGE = 4096
_KEEP_SIZE, _PUNCH_HOLE = 0x01, 0x02  # fallocate(2)
_F_PUNCHHOLE = 99  # <sys/fcntl.h> of Darwin


class LogFile:
    """Bytes that are appended by anybody who holds the descriptor, and read here by offset."""

    def __init__(self, name: str) -> None:
        try:
            self.descriptor = os.memfd_create(f"jupyter_mlgpu-{name}")
            self.in_memory = True
        except (AttributeError, OSError):
            self.in_memory = False
            self.descriptor, path = tempfile.mkstemp(prefix=f"jupyter_mlgpu-{name}-")
            os.unlink(path)  # it goes when the last process that writes to it does
        flags = fcntl.fcntl(self.descriptor, fcntl.F_GETFL)
        fcntl.fcntl(self.descriptor, fcntl.F_SETFL, flags | os.O_APPEND)
        self._forgotten = 0

    def size(self) -> int:
        """Where the next byte will stand.

        It is asked for many times a second beside the user's code: `os.lseek` would give that the
        interpreter's lock, and take it away again (`measure/probes/systemfile` says what that costs).
        """
        return int(_lseek(self.descriptor, 0, os.SEEK_END))

    def read(self, start: int, end: int) -> bytes:
        """The bytes from `start` to `end`, fewer where the file ends before."""
        return os.pread(self.descriptor, end - start, start)

    def forget(self, end: int) -> None:
        """Give what stands before `end` back to the system; it then reads as zeros."""
        end -= end % _PAGE
        if end <= self._forgotten:
            return
        try:
            _punch(self.descriptor, self._forgotten, end - self._forgotten)
        except OSError:
            return  # a file system without holes: the file grows until it is closed
        self._forgotten = end

    @property
    def forgotten(self) -> int:
        """Up to where the bytes are gone."""
        return self._forgotten

    def is_open_at(self, descriptor: int) -> bool:
        """Whether `descriptor` still leads here: the user's code may have closed or redirected it."""
        try:
            return os.path.sameopenfile(descriptor, self.descriptor)
        except OSError:
            return False

    def free_bytes(self) -> int | None:
        """How much more it can take; None where that is memory, which the system hands out."""
        if self.in_memory:
            return None
        room = os.fstatvfs(self.descriptor)
        return room.f_bavail * room.f_frsize

    def close(self) -> None:
        """Let go of it; processes that still write to it are not disturbed."""
        os.close(self.descriptor)


def _punch(descriptor: int, start: int, length: int) -> None:
    if sys.platform == "darwin":
        # struct fpunchhole: fp_flags, reserved (32 bits each), fp_offset, fp_length (64 bits each)
        fcntl.fcntl(descriptor, _F_PUNCHHOLE, struct.pack("IIqq", 0, 0, start, length))
        return
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "fallocate"):
        raise OSError("this system cannot punch holes")
    done = libc.fallocate(descriptor, _KEEP_SIZE | _PUNCH_HOLE, ctypes.c_int64(start), ctypes.c_int64(length))
    if done != 0:
        raise OSError(ctypes.get_errno(), "fallocate")
