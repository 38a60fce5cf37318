"""The lines of a chart as SVG: it needs no JavaScript and no library."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from jupyter_mlgpu.lessons.axes import Axis, around, written

if TYPE_CHECKING:
    from jupyter_mlgpu.lessons.charts import Line

# In points of the drawing: its size, and where the axes stand.
_WIDTH, _HEIGHT = 720, 360
_LEFT, _RIGHT, _BELOW = 84, 690, 56
_ROW = 18  # of the legend

#: Points of a line that are marked one by one.
_MARKED = 48

_STYLE = """
text { font: 12px sans-serif; fill: #1f2328; text-anchor: middle; }
.left { text-anchor: start; } .right { text-anchor: end; } .grid { stroke: #d1d9e0; fill: none; }
"""


def draw(lines: Sequence[Line], x: str, y: str, *, log_x: bool, log_y: bool, words: str) -> str:
    """The lines over their axes, on white, with a legend above; `words` say the same."""
    top = 34 + _ROW * len(lines)
    bottom = top + _HEIGHT - _BELOW - 40
    height = bottom + _BELOW
    points = [point for one in lines for point in one.points]
    body = [_text(_LEFT, 18, y, "left"), *_legend(lines)]
    if points:
        across = around([one for one, _ in points], _LEFT, _RIGHT, log=log_x)
        up = around([other for _, other in points], bottom, top, log=log_y, zero=True)
        body += [*_grid(across, up, top, bottom), _text((_LEFT + _RIGHT) / 2, height - 12, x)]
        body += [part for one in lines for part in _line(one, across, up)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
        f'viewBox="0 0 {_WIDTH} {height}" role="img"><title>{escape(words)}</title><style>{_STYLE}</style>'
        f'<rect width="{_WIDTH}" height="{height}" rx="6" fill="#ffffff" stroke="#d1d9e0"/>'
        f"{''.join(body)}</svg>"
    )


def _grid(across: Axis, up: Axis, top: float, bottom: float) -> list[str]:
    parts = []
    for one in across.ticks():
        place = across.place(one)
        parts.append(_path([(place, top), (place, bottom)], 'class="grid"'))
        parts.append(_text(place, bottom + 18, written(one)))
    for one in up.ticks():
        place = up.place(one)
        parts.append(_path([(_LEFT, place), (_RIGHT, place)], 'class="grid"'))
        parts.append(_text(_LEFT - 8, place + 4, written(one), "right"))
    return parts


def _line(line: Line, across: Axis, up: Axis) -> list[str]:
    points = [(across.place(x), up.place(y)) for x, y in line.points]
    parts = [_path(points, _look(line))] if len(points) > 1 else []
    if len(points) <= _MARKED:
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{line.colour}"/>' for x, y in points]
    return parts


def _legend(lines: Sequence[Line]) -> list[str]:
    parts = []
    for row, line in enumerate(lines):
        down = 34 + _ROW * row
        parts.append(_path([(_LEFT, down), (_LEFT + 26, down)], _look(line)))
        parts.append(_text(_LEFT + 34, down + 4, line.name, "left"))
    return parts


def _look(line: Line) -> str:
    dashes = ' stroke-dasharray="7 4"' if line.dashed else ""
    return f'stroke="{line.colour}" stroke-width="2" fill="none"{dashes}'


def _path(points: Sequence[tuple[float, float]], look: str) -> str:
    return f'<path d="M{"L".join(f"{x:.1f} {y:.1f}" for x, y in points)}" {look}/>'


def _text(x: float, y: float, text: str, kind: str = "") -> str:
    shown = text if len(text) <= 100 else f"{text[:99]}…"
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(shown)}</text>'
