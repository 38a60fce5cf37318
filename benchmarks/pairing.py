"""Interleaved pairs: off and on, one right after the other, in alternating order.

What drifts slowly (other programs, the processor's heat) then falls on both sides alike, and each
difference is taken between neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pair:
    """Two times in seconds: with the thing under test switched off, and with it on."""

    off: float
    on: float

    @property
    def difference(self) -> float:
        """Seconds more when on; negative where the noise was larger than the cost."""
        return self.on - self.off

    @property
    def ratio(self) -> float:
        """Time when on, divided by time when off."""
        return self.on / self.off


def interleave(count: int, measure: Callable[[bool], float]) -> list[Pair]:
    """`count` pairs, where `measure(on)` gives seconds; the first begins with off, the second with on."""
    pairs = []
    for number in range(count):
        if number % 2 == 0:
            off, on = measure(False), measure(True)
        else:
            on, off = measure(True), measure(False)
        pairs.append(Pair(off, on))
    return pairs


def times(pairs: Sequence[Pair]) -> list[dict[str, float]]:
    """The pairs for a JSON file, in seconds, in the order in which they were measured."""
    return [{"off_s": pair.off, "on_s": pair.on} for pair in pairs]
