"""The chart of a collection: time from left to right, a row per engine, a colour per name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from jupyter_mlgpu.explain.engines.collection import Collection, Placed, state
from jupyter_mlgpu.explain.engines.query import EngineReport
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.sentence import Sentence, say
from jupyter_mlgpu.show.page.chart import COLOURS, ROOM, Axis, Chart, Point, Series
from jupyter_mlgpu.show.page.view import CELL, cut

#: Most engines with a row, and most records drawn, the longest first: a notebook stores each of them.
ENGINES, MOST = 64, 600

#: Most levels of nested records: a cell, a block in it, a block in that.
_DEEPEST = 3

#: Names with their own colour, those that took longest. All others share the last colour.
_NAMED = len(COLOURS) - 1

#: The least length of a record, as a part of the whole time. A shorter one would be invisible.
_SHORTEST = 1 / 700


def chart(found: Collection, head: str) -> Chart:
    """Return a chart with a row for each engine on one clock, including engines without a record."""
    engines = found.engines[:ENGINES]
    rows = {one.engine: place for place, one in enumerate(engines)}
    there = [one for one in found.timeline if one.engine in rows]
    longest = sorted(there, key=lambda one: one.start_ns - one.end_ns)[:MOST]
    end = max((one.end_ns for one in longest), default=0) / 1e9
    depths = _with_depths(longest)
    high = 1 + max((depth for _, depth in depths), default=0)
    series: dict[int, list[Point]] = {}
    colours = _colours(longest)
    for one, depth in depths:
        place = rows[one.engine] + (depth - (high - 1) / 2) * ROOM / high
        series.setdefault(colours.get(one.record.cell.name, _NAMED), []).append(_span(one, place, end))
    names = {colour: cut(name, CELL) for name, colour in colours.items()}
    return Chart(
        (head, *not_drawn(found)),
        Axis(say("time since the first record began"), zero=True, written=_written),
        Axis("", names=tuple(map(_lane, engines))),
        tuple(
            Series(names.get(colour, say("others")), tuple(points), colour, "span")
            for colour, points in sorted(series.items())
        ),
        head,
        rows=high,
    )


def not_drawn(found: Collection) -> list[Sentence]:
    """Return sentences about the records and engines that the chart leaves out."""
    sentences = []
    if len(found) > MOST:
        sentences.append(say("The {most} longest of {count} records are drawn.", most=MOST, count=len(found)))
    if len(found.engines) > ENGINES:
        sentences.append(say("The first {most} engines are drawn.", most=ENGINES))
    return sentences


def _lane(one: EngineReport) -> Sentence:
    """Return an engine's name, with its state if it did not answer."""
    name = say("engine {engine}", engine=str(one.engine))
    return name if one.why is None else say("{name}: {state}", name=name, state=state(one))


def _written(seconds: float) -> str:
    return units.seconds(seconds) if seconds else "0"


def _span(one: Placed, place: float, end: float) -> Point:
    """Return a record as a point with start and end in seconds. `end` is the end of all records."""
    start, stop = one.start_ns / 1e9, one.end_ns / 1e9
    name = cut(one.record.cell.name, CELL)
    label = f"{name}: {_written(start)} + {units.seconds(stop - start)}"
    return Point(start, place, label, start, max(stop, start + end * _SHORTEST))


def _with_depths(drawn: Sequence[Placed]) -> list[tuple[Placed, int]]:
    """Return the records by start time, each with the number of its engine's records running then."""
    found: list[tuple[Placed, int]] = []
    ends: dict[int, list[int]] = {}
    for one in sorted(drawn, key=lambda one: (one.start_ns, -one.end_ns)):
        under_way = [end for end in ends.get(one.engine, []) if end > one.start_ns]
        found.append((one, min(len(under_way), _DEEPEST - 1)))
        ends[one.engine] = [*under_way, one.end_ns]
    return found


def _colours(drawn: Sequence[Placed]) -> dict[str, int]:
    took: Counter[str] = Counter()
    for one in drawn:
        took[one.record.cell.name] += one.end_ns - one.start_ns
    return {name: place for place, (name, _) in enumerate(took.most_common(_NAMED))}
