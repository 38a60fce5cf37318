"""Charts as plotly's data, made without importing plotly, which takes a second.

Names may come from other people's notebooks, and plotly interprets a little HTML in its texts. Therefore all
texts are escaped here. Colours are readable on white and on black.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jupyter_mlgpu.record.redact import shorten
from jupyter_mlgpu.show.markup import plotly_text
from jupyter_mlgpu.show.page import axes
from jupyter_mlgpu.show.page.chart import NEUTRAL, ROOM, Axis, Chart, Point, Series

MIME_TYPE = "application/vnd.plotly.v1+json"

#: Most points of a line that are marked individually.
_MARKED = 48
_GRID = "rgba(128,128,128,0.3)"
_HEIGHT, _ROW, _NOTE = 440, 26, 18
#: Most characters of a name beside an axis, and of a line of the title.
_NAME, _LINE = 40, 100


def figure(*charts: Chart, title: tuple[str, ...] | None = None) -> dict[str, Any]:
    """Return `data` and `layout` of charts below each other, without charts that have nothing to draw.

    `title` is above all of them. The default is that of the first chart.
    """
    drawn = [one for one in charts if one.series]
    first = (drawn or charts)[0]
    notes = [note for one in drawn for note in one.notes]
    high = sum(_high(one) for one in drawn)
    lines = first.title if title is None else title
    layout: dict[str, Any] = {
        "template": "none",
        "title": {
            "text": plotly_text(*(shorten(one, _LINE) for one in lines)),
            "font": {"size": 13},
            "x": 0,
            "xanchor": "left",
        },
        "font": {"color": NEUTRAL},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "height": (high or _HEIGHT * max(1, len(drawn))) + _NOTE * len(notes),
        "margin": {"t": 34 + 29 * len(lines), "b": 56 + _NOTE * len(notes), "l": 72, "r": 24},
        "showlegend": any(series.name for one in drawn for series in one.series),
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        "barmode": "stack" if first.stacked else "group",
        "bargap": 0.25,
    }
    if notes:
        layout["annotations"] = [_note(one, place) for place, one in enumerate(notes)]
    data: list[dict[str, Any]] = []
    for place, one in enumerate(drawn or charts[:1]):
        number = "" if place == 0 else str(place + 1)
        # From top to bottom, with space between charts for the axis titles.
        top, part = 1 - place / max(1, len(drawn)), 1 / max(1, len(drawn))
        points = [point for series in one.series for point in series.points]
        along, up = [point.x for point in points], [point.y for point in points]
        layout[f"xaxis{number}"] = {**_axis(one.x, along), "anchor": f"y{number}"}
        layout[f"yaxis{number}"] = {
            **_axis(one.y, up, downwards=True),
            "domain": [top - part * (1 if len(drawn) < 2 else 0.8), top],
        }
        traces = [*(_trace(series, one) for series in one.series), *_rules(one)]
        data += [{**trace, "xaxis": f"x{number}", "yaxis": f"y{number}"} for trace in traces]
    return {"data": data, "layout": layout}


def _high(chart: Chart) -> int:
    """Return the height of a chart whose rows have names, or 0 for another chart."""
    row = _ROW if chart.stacked else max(_ROW, 14 * len(chart.series) + 10)
    return 90 + 29 * len(chart.title) + row * len(chart.y.names) if chart.lies else 0


def _axis(axis: Axis, values: Sequence[float], *, downwards: bool = False) -> dict[str, Any]:
    look = {"gridcolor": _GRID, "zeroline": False, "linecolor": NEUTRAL, "automargin": True}
    look["title"] = {"text": plotly_text(axis.title)}
    if axis.names:
        # Places are numbers, because two rows may have the same name.
        ends = [-0.5, len(axis.names) - 0.5]
        return look | {
            "tickvals": list(range(len(axis.names))),
            "ticktext": [plotly_text(shorten(one, _NAME)) for one in axis.names],
            "range": ends[::-1] if downwards else ends,
            "showgrid": False,
        }
    if axis.log:
        span = max(values, default=1.0) / min(values, default=1.0)
        # Within a few powers of ten, multiples are labelled too: all, or 2 and 5 times (D1, D2).
        return look | {
            "type": "log",
            "exponentformat": "power",
            "dtick": "D1" if span < 10 else "D2" if span < 1000 else 1,
        }
    return look | ({"rangemode": "tozero"} if axis.zero else {})


def _trace(one: Series, chart: Chart) -> dict[str, Any]:
    trace: dict[str, Any] = {
        "name": plotly_text(one.name),
        "x": [point.x for point in one.points],
        "y": [point.y for point in one.points],
    }
    if any(point.label for point in one.points):
        trace["customdata"] = [plotly_text(point.label) for point in one.points]
        trace["hovertemplate"] = "%{customdata}<extra></extra>"
    if one.mark == "span":
        return trace | _spans(one, chart)
    if any(point.low is not None for point in one.points):
        along = "x" if chart.lies else "y"
        trace[f"error_{along}"] = _spreads(one, along, NEUTRAL if one.mark == "bar" else one.hue)
    if one.mark == "bar":
        lying = {"orientation": "h"} if chart.lies else {}
        return trace | lying | {"type": "bar", "marker": {"color": one.hue}}
    marked = one.mark != "roof" and len(one.points) <= _MARKED
    modes = [*(["lines"] if one.mark != "points" else []), *(["markers"] if marked else [])]
    return trace | {
        "type": "scatter",
        "mode": "+".join(modes) or "markers",
        "line": {
            "color": one.hue,
            "width": 1.5 if one.mark == "roof" else 2,
            "dash": "dash" if one.dashed else "solid",
        },
        "marker": {
            "color": one.hue,
            "size": 8 if one.mark == "points" else 7,
            **({"symbol": "circle-open"} if one.dashed else {}),
        },
    }


def _spans(one: Series, chart: Chart) -> dict[str, Any]:
    """Return bars from the low to the high end of each point, which plotly expects as base and length."""
    ends = [axes.spread(chart, point) for point in one.points]
    along, orientation = ("x", "h") if chart.lies else ("y", "v")
    return {
        "type": "bar",
        "orientation": orientation,
        "base": [low for low, _ in ends],
        along: [high - low for low, high in ends],
        "width": ROOM / chart.rows,
        "marker": {"color": one.hue},
    }


def _spreads(one: Series, along: str, colour: str) -> dict[str, Any]:
    def value(point: Point) -> float:
        return point.x if along == "x" else point.y

    return {
        "type": "data",
        "symmetric": False,
        "array": [0 if point.high is None else point.high - value(point) for point in one.points],
        "arrayminus": [0 if point.low is None else value(point) - point.low for point in one.points],
        "color": colour,
    }


def _rules(chart: Chart) -> list[dict[str, Any]]:
    ends = (
        [-0.5, len(chart.y.names) - 0.5]
        if chart.lies
        else [point.y for one in chart.series for point in one.points] or [1.0]
    )
    return [
        {
            "type": "scatter",
            "mode": "lines+text",
            "x": [one.at, one.at],
            "y": [min(ends), max(ends)],
            "line": {"color": NEUTRAL, "dash": "dash", "width": 1.5},
            "text": ["", plotly_text(one.label)],
            "textposition": "top center",
            "hoverinfo": "skip",
            "showlegend": False,
        }
        for one in chart.rules
    ]


def _note(text: str, place: int) -> dict[str, Any]:
    """Return an annotation with a sentence under the axis."""
    return {
        "text": plotly_text(text),
        "showarrow": False,
        "xref": "paper",
        "yref": "paper",
        "x": 0,
        "y": 0,
        "xanchor": "left",
        "yanchor": "top",
        "yshift": -48 - _NOTE * place,
        "font": {"size": 11},
    }
