"""Sizes of memory and disks, in words."""

from __future__ import annotations

GIB = 2**30


def gigabytes(size: int) -> str:
    """Such as `1.5 GiB`, and `200 MiB` below one GiB."""
    return f"{size / GIB:.1f} GiB" if size >= GIB else f"{size / 2**20:.0f} MiB"
