"""Boxes in frames from left to right, as SVG, and the same in words."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from html import escape

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
    svg: str

    def __repr__(self) -> str:
        return self.words

    def _repr_html_(self) -> str:
        # An image with its text, rather than bare SVG: notebooks show that before one trusts them, too.
        data = base64.b64encode(self.svg.encode()).decode()
        return f'<img src="data:image/svg+xml;base64,{data}" alt="{escape(self.words)}">'


def draw(scene: Scene) -> Picture:
    """The picture. A frame stands to the right of those that it has arrows from, and so do boxes in it."""
    words, frames = scene.words, scene.frames
    places = areas(frames, scene.arrows, _MARGIN, _HEAD + 4)
    width = max([820, *(x + w + _MARGIN for x, _, w, _ in places.values())])
    height = max([_HEAD, *(y + h + _MARGIN for _, y, _, h in places.values())])
    half = words.index(":") + 1
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">',
        f"<title>{escape(words)}</title><style>{_STYLE}</style>",
        f'<rect width="{width}" height="{height}" rx="6" style="fill:#ffffff;stroke:#d1d9e0"/>',
        f'<text class="line" x="{_MARGIN}" y="18">{escape(words[:half])}</text>',
        f'<text class="line" x="{_MARGIN}" y="34">{escape(words[half:].strip())}</text>',
    ]
    parts += [_frame(frame, places[key(frame, number)]) for number, frame in enumerate(frames)]
    parts += [_arrow(places[start], places[end]) for start, end in scene.arrows]
    parts += [_box(box, places[box.name]) for frame in frames for box in frame.boxes]
    return Picture(words, "".join([*parts, "</svg>"]))


def _frame(frame: Frame, area: Area) -> str:
    x, y, width, height = area
    title = (
        f'<text class="small" x="{x + width // 2}" y="{y + 17}">{escape(_short(frame.title, 34))}</text>'
        if frame.title
        else ""
    )
    return f'<rect class="group" x="{x}" y="{y}" width="{width}" height="{height}" rx="6"/>{title}'


def _box(box: Box, area: Area) -> str:
    x, y, width, height = area
    middle = x + width // 2
    return (
        f"<g><title>{escape(f'{box.subtitle}: {box.hover}')}</title>"
        f'<rect class="{box.kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="4"/>'
        f'<text x="{middle}" y="{y + 17}">{escape(_short(box.title, 19))}</text>'
        f'<text class="small" x="{middle}" y="{y + 31}">{escape(_short(box.subtitle, 24))}</text></g>'
    )


def _short(name: str, most: int) -> str:
    return name if len(name) <= most else "…" + name[1 - most :]


def _arrow(start: Area, end: Area) -> str:
    x, y = start[0] + start[2], start[1] + start[3] // 2
    to_x, to_y = end[0], end[1] + end[3] // 2
    return f'<path d="M{x} {y} C{x + ACROSS} {y} {to_x - ACROSS} {to_y} {to_x} {to_y}"/>'
