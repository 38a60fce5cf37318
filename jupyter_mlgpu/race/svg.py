"""The chart of a race as SVG, drawn here: it needs no plotly, and it can be kept as a small file."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from jupyter_mlgpu.markup import Markup, element, style
from jupyter_mlgpu.race import page
from jupyter_mlgpu.race.figure import label
from jupyter_mlgpu.render.figures import COLOURS

if TYPE_CHECKING:
    from jupyter_mlgpu.race.result import Lane, RaceResult

# In points of the drawing: its size, and where the axes stand.
_WIDTH, _HEIGHT = 720, 440
_LEFT, _RIGHT, _TOP, _BOTTOM = 80, 690, 96, 390

_STYLE = """
text { font: 12px sans-serif; fill: #1f2328; text-anchor: middle; }
.left { text-anchor: start; } .right { text-anchor: end; } .bold { font-weight: bold; }
.grid { stroke: #d1d9e0; } .axis { stroke: #59636e; }
.cross { stroke: #1f2328; stroke-dasharray: 6 4; }
"""

Scale = Callable[[float], float]


def draw(result: RaceResult) -> Markup:
    """Time against size, both logarithmic; without sizes a bar a device from 0 on. On white, so that it can
    be read on any page."""
    lanes = [one for one in result.lanes if one.timings]
    body = _curves(result, lanes) if result.variable is not None else _bars(lanes)
    told = " ".join([page.head(result), *page.sentences(result)])
    title = [page.head(result), *page.sentences(result)][:2]
    return element(
        "svg",
        element("title", told),
        style(_STYLE),
        element("rect", width=_WIDTH, height=_HEIGHT, rx=6, fill="#ffffff", stroke="#d1d9e0"),
        *(
            element("text", _short(line), class_="left" if row else "left bold", x=16, y=22 + 17 * row)
            for row, line in enumerate(title)
        ),
        *_legend(lanes),
        *body,
        xmlns="http://www.w3.org/2000/svg",
        width=_WIDTH,
        height=_HEIGHT,
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        role="img",
    )


def _curves(result: RaceResult, lanes: Sequence[Lane]) -> list[Markup]:
    sizes = [one.size or 1 for lane in lanes for one in lane.timings]
    times = _times(lanes)
    if not times:
        return []
    along = _decades(min(sizes), max(sizes))
    up = _decades(min(times), max(times))
    x, y = _log(along, _LEFT, _RIGHT), _log(up, _BOTTOM, _TOP)
    parts: list[Markup] = []
    for one in range(along[0], along[1] + 1):
        parts += _vertical(x(10.0**one), page.number(10.0**one))
    for one in range(up[0], up[1] + 1):
        parts += _horizontal(y(10.0**one), page.duration(10.0**one))
    parts.append(_text((_LEFT + _RIGHT) / 2, _HEIGHT - 14, result.variable or ""))
    for number, crossing in enumerate(result.crossovers):
        if crossing.size is not None:
            across = x(crossing.size)
            parts.append(_path([(across, _TOP), (across, _BOTTOM)], class_="cross"))
            side, shift = ("left", 6) if across < (_LEFT + _RIGHT) / 2 else ("right", -6)
            words = label(crossing.large, crossing.size, result.variable or "")
            parts.append(_text(across + shift, _TOP + 12 + 15 * number, words, side))
    for number, lane in enumerate(lanes):
        colour = COLOURS[number % len(COLOURS)]
        timings = [one for one in sorted(lane.timings, key=lambda one: one.size or 0) if one.median > 0]
        points = [(x(one.size or 1), y(one.median)) for one in timings]
        if points:
            parts.append(_path(points, stroke=colour, stroke_width="2"))
        for timing, (across, down) in zip(timings, points, strict=True):
            if timing.interval is not None and timing.interval[0] > 0:
                parts.append(_error_bar(across, y(timing.interval[0]), y(timing.interval[1]), colour))
            parts.append(element("circle", cx=f"{across:.1f}", cy=f"{down:.1f}", r="3.5", fill=colour))
    return parts


def _bars(lanes: Sequence[Lane]) -> list[Markup]:
    times = _times(lanes)
    if not times:
        return []
    highest = max(times) * 1.1
    y: Scale = lambda value: _BOTTOM - (_BOTTOM - _TOP) * value / highest  # noqa: E731
    step = 10.0 ** math.floor(math.log10(highest))
    step = next(one for one in (step / 5, step / 2, step) if highest / one <= 10)
    parts: list[Markup] = []
    for tick in range(11):
        if step * tick <= highest:
            parts += _horizontal(y(step * tick), page.duration(step * tick) if tick else "0")
    room = (_RIGHT - _LEFT) / len(lanes)
    for number, lane in enumerate(lanes):
        one, colour = lane.timings[0], COLOURS[number % len(COLOURS)]
        middle, top = _LEFT + room * (number + 0.5), y(one.median)
        parts.append(
            element(
                "rect",
                x=f"{middle - room / 4:.1f}",
                y=f"{top:.1f}",
                width=f"{room / 2:.1f}",
                height=f"{_BOTTOM - top:.1f}",
                fill=colour,
            )
        )
        if one.interval is not None:
            parts.append(_error_bar(middle, y(one.interval[0]), y(one.interval[1]), "#1f2328"))
        parts.append(_text(middle, _BOTTOM + 18, f"{lane.device}: {page.duration(one.median)}"))
    return parts


def _times(lanes: Sequence[Lane]) -> list[float]:
    """All times that are to be seen, the ends of the spreads among them; in seconds."""
    timings = [one for lane in lanes for one in lane.timings]
    return [time for one in timings for time in (one.median, *(one.interval or ())) if time > 0]


def _decades(low: float, high: float) -> tuple[int, int]:
    """The powers of ten around values, at least two of them."""
    start, end = math.floor(math.log10(low)), math.ceil(math.log10(high))
    return start, max(end, start + 1)


def _log(decades: tuple[int, int], start: float, end: float) -> Scale:
    first, last = decades
    return lambda value: start + (end - start) * (math.log10(value) - first) / (last - first)


def _legend(lanes: Sequence[Lane]) -> list[Markup]:
    room = (_RIGHT - _LEFT) / max(1, len(lanes))
    parts = []
    for number, lane in enumerate(lanes):
        left, colour = _LEFT + room * number, COLOURS[number % len(COLOURS)]
        parts.append(element("rect", x=f"{left:.1f}", y=66, width=14, height=10, fill=colour))
        parts.append(_text(left + 20, 75, lane.device, "left"))
    return parts


def _vertical(x: float, text: str) -> list[Markup]:
    return [_path([(x, _TOP), (x, _BOTTOM)], class_="grid"), _text(x, _BOTTOM + 18, text)]


def _horizontal(y: float, text: str) -> list[Markup]:
    return [_path([(_LEFT, y), (_RIGHT, y)], class_="grid"), _text(_LEFT - 8, y + 4, text, "right")]


def _error_bar(x: float, low: float, high: float, colour: str) -> Markup:
    bar = f"M{x:.1f} {low:.1f}V{high:.1f}M{x - 4:.1f} {low:.1f}h8M{x - 4:.1f} {high:.1f}h8"
    return element("path", d=bar, fill="none", stroke=colour)


def _path(points: Sequence[tuple[float, float]], **look: str) -> Markup:
    line = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    return element("path", d=f"M{line}", fill="none", **look)


def _text(x: float, y: float, text: str, kind: str = "") -> Markup:
    return element("text", text, class_=kind, x=f"{x:.1f}", y=f"{y:.1f}")


def _short(text: str, limit: int = 112) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
