"""Formats sizes of memory and disks."""

from __future__ import annotations

GIB = 2**30


def gigabytes(size: int) -> str:
    """Return a size such as `1.5 GiB`, or `200 MiB` below one GiB."""
    return f"{size / GIB:.1f} GiB" if size >= GIB else f"{size / 2**20:.0f} MiB"
