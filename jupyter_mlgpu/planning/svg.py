"""Boxes in frames from left to right, as SVG, and the same in words."""

from __future__ import annotations

from dataclasses import dataclass

from jupyter_mlgpu.markup import Markup, element, image, joined, style
from jupyter_mlgpu.planning.layout import ACROSS, Area, Box, Frame, Scene, areas, key

# In points of the drawing.
_MARGIN, _HEAD = 16, 44

_STYLE = """
text { font: 12px sans-serif; fill: #1f2328; text-anchor: middle; }
.line { text-anchor: start; }
.small { font-size: 10px; fill: #59636e; }
.group { fill: #f6f8fa; stroke: #1f2328; stroke-dasharray: 5 3; }
.own { fill: #ccebc5; stroke: #2e7d32; }
.shared { fill: #dbeafe; stroke: #3a87c8; }
.cpu { fill: #fdd9b5; stroke: #c25b00; }
path { fill: none; stroke: #8c959f; }
"""


@dataclass(frozen=True)
class Picture:
    """A drawing as SVG, and the same in words for who cannot see it."""

    words: str
    drawing: Markup

    @property
    def svg(self) -> str:
        """The drawing as text."""
        return str(self.drawing)

    def __repr__(self) -> str:
        return self.words

    def _repr_html_(self) -> str:
        return str(image(self.drawing, self.words))


def draw(scene: Scene) -> Picture:
    """The picture. A frame stands to the right of those that it has arrows from, and so do boxes in it."""
    words, frames = scene.words, scene.frames
    places = areas(frames, scene.arrows, _MARGIN, _HEAD + 4)
    width = max([820, *(x + w + _MARGIN for x, _, w, _ in places.values())])
    height = max([_HEAD, *(y + h + _MARGIN for _, y, _, h in places.values())])
    half = words.index(":") + 1
    parts = [_frame(frame, places[key(frame, number)]) for number, frame in enumerate(frames)]
    parts += [_arrow(places[start], places[end]) for start, end in scene.arrows]
    parts += [_box(box, places[box.name]) for frame in frames for box in frame.boxes]
    lines = [
        element("text", words[:half], class_="line", x=_MARGIN, y=18),
        element("text", words[half:].strip(), class_="line", x=_MARGIN, y=34),
    ]
    return Picture(words, on_white(words, _STYLE, (width, height), *lines, *parts))


def on_white(words: str, css: str, size: tuple[int, int], *parts: Markup) -> Markup:
    """A drawing on white, `size` is its width and height; `words` say the same."""
    width, height = size
    return element(
        "svg",
        element("title", words),
        style(css),
        element("rect", width=width, height=height, rx=6, style="fill:#ffffff;stroke:#d1d9e0"),
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        width=width,
        height=height,
    )


def _frame(frame: Frame, area: Area) -> Markup:
    x, y, width, height = area
    title = _text(_short(frame.title, 34), x + width // 2, y + 17, "small") if frame.title else None
    return joined(element("rect", class_="group", x=x, y=y, width=width, height=height, rx=6), title)


def _box(box: Box, area: Area) -> Markup:
    x, y, width, height = area
    middle = x + width // 2
    return element(
        "g",
        element("title", f"{box.subtitle}: {box.hover}"),
        element("rect", class_=box.kind, x=x, y=y, width=width, height=height, rx=4),
        _text(_short(box.title, 19), middle, y + 17),
        _text(_short(box.subtitle, 24), middle, y + 31, "small"),
    )


def _text(text: str, x: int, y: int, kind: str | None = None) -> Markup:
    return element("text", text, class_=kind, x=x, y=y)


def _short(name: str, most: int) -> str:
    return name if len(name) <= most else "…" + name[1 - most :]


def _arrow(start: Area, end: Area) -> Markup:
    x, y = start[0] + start[2], start[1] + start[3] // 2
    to_x, to_y = end[0], end[1] + end[3] // 2
    return element("path", d=f"M{x} {y} C{x + ACROSS} {y} {to_x - ACROSS} {to_y} {to_x} {to_y}")
