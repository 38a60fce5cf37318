"""What a framework's allocator holds, as readings: in use, taken from the device, and the peak of a cell.

An allocator takes memory from the device in large pieces and keeps them after the arrays in them are gone:
what is reserved and not in use is free for the next array of this process, and for no other process.
"""

from __future__ import annotations

from jupyter_mlgpu.record.reading import Reading, Scope, missing
from jupyter_mlgpu.record.sentence import Sentence

#: What the allocator has taken from the device, in use or not, in bytes. No record holds it: only
#: `%mlc_device status` asks.
RESERVED = "memory_allocator_reserved"


def held(
    detail: Sentence,
    in_use: int,
    reserved: int | None = None,
    *,
    scope: Scope = "device",
    device: str | None = None,
) -> tuple[Reading, ...]:
    """The bytes that arrays hold (`memory_allocator`), and those reserved where that is told."""
    both = (("memory_allocator", in_use), (RESERVED, reserved))
    return tuple(
        Reading(name, value, "bytes", scope, "allocator", 1, device=device, detail=detail)
        for name, value in both
        if value is not None
    )


def unknown(why: Sentence) -> tuple[Reading, ...]:
    """An allocator that does not tell what it holds, with the reason."""
    return (missing("memory_allocator", why, scope="device"),)


def peak(value: int, detail: Sentence, *, scope: Scope = "device", device: str | None = None) -> Reading:
    """The most bytes that arrays held during a cell."""
    return Reading(
        "peak_memory_allocator", value, "bytes", scope, "allocator", 1, device=device, detail=detail
    )


def unknown_peak(why: Sentence, detail: Sentence, device: str | None = None) -> Reading:
    """A peak that is not known, with the reason."""
    return missing(
        "peak_memory_allocator", why, scope="device", source="allocator", device=device, detail=detail
    )
