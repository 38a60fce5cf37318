"""Work in pure Python for lesson 17. It is a module, because other processes have to import it."""

from __future__ import annotations


def brighter(pixels: bytes) -> bytes:
    """Return the bytes of a picture a quarter brighter, computed one by one in Python."""
    return bytes([min(255, one + one // 4) for one in pixels])
