"""The file that stores native output until it has been shown, and a while longer.

On Linux it lies in memory (a memfd). On other systems, and if the system refuses a memfd, as the sandbox for
submissions does, it is a temporary file without a name. Bytes that are no longer needed are returned to the
system by punching a hole: offsets do not change.

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

_PAGE = 4096
#: Our descriptors that would be standard ones get numbers from here on.
_OURS_FROM = 64
_KEEP_SIZE, _PUNCH_HOLE = 0x01, 0x02  # fallocate(2)
_F_PUNCHHOLE = 99  # <sys/fcntl.h> of Darwin


def anonymous_file(name: str) -> tuple[int, bool]:
    """Return the descriptor of a new file without a name, and True if it lies in memory."""
    try:
        return os.memfd_create(f"jupyter_mlgpu-{name}"), True
    except (AttributeError, OSError):
        descriptor, path = tempfile.mkstemp(prefix=f"jupyter_mlgpu-{name}-")
        os.unlink(path)  # the file is deleted when the last process closes it
        return descriptor, False


def above_standard(descriptor: int) -> int:
    """Return a descriptor above the standard ones for the same file: others may close standard ones."""
    if descriptor > 2:
        return descriptor
    try:
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _OURS_FROM)
    finally:
        os.close(descriptor)


class LogFile:
    """A file to which another process appends. It is read here by offset."""

    def __init__(self, name: str) -> None:
        descriptor, self.in_memory = anonymous_file(name)
        self.descriptor = above_standard(descriptor)
        flags = fcntl.fcntl(self.descriptor, fcntl.F_GETFL)
        fcntl.fcntl(self.descriptor, fcntl.F_SETFL, flags | os.O_APPEND)
        self._forgotten = 0

    def size(self) -> int:
        """Return the number of stored bytes."""
        return os.fstat(self.descriptor).st_size

    def read(self, start: int, end: int) -> bytes:
        """Return the bytes from `start` to `end`, fewer if the file ends before."""
        return os.pread(self.descriptor, end - start, start)

    def forget(self, end: int) -> None:
        """Return the bytes before `end` to the system. They then read as zeros."""
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
        """The offset up to which the bytes are gone."""
        return self._forgotten

    def free_bytes(self) -> int | None:
        """Return how many more bytes fit on the disk, None for a file in memory."""
        if self.in_memory:
            return None
        room = os.fstatvfs(self.descriptor)
        return room.f_bavail * room.f_frsize

    def close(self) -> None:
        """Close the file."""
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
