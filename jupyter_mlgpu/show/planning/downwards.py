"""Boxes from top to bottom, as SVG: what a graph of layers looks like. svg.py draws from left to right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jupyter_mlgpu.graphs.planning.layout import Area, Box
from jupyter_mlgpu.graphs.planning.subgraphs import columns
from jupyter_mlgpu.show.markup import Markup, element
from jupyter_mlgpu.show.page.shown import Drawing
from jupyter_mlgpu.show.page.svg import frame, text
from jupyter_mlgpu.show.planning.svg import STYLE

# In points of the drawing.
_WIDTH, _HEIGHT, _ACROSS, _DOWN, _MARGIN, _HEAD = 210, 46, 18, 26, 16, 52


def draw_down(words: str, boxes: Sequence[Box], before: Mapping[str, Sequence[str]]) -> Drawing:
    """The picture, with two sentences above it.

    A box stands below those named in `before`; one without any, just above its first reader. Kinds of boxes
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
    width = max(560, _MARGIN * 2 + max(across.values(), default=1) * (_WIDTH + _ACROSS) - _ACROSS)
    height = _HEAD + (max(rows.values(), default=0) + 1) * (_HEIGHT + _DOWN)
    arrows = [_arrow(areas[one], areas[name]) for name, sources in before.items() for one in sources]
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


def _arrow(start: Area, end: Area) -> Markup:
    x, y, to_x, to_y = start[0] + _WIDTH // 2, start[1] + _HEIGHT, end[0] + _WIDTH // 2, end[1]
    return element("path", d=f"M{x} {y} C{x} {y + _DOWN} {to_x} {to_y - _DOWN} {to_x} {to_y}")
