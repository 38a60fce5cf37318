"""The lines of a chart as SVG: it needs no JavaScript and no library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jupyter_mlgpu.lessons.axes import Axis, around, written
from jupyter_mlgpu.markup import Markup, element, style

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


def draw(lines: Sequence[Line], x: str, y: str, *, log_x: bool, log_y: bool, words: str) -> Markup:
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
    return element(
        "svg",
        element("title", words),
        style(_STYLE),
        element("rect", width=_WIDTH, height=height, rx=6, fill="#ffffff", stroke="#d1d9e0"),
        *body,
        xmlns="http://www.w3.org/2000/svg",
        width=_WIDTH,
        height=height,
        viewBox=f"0 0 {_WIDTH} {height}",
        role="img",
    )


def _grid(across: Axis, up: Axis, top: float, bottom: float) -> list[Markup]:
    parts = []
    for one in across.ticks():
        place = across.place(one)
        parts.append(_path([(place, top), (place, bottom)], class_="grid"))
        parts.append(_text(place, bottom + 18, written(one)))
    for one in up.ticks():
        place = up.place(one)
        parts.append(_path([(_LEFT, place), (_RIGHT, place)], class_="grid"))
        parts.append(_text(_LEFT - 8, place + 4, written(one), "right"))
    return parts


def _line(line: Line, across: Axis, up: Axis) -> list[Markup]:
    points = [(across.place(x), up.place(y)) for x, y in line.points]
    parts = [_path(points, **_look(line))] if len(points) > 1 else []
    if len(points) <= _MARKED:
        for x, y in points:
            parts.append(element("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r="3.5", fill=line.colour))
    return parts


def _legend(lines: Sequence[Line]) -> list[Markup]:
    parts = []
    for row, line in enumerate(lines):
        down = 34 + _ROW * row
        parts.append(_path([(_LEFT, down), (_LEFT + 26, down)], **_look(line)))
        parts.append(_text(_LEFT + 34, down + 4, line.name, "left"))
    return parts


def _look(line: Line) -> dict[str, str | None]:
    dashes = "7 4" if line.dashed else None
    return {"stroke": line.colour, "stroke_width": "2", "fill": "none", "stroke_dasharray": dashes}


def _path(points: Sequence[tuple[float, float]], **look: str | None) -> Markup:
    return element("path", d=f"M{'L'.join(f'{x:.1f} {y:.1f}' for x, y in points)}", **look)


def _text(x: float, y: float, text: str, kind: str = "") -> Markup:
    shown = text if len(text) <= 100 else f"{text[:99]}…"
    return element("text", shown, class_=kind, x=f"{x:.1f}", y=f"{y:.1f}")
