"""Readings of a framework's memory allocator: bytes in use, bytes reserved, and the peak of a cell.

An allocator takes memory from the device in large pieces and keeps them after their arrays are freed.
Memory that is reserved and not in use is free for the next array of this process, but not for other
processes.
"""

from __future__ import annotations

from jupyter_mlgpu.record.reading import Reading, Scope, missing
from jupyter_mlgpu.record.sentence import Sentence

#: Quantity of the bytes that the allocator has taken from the device, in use or not. No record holds it:
#: only `%mlc_device status` shows it.
RESERVED = "memory_allocator_reserved"


def allocator_readings(
    detail: Sentence,
    in_use: int,
    reserved: int | None = None,
    *,
    scope: Scope = "device",
    device: str | None = None,
) -> tuple[Reading, ...]:
    """Return the bytes that arrays use (`memory_allocator`), and the reserved bytes if they are given."""
    both = (("memory_allocator", in_use), (RESERVED, reserved))
    return tuple(
        Reading(name, value, "bytes", scope, "allocator", 1, device=device, detail=detail)
        for name, value in both
        if value is not None
    )


def no_allocator_readings(why: Sentence) -> tuple[Reading, ...]:
    """Return a missing `memory_allocator` with the reason."""
    return (missing("memory_allocator", why, scope="device"),)


def peak_reading(
    value: int, detail: Sentence, *, scope: Scope = "device", device: str | None = None
) -> Reading:
    """Return the largest number of bytes that arrays held during a cell."""
    return Reading(
        "peak_memory_allocator", value, "bytes", scope, "allocator", 1, device=device, detail=detail
    )


def no_peak_reading(why: Sentence, detail: Sentence, device: str | None = None) -> Reading:
    """Return a missing `peak_memory_allocator` with the reason."""
    return missing(
        "peak_memory_allocator", why, scope="device", source="allocator", device=device, detail=detail
    )
