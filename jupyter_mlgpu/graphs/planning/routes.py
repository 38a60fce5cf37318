"""Route arrows between boxes without crossing any: level through columns of boxes, bent only between them.

Boxes that overlap horizontally form a column. Between two columns is a street without boxes over its whole
height. An arrow changes its height only there. Through a column where it does not end it runs level, in a gap
between two boxes, or above or below all of them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from jupyter_mlgpu.graphs.planning.layout import Area

Route = tuple[tuple[int, int], ...]
"""The corners of an arrow. Between two of unequal height and place it bends, within the street they span."""

# In points: from an arrow to a box, between two arrows, and how far an arrow may run outside the first column
# or above all boxes.
_CLEAR, _APART, _OUTSIDE = 3, 3, 6
#: The depth of the room below the last box, and the cost of running over another arrow, in points of a
#: detour.
_BELOW, _OVER = 100_000, 40
#: The number of gaps that are compared in detail.
_GAPS = 6


@dataclass
class _Column:
    """Boxes one below the other from `left` to `right`, and the gaps in which an arrow may run level.

    `taken` has the heights of arrows, and the box from which each comes.
    """

    left: int
    right: int
    boxes: list[tuple[int, int]] = field(default_factory=list)
    gaps: list[tuple[int, int]] = field(default_factory=list)
    taken: dict[int, str] = field(default_factory=dict)

    def open(self, top: int) -> None:
        """Find the gaps from `top` down."""
        low = top
        for start, end in sorted(self.boxes):
            if start - _CLEAR >= low:
                self.gaps.append((low, start - _CLEAR))
            low = max(low, end + _CLEAR)
        self.gaps.append((low, low + _BELOW))

    def level(self, y: int, aim: int, name: str) -> int:
        """Return the height at which an arrow of `name`, now at `y`, passes through on its way to `aim`."""

        def detour(level: int) -> int:
            return abs(level - y) + abs(level - aim)

        def cost(level: int) -> tuple[int, int]:
            near = range(level + 1 - _APART, level + _APART)
            over = any(self.taken.get(one, name) != name for one in near)
            return detour(level) + (_OVER if over else 0), level

        clamped = [(min(max(one, low), high), low, high) for low, high in self.gaps for one in (y, aim)]
        nearest = sorted(clamped, key=lambda one: detour(one[0]))[:_GAPS]
        choices = {one for level, low, high in nearest for one in _around(level) if low <= one <= high}
        best = min(choices, key=cost)
        self.taken.setdefault(best, name)
        return best


def routes(boxes: Mapping[str, Area], arrows: Iterable[tuple[str, str]]) -> list[Route]:
    """Return the route of each arrow, from the right side of a box to the left side of another."""
    columns = _columns(boxes.values())
    starts = [one.left for one in columns]
    top = min((y for _, y, _, _ in boxes.values()), default=0)
    for column in columns:
        column.open(top - _OUTSIDE)
    found = []
    for start, end in arrows:
        (x, y, width, height), (to_x, to_y, _, to_height) = boxes[start], boxes[end]
        first, last = (bisect_right(starts, one) - 1 for one in (x, to_x))
        way = _Way(columns, start, (x + width, y + height // 2), (to_x, to_y + to_height // 2))
        corners = way.onwards(first, last) if first < last else way.back(first, last)
        found.append(_without_straight_corners([way.begin, *corners, way.end]))
    return found


def _columns(boxes: Iterable[Area]) -> list[_Column]:
    found: list[_Column] = []
    for x, y, width, height in sorted(boxes):
        if not found or x >= found[-1].right:
            found.append(_Column(x, x + width))
        found[-1].right = max(found[-1].right, x + width)
        found[-1].boxes.append((y, y + height))
    return found


@dataclass
class _Way:
    """One arrow of a box, from `begin` to `end`."""

    columns: Sequence[_Column]
    name: str
    begin: tuple[int, int]
    end: tuple[int, int]

    def onwards(self, first: int, last: int) -> list[tuple[int, int]]:
        """Return the corners through the columns between the first and the last."""
        y = self.begin[1]
        corners = [(self.columns[first].right, y)]
        for column in self.columns[first + 1 : last]:
            y = column.level(y, self.end[1], self.name)
            corners += [(column.left, y), (column.right, y)]
        return corners

    def back(self, first: int, last: int) -> list[tuple[int, int]]:
        """Return the corners out of the first column to the right, and back past all columns to the last."""
        y, aim = self.begin[1], self.end[1]
        out, into = self._street(first + 1), self._street(last)
        corners = [(out, y)]
        for column in reversed(self.columns[last : first + 1]):
            y = column.level(y, aim, self.name)
            corners += [(column.right, y), (column.left, y)]
        # The first turn and the last one are in the middle of their streets.
        return [(out, corners[0][1]), (out, corners[1][1]), *corners[2:-1], (into, y), (into, aim)]

    def _street(self, number: int) -> int:
        """Return the middle of the street to the left of a column."""
        if number == 0:
            return self.columns[0].left - _OUTSIDE
        before = self.columns[number - 1].right
        return (before + self.columns[number].left) // 2 if number < len(self.columns) else before + _OUTSIDE


def _around(level: int) -> Iterable[int]:
    """Yield the height itself, and those near it."""
    yield level
    for step in range(1, 9):
        yield level - step * _APART
        yield level + step * _APART


def _without_straight_corners(corners: Sequence[tuple[int, int]]) -> Route:
    """Return the corners without those at which nothing turns."""
    found = [corners[0]]
    for place, corner in enumerate(corners[1:], 1):
        after = corners[place + 1] if place + 1 < len(corners) else None
        level = after is not None and found[-1][1] == corner[1] == after[1]
        if not level and corner != found[-1]:
            found.append(corner)
    return tuple(found)
