"""Find what most of the time of some samples has in common."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TypeVar

from jupyter_mlgpu.measure.activity.activity import Part

T = TypeVar("T")

#: The share of the time that counts as most of it.
MOST = 0.5


def common(parts: Sequence[Part], of: Callable[[Part], T | None]) -> T | None:
    """Return the value of `of` that has most of the time, or None if no value has."""
    seconds: dict[T | None, float] = defaultdict(float)
    for part in parts:
        seconds[of(part)] += part.seconds
    found, most = max(seconds.items(), key=lambda one: one[1], default=(None, 0.0))
    return found if most >= MOST * sum(seconds.values()) else None


def mostly(parts: Sequence[Part], holds: Callable[[Part], bool]) -> bool:
    """Return True if `holds` is true for more than half of the time."""
    whole = sum(part.seconds for part in parts)
    return sum(part.seconds for part in parts if holds(part)) > MOST * whole
