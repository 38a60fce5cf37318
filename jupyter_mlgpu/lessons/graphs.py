"""`picture`: a small drawing of a TensorFlow graph, and the same in words for who cannot see it."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

# In points of the drawing.
_WIDTH, _HEIGHT, _ACROSS, _DOWN, _MARGIN = 116, 44, 52, 18, 12

_STYLE = """
text { font: 14px sans-serif; fill: #1f2328; text-anchor: middle; }
.type { font-size: 11px; fill: #59636e; }
rect { fill: #dbeafe; stroke: #3a87c8; }
.input { fill: #fdf0d5; stroke: #b77900; }
path { fill: none; stroke: #59636e; stroke-width: 1.5; marker-end: url(#arrow); }
"""
_ARROW = (
    '<marker id="arrow" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
    '<path d="M0 0 L8 4 L0 8 z" style="fill:#59636e;stroke:none;marker-end:none"/></marker>'
)


@dataclass(frozen=True)
class Operation:
    """One operation of a graph: its name and type, and the names of those whose results it takes."""

    name: str
    type: str
    takes: tuple[str, ...]


class Picture:
    """A graph from left to right: an operation stands to the right of all it takes."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        self._operations = operations

    def __repr__(self) -> str:
        """The graph in words."""
        head = f"A graph of {len(self._operations)} operations, from left to right:"
        return "\n".join([head, *map(_words, self._operations)])

    def _repr_html_(self) -> str:
        # An image with its text, rather than bare SVG: notebooks show that before one trusts them, too.
        data = base64.b64encode(self.svg().encode()).decode()
        return f'<img src="data:image/svg+xml;base64,{data}" alt="{escape(repr(self))}">'

    def svg(self) -> str:
        """The drawing as SVG, on a ground of its own, for light and dark pages."""
        places = _places(self._operations)
        width = _MARGIN + max(x for x, _ in places.values()) + _WIDTH
        height = _MARGIN + max(y for _, y in places.values()) + _HEIGHT
        arrows = [_arrow(places[name], places[one.name]) for one in self._operations for name in one.takes]
        boxes = [_box(one, *places[one.name]) for one in self._operations]
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">'
            f"<title>{escape(repr(self))}</title><style>{_STYLE}</style><defs>{_ARROW}</defs>"
            f'<rect width="{width}" height="{height}" rx="6" style="fill:#ffffff;stroke:#d1d9e0"/>'
            f"{''.join([*arrows, *boxes])}</svg>"
        )


def picture(function: Any) -> Picture:
    """The graph of a function that TensorFlow has compiled (`get_concrete_function` gives one)."""
    return Picture(
        [
            Operation(one.name, one.type, tuple(tensor.op.name for tensor in one.inputs))
            for one in function.graph.get_operations()
        ]
    )


def _words(one: Operation) -> str:
    return f"  {one.name} ({one.type}){' takes ' + ' and '.join(one.takes) if one.takes else ''}"


def _places(operations: Sequence[Operation]) -> Mapping[str, tuple[int, int]]:
    """The upper left corner of each box; TensorFlow lists an operation after those it takes."""
    columns: dict[str, int] = {}
    rows: dict[int, int] = {}
    places = {}
    for one in operations:
        column = columns[one.name] = max((columns[name] + 1 for name in one.takes), default=0)
        row = rows[column] = rows.get(column, -1) + 1
        places[one.name] = (_MARGIN + column * (_WIDTH + _ACROSS), _MARGIN + row * (_HEIGHT + _DOWN))
    return places


def _box(one: Operation, x: int, y: int) -> str:
    middle = x + _WIDTH // 2
    kind = "" if one.takes else ' class="input"'
    return (
        f'<rect{kind} x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="5"/>'
        f'<text x="{middle}" y="{y + 19}">{escape(one.name)}</text>'
        f'<text class="type" x="{middle}" y="{y + 35}">{escape(one.type)}</text>'
    )


def _arrow(start: tuple[int, int], end: tuple[int, int]) -> str:
    x, y = start[0] + _WIDTH, start[1] + _HEIGHT // 2
    to_x, to_y = end[0], end[1] + _HEIGHT // 2
    bend = _ACROSS // 2
    return f'<path d="M{x} {y} C{to_x - bend} {y} {to_x - bend} {to_y} {to_x} {to_y}"/>'
