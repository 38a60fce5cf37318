"""Boxes in frames from left to right, as SVG, and the same in words."""

from __future__ import annotations

from jupyter_mlgpu.graphs.planning.layout import ACROSS, Area, Box, Frame, Scene, areas, key
from jupyter_mlgpu.show.markup import Markup, element, joined
from jupyter_mlgpu.show.page.shown import Drawing
from jupyter_mlgpu.show.page.svg import frame, text

# In points of the drawing.
_MARGIN, _HEAD = 16, 44

#: How boxes look by their kind: operations or layers, and arrows between them.
STYLE = """
.given { fill: #f6f8fa; stroke: #59636e; }
.group { fill: #f6f8fa; stroke: #1f2328; stroke-dasharray: 5 3; }
.own { fill: #ccebc5; stroke: #2e7d32; }
.shared { fill: #dbeafe; stroke: #3a87c8; }
.cpu { fill: #fdd9b5; stroke: #c25b00; }
path { fill: none; stroke: #8c959f; }
"""


def draw(scene: Scene) -> Drawing:
    """The picture. A frame stands to the right of those that it has arrows from, and so do boxes in it."""
    words, frames = scene.words, scene.frames
    places = areas(frames, scene.arrows, _MARGIN, _HEAD + 4)
    width = max([820, *(x + w + _MARGIN for x, _, w, _ in places.values())])
    height = max([_HEAD, *(y + h + _MARGIN for _, y, _, h in places.values())])
    half = words.index(":") + 1
    parts = [_frame(one, places[key(one, number)]) for number, one in enumerate(frames)]
    parts += [_arrow(places[start], places[end]) for start, end in scene.arrows]
    parts += [_box(box, places[box.name]) for one in frames for box in one.boxes]
    lines = [
        text(_MARGIN, 18, words[:half], "left", most=len(words)),
        text(_MARGIN, 34, words[half:].strip(), "left", most=len(words)),
    ]
    return Drawing(frame(words, width, height, *lines, *parts, css=STYLE), words)


def _frame(shown: Frame, area: Area) -> Markup:
    x, y, width, height = area
    title = text(x + width / 2, y + 17, _short(shown.title, 34), "small") if shown.title else None
    return joined(element("rect", class_="group", x=x, y=y, width=width, height=height, rx=6), title)


def _box(box: Box, area: Area) -> Markup:
    x, y, width, height = area
    middle = x + width // 2
    return element(
        "g",
        element("title", f"{box.subtitle}: {box.hover}"),
        element("rect", class_=box.kind, x=x, y=y, width=width, height=height, rx=4),
        text(middle, y + 17, _short(box.title, 19)),
        text(middle, y + 31, _short(box.subtitle, 24), "small"),
    )


def _short(name: str, most: int) -> str:
    return name if len(name) <= most else "…" + name[1 - most :]


def _arrow(start: Area, end: Area) -> Markup:
    x, y = start[0] + start[2], start[1] + start[3] // 2
    to_x, to_y = end[0], end[1] + end[3] // 2
    return element("path", d=f"M{x} {y} C{x + ACROSS} {y} {to_x - ACROSS} {to_y} {to_x} {to_y}")
