"""Straight lines through memory peaks: the need of a size, if every item takes the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

from jupyter_mlgpu.explain.statistics import median

#: The share of the available memory up to which a size is said to fit, and is proposed.
ROOM = 0.9

#: Two sizes with their peaks, in bytes.
Line = tuple[int, float, int, float]


def lines_through(points: Iterable[tuple[int, float]]) -> list[Line]:
    """Return a line through each two peaks of different sizes."""
    pairs = combinations(points, 2)
    return [(x1, y1, x2, y2) for (x1, y1), (x2, y2) in pairs if x1 != x2]


def slope(lines: Sequence[Line]) -> float:
    """Return the bytes that one item takes: the median of the lines."""
    return median([(y2 - y1) / (x2 - x1) for x1, y1, x2, y2 in lines])


def at(lines: Sequence[Line], size: int) -> tuple[float, float, float]:
    """Return the lowest, the middle and the highest figure that the lines give for a size, in bytes."""
    found = [y1 + (y2 - y1) / (x2 - x1) * (size - x1) for x1, y1, x2, y2 in lines]
    return min(found), median(found), max(found)
