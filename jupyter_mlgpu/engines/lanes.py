"""The picture of a collection as SVG: time from left to right, a lane an engine, a colour a name."""

from __future__ import annotations

import base64
import math
from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

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


def draw(timeline: Sequence[Placed], engines: Sequence[int], title: str) -> str:
    """The lanes of these engines, also of those without a record."""
    longest = sorted(timeline, key=lambda one: one.start_ns - one.end_ns)[:MOST]
    end = max((one.end_ns for one in timeline), default=0) or 1
    rows = {engine: _in_rows(longest, engine) for engine in engines}
    colours = _colours(longest)
    parts, top = [], _TOP
    for engine in engines:
        high = _ROW * (1 + max((row for row, _ in rows[engine]), default=0))
        parts.append(f'<rect class="lane" x="{_LEFT}" y="{top}" width="{_RIGHT - _LEFT}" height="{high}"/>')
        parts.append(_text(12, top + 13, f"engine {engine}"))
        for row, one in rows[engine]:
            left, right = _x(one.start_ns, end), _x(one.end_ns, end)
            parts.append(
                f'<rect class="record" x="{left:.1f}" y="{top + row * _ROW + 1}" '
                f'width="{max(0.6, right - left):.1f}" height="{_ROW - 2}" '
                f'fill="{colours.get(one.record.cell.name, COLOURS[-1])}"/>'
            )
        top += high + _GAP
    if len(longest) < len(timeline):
        parts.append(_text(_LEFT, top + 30, f"The {MOST:,} longest of {len(timeline):,} records are drawn."))
    height = top + 40
    return "".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
            f'viewBox="0 0 {_WIDTH} {height}" role="img">',
            f"<title>{escape(title)}</title><style>{_STYLE}</style>",
            f'<rect width="{_WIDTH}" height="{height}" rx="6" fill="#ffffff" stroke="#d1d9e0"/>',
            _text(12, 22, title, "bold"),
            *_legend(colours, others=len({one.record.cell.name for one in longest}) > len(colours)),
            *parts,
            *_ticks(end, top),
            "</svg>\n",
        ]
    )


def image(svg: str, told: str) -> str:
    """A drawing as an image with its text: unlike bare SVG, notebooks show it before one trusts them."""
    data = base64.b64encode(svg.encode(errors="replace")).decode()
    return f'<img src="data:image/svg+xml;base64,{data}" alt="{escape(told)}">'


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


def _legend(colours: dict[str, str], *, others: bool) -> list[str]:
    named = [*colours.items(), *([("others", COLOURS[-1])] if others else [])]
    room = (_RIGHT - 12) / max(1, len(named))
    fits = max(4, int(room / 7) - 3)  # a letter is about 7 points wide
    return [
        f'<rect x="{12 + room * place:.1f}" y="36" width="12" height="10" fill="{colour}"/>'
        + _text(12 + room * place + 17, 45, name if len(name) <= fits else f"{name[: fits - 1]}…")
        for place, (name, colour) in enumerate(named)
    ]


def _ticks(end: int, bottom: int) -> list[str]:
    seconds = end / 1e9
    step = 10.0 ** math.floor(math.log10(seconds))
    # The whole is one to ten steps long, so that one of these gives three to eight.
    step = next(one for one in (step / 5, step / 2, step, 2 * step) if seconds / one <= 8)
    parts = []
    for tick in range(int(seconds / step) + 1):
        x = _x(step * tick * 1e9, end)
        parts.append(f'<path class="grid" d="M{x:.1f} {_TOP - 4}V{bottom}"/>')
        parts.append(_text(x, bottom + 12, words.seconds(step * tick) if tick else "0", "tick"))
    return parts


def _x(moment: float, end: int) -> float:
    return _LEFT + (_RIGHT - _LEFT) * moment / end


def _text(x: float, y: float, text: str, kind: str = "") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'
