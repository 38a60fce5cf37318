"""The picture of a collection as SVG: time from left to right, a lane an engine, a colour a name."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from jupyter_mlgpu.markup import Markup, element, style
from jupyter_mlgpu.render import words
from jupyter_mlgpu.render.figures import COLOURS

if TYPE_CHECKING:
    from jupyter_mlgpu.engines.collection import Placed

# In points of the drawing.
_WIDTH, _LEFT, _RIGHT, _TOP = 760, 84, 744, 62
_ROW, _GAP = 18, 12

#: Rows of one lane: a cell, a block in it, a block in that. What lies deeper is drawn in the last.
_DEEPEST = 3

#: Records that are drawn, the longest first: a picture is no table, and it is saved with its notebook.
MOST = 1_500

#: Names with a colour of their own, those that took longest; the others share the last one.
_NAMED = len(COLOURS) - 1

_STYLE = """
text { font: 12px sans-serif; fill: #1f2328; text-anchor: start; }
.bold { font-weight: bold; } .tick { text-anchor: middle; } .grid { stroke: #d1d9e0; }
.lane { fill: #f6f8fa; } .record { stroke: #ffffff; stroke-width: 0.5; }
"""


def draw(timeline: Sequence[Placed], engines: Sequence[int], title: str) -> Markup:
    """The lanes of these engines, also of those without a record."""
    longest = sorted(timeline, key=lambda one: one.start_ns - one.end_ns)[:MOST]
    end = max((one.end_ns for one in timeline), default=0) or 1
    rows = {engine: _in_rows(longest, engine) for engine in engines}
    colours = _colours(longest)
    parts, top = [], _TOP
    for engine in engines:
        high = _ROW * (1 + max((row for row, _ in rows[engine]), default=0))
        parts.append(element("rect", class_="lane", x=_LEFT, y=top, width=_RIGHT - _LEFT, height=high))
        parts.append(_text(12, top + 13, f"engine {engine}"))
        for row, one in rows[engine]:
            left, right = _x(one.start_ns, end), _x(one.end_ns, end)
            parts.append(
                element(
                    "rect",
                    class_="record",
                    x=f"{left:.1f}",
                    y=top + row * _ROW + 1,
                    width=f"{max(0.6, right - left):.1f}",
                    height=_ROW - 2,
                    fill=colours.get(one.record.cell.name, COLOURS[-1]),
                )
            )
        top += high + _GAP
    if len(longest) < len(timeline):
        parts.append(_text(_LEFT, top + 30, f"The {MOST:,} longest of {len(timeline):,} records are drawn."))
    height = top + 40
    return element(
        "svg",
        element("title", title),
        style(_STYLE),
        element("rect", width=_WIDTH, height=height, rx=6, fill="#ffffff", stroke="#d1d9e0"),
        _text(12, 22, title, "bold"),
        *_legend(colours, others=len({one.record.cell.name for one in longest}) > len(colours)),
        *parts,
        *_ticks(end, top),
        xmlns="http://www.w3.org/2000/svg",
        width=_WIDTH,
        height=height,
        viewBox=f"0 0 {_WIDTH} {height}",
        role="img",
    )


def _in_rows(timeline: Sequence[Placed], engine: int) -> list[tuple[int, Placed]]:
    """The records of an engine, each with its row: how many others are under way where it begins."""
    found: list[tuple[int, Placed]] = []
    ends: list[int] = []
    for one in sorted(timeline, key=lambda one: (one.start_ns, -one.end_ns)):
        if one.engine == engine:
            ends = [end for end in ends if end > one.start_ns]
            found.append((min(len(ends), _DEEPEST - 1), one))
            ends.append(one.end_ns)
    return found


def _colours(timeline: Sequence[Placed]) -> dict[str, str]:
    took: Counter[str] = Counter()
    for one in timeline:
        took[one.record.cell.name] += one.end_ns - one.start_ns
    return {name: COLOURS[place] for place, (name, _) in enumerate(took.most_common(_NAMED))}


def _legend(colours: dict[str, str], *, others: bool) -> list[Markup]:
    named = [*colours.items(), *([("others", COLOURS[-1])] if others else [])]
    room = (_RIGHT - 12) / max(1, len(named))
    fits = max(4, int(room / 7) - 3)  # a letter is about 7 points wide
    parts = []
    for place, (name, colour) in enumerate(named):
        left = 12 + room * place
        parts.append(element("rect", x=f"{left:.1f}", y=36, width=12, height=10, fill=colour))
        parts.append(_text(left + 17, 45, name if len(name) <= fits else f"{name[: fits - 1]}…"))
    return parts


def _ticks(end: int, bottom: int) -> list[Markup]:
    seconds = end / 1e9
    step = 10.0 ** math.floor(math.log10(seconds))
    # The whole is one to ten steps long, so that one of these gives three to eight.
    step = next(one for one in (step / 5, step / 2, step, 2 * step) if seconds / one <= 8)
    parts = []
    for tick in range(int(seconds / step) + 1):
        x = _x(step * tick * 1e9, end)
        parts.append(element("path", class_="grid", d=f"M{x:.1f} {_TOP - 4}V{bottom}"))
        parts.append(_text(x, bottom + 12, words.seconds(step * tick) if tick else "0", "tick"))
    return parts


def _x(moment: float, end: int) -> float:
    return _LEFT + (_RIGHT - _LEFT) * moment / end


def _text(x: float, y: float, text: str, kind: str = "") -> Markup:
    return element("text", text, class_=kind, x=f"{x:.1f}", y=f"{y:.1f}")
