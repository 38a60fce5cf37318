"""`picture`: a small drawing of a TensorFlow graph, and the same in words for who cannot see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jupyter_mlgpu.markup import Markup, element, image, joined, style

# In points of the drawing.
_WIDTH, _HEIGHT, _ACROSS, _DOWN, _MARGIN = 116, 44, 52, 18, 12

_STYLE = """
text { font: 14px sans-serif; fill: #1f2328; text-anchor: middle; }
.type { font-size: 11px; fill: #59636e; }
rect { fill: #dbeafe; stroke: #3a87c8; }
.input { fill: #fdf0d5; stroke: #b77900; }
path { fill: none; stroke: #59636e; stroke-width: 1.5; marker-end: url(#arrow); }
"""
_ARROW = element(
    "marker",
    element("path", d="M0 0 L8 4 L0 8 z", style="fill:#59636e;stroke:none;marker-end:none"),
    id="arrow",
    markerWidth=8,
    markerHeight=8,
    refX=7,
    refY=4,
    orient="auto",
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
        return str(image(self._drawing(), repr(self)))

    def svg(self) -> str:
        """The drawing as SVG, on a ground of its own, for light and dark pages."""
        return str(self._drawing())

    def _drawing(self) -> Markup:
        places = _places(self._operations)
        width = _MARGIN + max(x for x, _ in places.values()) + _WIDTH
        height = _MARGIN + max(y for _, y in places.values()) + _HEIGHT
        arrows = [_arrow(places[name], places[one.name]) for one in self._operations for name in one.takes]
        boxes = [_box(one, *places[one.name]) for one in self._operations]
        return element(
            "svg",
            element("title", repr(self)),
            style(_STYLE),
            element("defs", _ARROW),
            element("rect", width=width, height=height, rx=6, style="fill:#ffffff;stroke:#d1d9e0"),
            *arrows,
            *boxes,
            xmlns="http://www.w3.org/2000/svg",
            width=width,
            height=height,
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


def _box(one: Operation, x: int, y: int) -> Markup:
    middle = x + _WIDTH // 2
    kind = None if one.takes else "input"
    return joined(
        element("rect", class_=kind, x=x, y=y, width=_WIDTH, height=_HEIGHT, rx=5),
        element("text", one.name, x=middle, y=y + 19),
        element("text", one.type, class_="type", x=middle, y=y + 35),
    )


def _arrow(start: tuple[int, int], end: tuple[int, int]) -> Markup:
    x, y = start[0] + _WIDTH, start[1] + _HEIGHT // 2
    to_x, to_y = end[0], end[1] + _HEIGHT // 2
    bend = _ACROSS // 2
    return element("path", d=f"M{x} {y} C{to_x - bend} {y} {to_x - bend} {to_y} {to_x} {to_y}")
