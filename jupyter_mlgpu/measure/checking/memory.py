"""Keeps the copies in float64 that a check makes within the memory that is free."""

from __future__ import annotations

from jupyter_mlgpu.measure.probes.memory import container, machine

#: Copies of an operation's arguments and results in float64 that exist at once, of 8 bytes an element
#: (measured: docs/measurements/check.md).
COPIES = 10
#: Elements of the largest operation that is checked, for the time that it takes; 2.5 GiB of copies.
MOST_ELEMENTS = 2**25
#: Fewer elements than these always fit.
FEW_ELEMENTS = 2**20


def fits(elements: int) -> bool:
    """Return True if an operation with so many elements can be checked in half of the memory that is free."""
    if elements <= FEW_ELEMENTS:
        return True
    if elements > MOST_ELEMENTS:
        return False
    whole = machine()
    inside = container(whole.total)
    free = whole.free if inside is None else min(whole.free, inside.free)
    return elements * 8 * COPIES <= free / 2
