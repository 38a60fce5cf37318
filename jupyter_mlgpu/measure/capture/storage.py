"""The file that native output is stored in until it has been shown, and a while longer.

On Linux it lies in memory (a memfd); elsewhere, and where the system refuses that, as the sandbox for
submissions does, it is a temporary file without a name. What has been let go of is given back to the system
by punching a hole: offsets stay what they were.

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
#: Descriptors of ours that would be standard ones have numbers from here on.
_OURS_FROM = 64
_KEEP_SIZE, _PUNCH_HOLE = 0x01, 0x02  # fallocate(2)
_F_PUNCHHOLE = 99  # <sys/fcntl.h> of Darwin


def anonymous_file(name: str) -> tuple[int, bool]:
    """The descriptor of a new file without a name in any folder, and whether it lies in memory."""
    try:
        return os.memfd_create(f"jupyter_mlgpu-{name}"), True
    except (AttributeError, OSError):
        descriptor, path = tempfile.mkstemp(prefix=f"jupyter_mlgpu-{name}-")
        os.unlink(path)  # it goes when the last process that has it open does
        return descriptor, False


def above_standard(descriptor: int) -> int:
    """The same file under a number that no program takes for its input or output: they may be closed now."""
    if descriptor > 2:
        return descriptor
    try:
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _OURS_FROM)
    finally:
        os.close(descriptor)


class LogFile:
    """Bytes that another process appends, and that are read here by offset."""

    def __init__(self, name: str) -> None:
        made, self.in_memory = anonymous_file(name)
        self.descriptor = above_standard(made)
        flags = fcntl.fcntl(self.descriptor, fcntl.F_GETFL)
        fcntl.fcntl(self.descriptor, fcntl.F_SETFL, flags | os.O_APPEND)
        self._forgotten = 0

    def size(self) -> int:
        """How many bytes were stored."""
        return os.fstat(self.descriptor).st_size

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

    def free_bytes(self) -> int | None:
        """How much more it can take; None where that is memory, which the system hands out."""
        if self.in_memory:
            return None
        room = os.fstatvfs(self.descriptor)
        return room.f_bavail * room.f_frsize

    def close(self) -> None:
        """Let go of it."""
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
