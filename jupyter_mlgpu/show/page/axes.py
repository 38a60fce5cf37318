"""The positions of a chart's points, bars and ticks, common to all drawings of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jupyter_mlgpu.show.page.chart import ROOM, Axis, Chart, Point, Series
from jupyter_mlgpu.show.page.scales import Scale, around


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar from `start` to `end` on the value axis, centred at `place` on the other axis.

    `thick` is its width on the other axis.
    """

    series: Series
    place: float
    thick: float
    start: float
    end: float


def scale(chart: Chart, axis: Axis, start: float, end: float) -> Scale:
    """Return the scale of an axis that covers its numbers or the places of its names.

    `start`, `end` are in points.
    """
    if axis.names:
        # The first name is at the top, or at the left.
        last = len(axis.names) - 0.5
        return Scale(last, -0.5, start, end) if axis is chart.y else Scale(-0.5, last, start, end)
    points = [point for one in chart.series for point in one.points]
    found = [one.x if axis is chart.x else one.y for one in points]
    if (axis is chart.x) == chart.lies:  # the value axis
        found += [one for point in points for one in (point.low, point.high) if one is not None]
        found += [bar.end for bar in bars(chart)]
    if axis is chart.x:
        found += [one.at for one in chart.rules]
    found = [one for one in found if one > 0 or not axis.log] or [1.0]
    return around(found, start, end, log=axis.log, zero=axis.zero)


def ticks(axis: Axis, drawn: Scale) -> list[tuple[float, str]]:
    """Return the numbers, or the places of names, that are written beside an axis, with their texts."""
    if axis.names:
        return [(float(place), name) for place, name in enumerate(axis.names)]
    return [(one, axis.written(one)) for one in drawn.ticks()]


def bars(chart: Chart) -> list[Bar]:
    """Return the bars of a chart: stacked, side by side, or each from its low to its high end."""
    series = [one for one in chart.series if one.mark == "bar"]
    thick = 0.5 if chart.stacked else ROOM / max(1, len(series))
    ends: dict[float, float] = {}
    found = [
        Bar(one, point.y if chart.lies else point.x, ROOM / chart.rows, low, high)
        for one in chart.series
        if one.mark == "span"
        for point in one.points
        for low, high in [spread(chart, point)]
    ]
    for number, one in enumerate(series):
        aside = 0.0 if chart.stacked else (number - (len(series) - 1) / 2) * thick
        for point in one.points:
            place, value = (point.y, point.x) if chart.lies else (point.x, point.y)
            start = ends.get(place, 0.0) if chart.stacked else 0.0
            ends[place] = start + value
            found.append(Bar(one, place + aside, thick, start, start + value))
    return found


def has_place(chart: Chart, point: Point) -> bool:
    """Return True if the point can be drawn. A logarithmic axis has no place for 0."""
    return (point.x > 0 or not chart.x.log) and (point.y > 0 or not chart.y.log)


def spread(chart: Chart, point: Point) -> Sequence[float]:
    """Return the two ends of a point's spread, or nothing if it has none that can be drawn."""
    values = chart.x if chart.lies else chart.y
    if point.low is None or point.high is None or (values.log and point.low <= 0):
        return ()
    return point.low, point.high
