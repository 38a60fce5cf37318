"""The picture of a collection as SVG: time from left to right, a lane an engine, a colour a name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from jupyter_mlgpu.explain.engines.collection import Placed
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.show.markup import Markup, element
from jupyter_mlgpu.show.page import svg
from jupyter_mlgpu.show.page.chart import COLOURS
from jupyter_mlgpu.show.page.scales import Scale

# In points of the drawing.
_WIDTH, _LEFT, _RIGHT, _TOP = 760, 84, 744, 62
_ROW, _GAP = 18, 12

#: Rows of one lane: a cell, a block in it, a block in that. What lies deeper is drawn in the last.
_DEEPEST = 3

#: Records that are drawn, the longest first: a picture is no table, and it is saved with its notebook.
MOST = 1_500

#: Names with a colour of their own, those that took longest; the others share the last one.
_NAMED = len(COLOURS) - 1

_STYLE = ".lane { fill: #f6f8fa; } .record { stroke: #ffffff; stroke-width: 0.5; }"


def draw(timeline: Sequence[Placed], engines: Sequence[int], title: str) -> Markup:
    """The lanes of these engines, also of those without a record."""
    longest = sorted(timeline, key=lambda one: one.start_ns - one.end_ns)[:MOST]
    # In seconds; the longest of nothing takes as long as nothing.
    end = max((one.end_ns for one in timeline), default=0) / 1e9 or 1e-9
    scale = Scale(0, end, _LEFT, _RIGHT)
    rows = {engine: _in_rows(longest, engine) for engine in engines}
    colours = _colours(longest)
    parts, top = [], _TOP
    for engine in engines:
        high = _ROW * (1 + max((row for row, _ in rows[engine]), default=0))
        parts.append(element("rect", class_="lane", x=_LEFT, y=top, width=_RIGHT - _LEFT, height=high))
        parts.append(svg.text(12, top + 13, say("engine {engine}", engine=str(engine)), "left"))
        for row, one in rows[engine]:
            left, right = scale.place(one.start_ns / 1e9), scale.place(one.end_ns / 1e9)
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
        told = say("The {most} longest of {count} records are drawn.", most=MOST, count=len(timeline))
        parts.append(svg.text(_LEFT, top + 30, told, "left"))
    for tick in scale.ticks():
        x = scale.place(tick)
        parts.append(svg.path([(x, _TOP - 4), (x, top)], class_="grid"))
        parts.append(svg.text(x, top + 12, units.seconds(tick) if tick else "0"))
    legend = _legend(colours, others=len({one.record.cell.name for one in longest}) > len(colours))
    heading = svg.text(12, 22, title, "left bold")
    return svg.frame(title, _WIDTH, top + 40, heading, *legend, *parts, css=_STYLE)


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
        parts.append(svg.text(left + 17, 45, name, "left", most=fits))
    return parts
