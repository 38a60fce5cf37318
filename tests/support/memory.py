"""Memory for tests of what measures it."""

from __future__ import annotations

import mmap

SIZE = 64 * 1024**2


def new_memory() -> mmap.mmap:
    """64 MiB in use that come from the system: `bytearray` may get what this process has freed before."""
    block = mmap.mmap(-1, SIZE)
    block[:: mmap.PAGESIZE] = b"x" * (SIZE // mmap.PAGESIZE)
    return block
