"""Draws a graph of layers as SVG with boxes from top to bottom. svg.py draws from left to right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jupyter_mlgpu.graphs.planning.layout import Area, Box
from jupyter_mlgpu.graphs.planning.routes import Route, routes
from jupyter_mlgpu.graphs.planning.subgraphs import columns
from jupyter_mlgpu.show.markup import Markup, element
from jupyter_mlgpu.show.page.rendering import Drawing
from jupyter_mlgpu.show.page.svg import frame, text
from jupyter_mlgpu.show.planning.svg import STYLE, curve, extent

# In points of the drawing.
_WIDTH, _HEIGHT, _ACROSS, _DOWN, _MARGIN, _HEAD = 210, 46, 18, 26, 16, 52


def draw_down(words: str, boxes: Sequence[Box], before: Mapping[str, Sequence[str]]) -> Drawing:
    """Return the drawing, with two sentences above it.

    A box is below those named in `before`. A box without any is just above its first reader. Kinds of boxes
    are `given` (grey), `shared` (blue) and `own` (green).
    """
    rows = columns([box.name for box in boxes], before.__getitem__)
    for box in boxes:
        readers = [rows[name] for name, sources in before.items() if box.name in sources]
        if not before[box.name] and readers:
            rows[box.name] = max(min(readers) - 1, 0)
    across: dict[int, int] = {}
    areas: dict[str, Area] = {}
    for box in sorted(boxes, key=lambda one: one.kind == "given"):
        row = rows[box.name]
        left = _MARGIN + across.get(row, 0) * (_WIDTH + _ACROSS)
        areas[box.name] = (left, _HEAD + row * (_HEIGHT + _DOWN), _WIDTH, _HEIGHT)
        across[row] = across.get(row, 0) + 1
    ways = _downwards(areas, [(one, name) for name, sources in before.items() for one in sources])
    right, down = extent(areas.values(), ways)
    width, height = max(560, right + _MARGIN), down + _DOWN
    arrows = [element("path", d=curve(way, downwards=True)) for way in ways]
    first, _, rest = words.partition(". ")
    lines = [
        text(_MARGIN, 20, f"{first}.", "left", most=len(words)),
        text(_MARGIN, 37, rest, "left", most=len(words)),
    ]
    drawn = [_box(box, areas[box.name]) for box in boxes]
    return Drawing(frame(words, width, height, *lines, *arrows, *drawn, css=STYLE), words)


def _box(box: Box, area: Area) -> Markup:
    x, y, width, height = area
    middle = x + width // 2
    return element(
        "g",
        element("title", box.hover),
        element("rect", class_=box.kind, x=x, y=y, width=width, height=height, rx=4),
        text(middle, y + 19, box.title, most=28),
        text(middle, y + 35, box.subtitle, "small", most=38),
    )


def _downwards(areas: Mapping[str, Area], arrows: Sequence[tuple[str, str]]) -> list[Route]:
    """Return the routes of arrows from the bottom of a box to the top of another.

    They are computed from left to right and then turned.
    """
    turned = {name: (y, x, height, width) for name, (x, y, width, height) in areas.items()}
    return [tuple((x, y) for y, x in way) for way in routes(turned, arrows)]
