"""Boxes in frames from left to right, as SVG, and the same in words."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from jupyter_mlgpu.planning.subgraphs import columns

# In points of the drawing.
_WIDTH, _HEIGHT, _ACROSS, _DOWN, _PAD, _TITLE, _MARGIN, _HEAD = 150, 40, 26, 10, 12, 16, 16, 44

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

Area = tuple[int, int, int, int]
"""Left, top, width and height."""


@dataclass(frozen=True)
class Box:
    """One box: a name of its own, two lines of text, a colour by kind, and a text on hovering."""

    name: str
    title: str
    subtitle: str
    kind: str
    hover: str


@dataclass(frozen=True)
class Frame:
    """Boxes that belong together. With a name, arrows may go from frame to frame."""

    boxes: tuple[Box, ...]
    title: str = ""
    name: str = ""


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


def draw(words: str, frames: Sequence[Frame], arrows: Iterable[tuple[str, str]]) -> Picture:
    """The picture. A frame stands to the right of those that it has arrows from, and so do boxes in it."""
    arrows = list(arrows)
    areas = _areas(frames, arrows)
    width = max([820, *(x + w + _MARGIN for x, _, w, _ in areas.values())])
    height = max([_HEAD, *(y + h + _MARGIN for _, y, _, h in areas.values())])
    half = words.index(":") + 1
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">',
        f"<title>{escape(words)}</title><style>{_STYLE}</style>",
        f'<rect width="{width}" height="{height}" rx="6" style="fill:#ffffff;stroke:#d1d9e0"/>',
        f'<text class="line" x="{_MARGIN}" y="18">{escape(words[:half])}</text>',
        f'<text class="line" x="{_MARGIN}" y="34">{escape(words[half:].strip())}</text>',
    ]
    parts += [_frame(frame, areas[_key(frame, number)]) for number, frame in enumerate(frames)]
    parts += [_arrow(areas[start], areas[end]) for start, end in arrows]
    parts += [_box(box, areas[box.name]) for frame in frames for box in frame.boxes]
    return Picture(words, "".join([*parts, "</svg>"]))


def _key(frame: Frame, number: int) -> str:
    return frame.name or f"frame {number}"


def _areas(frames: Sequence[Frame], arrows: Sequence[tuple[str, str]]) -> dict[str, Area]:
    """Where each box and each frame stands."""
    frame_of = {box.name: _key(frame, number) for number, frame in enumerate(frames) for box in frame.boxes}
    frame_of |= {_key(frame, number): _key(frame, number) for number, frame in enumerate(frames)}
    before: dict[str, set[str]] = {_key(frame, number): set() for number, frame in enumerate(frames)}
    takes: dict[str, set[str]] = {}
    for start, end in arrows:
        takes.setdefault(end, set()).add(start)
        if frame_of[start] != frame_of[end]:
            before[frame_of[end]].add(frame_of[start])
    along = columns(list(before), before.__getitem__)
    areas: dict[str, Area] = {}
    left = _MARGIN
    for column in range(max(along.values(), default=-1) + 1):
        top, widest = _HEAD + 4, 0
        for number, frame in enumerate(frames):
            if along[_key(frame, number)] == column:
                wide, high = _fill(frame, left, top, takes, areas)
                areas[_key(frame, number)] = (left, top, wide, high)
                top, widest = top + high + _DOWN, max(widest, wide)
        left += widest + _ACROSS
    return areas


def _fill(
    frame: Frame, left: int, top: int, takes: Mapping[str, set[str]], areas: dict[str, Area]
) -> tuple[int, int]:
    """Gives the boxes of a frame their areas; returns its width and height."""
    head = _TITLE if frame.title else 0
    along = columns([box.name for box in frame.boxes], lambda name: takes.get(name, ()))
    rows: Counter[int] = Counter()
    for box in frame.boxes:
        column = along[box.name]
        x = left + _PAD + column * (_WIDTH + _ACROSS)
        areas[box.name] = (x, top + head + _PAD + rows[column] * (_HEIGHT + _DOWN), _WIDTH, _HEIGHT)
        rows[column] += 1
    across, down = max(rows) + 1, max(rows.values())
    wide = 2 * _PAD + across * _WIDTH + (across - 1) * _ACROSS
    return wide, head + 2 * _PAD + down * _HEIGHT + (down - 1) * _DOWN


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
    return f'<path d="M{x} {y} C{x + _ACROSS} {y} {to_x - _ACROSS} {to_y} {to_x} {to_y}"/>'
