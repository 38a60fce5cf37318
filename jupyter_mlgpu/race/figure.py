"""The chart of a race as plotly's own data: time against size, a line a device, the spread as error bars.

Made without importing plotly, which takes a second; `RaceResult.figure` wraps it. Colours and texts are
those that can be read on white and on black.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mlgpu.markup import plotly_text
from jupyter_mlgpu.race import page
from jupyter_mlgpu.render.figures import COLOURS

if TYPE_CHECKING:
    from jupyter_mlgpu.race.result import Lane, RaceResult, Timing

MIME_TYPE = "application/vnd.plotly.v1+json"

#: Contrast of 4.5 to 1 on white, and of 4.2 to 1 on the black of JupyterLab's dark theme.
_TEXT = "#777777"
_GRID = "rgba(128,128,128,0.3)"


def data(result: RaceResult) -> dict[str, Any]:
    """`data` and `layout` as plotly takes them."""
    over = result.variable is not None
    traces = [
        (_line if over else _bar)(lane, COLOURS[number % len(COLOURS)])
        for number, lane in enumerate(result.lanes)
        if lane.timings
    ]
    axis = {"gridcolor": _GRID, "zeroline": False, "linecolor": _TEXT, "automargin": True}
    logarithmic = {"type": "log", "exponentformat": "power", "dtick": 1}
    layout: dict[str, Any] = {
        "template": "none",
        "title": {
            "text": plotly_text(*page.title(result)),
            "font": {"size": 13},
            "x": 0,
            "xanchor": "left",
        },
        "font": {"color": _TEXT},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "height": 440,
        "margin": {"t": 92, "b": 56, "l": 72, "r": 24},
        "legend": {"orientation": "h", "y": 1.08, "x": 0},
        "xaxis": {**axis, **logarithmic, "title": {"text": plotly_text(result.variable or "")}}
        if over
        else axis,
        "yaxis": {**axis, **(logarithmic if over else {"rangemode": "tozero"}), "title": {"text": "seconds"}},
    }
    return {"data": [*traces, *_crossings(result)], "layout": layout}


def _line(lane: Lane, colour: str) -> dict[str, Any]:
    timings = sorted(lane.timings, key=lambda one: one.size or 0)
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": [one.size for one in timings],
        **_values(lane, timings, colour),
        "line": {"color": colour, "width": 2},
        "marker": {"color": colour, "size": 7},
    }


def _bar(lane: Lane, colour: str) -> dict[str, Any]:
    return {
        "type": "bar",
        "x": [plotly_text(lane.device)],
        **_values(lane, list(lane.timings), _TEXT),
        "marker": {"color": colour},
    }


def _values(lane: Lane, timings: list[Timing], colour: str) -> dict[str, Any]:
    between = [one.interval or (one.median, one.median) for one in timings]
    return {
        "name": plotly_text(lane.device),
        "y": [one.median for one in timings],
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [high - one.median for one, (_, high) in zip(timings, between, strict=True)],
            "arrayminus": [one.median - low for one, (low, _) in zip(timings, between, strict=True)],
            "color": colour,
        },
        "customdata": [plotly_text(f"{lane.device}: {page.timed(one)}") for one in timings],
        "hovertemplate": "%{customdata}<extra></extra>",
    }


def _crossings(result: RaceResult) -> list[dict[str, Any]]:
    medians = [one.median for lane in result.lanes for one in lane.timings]
    return [
        {
            "type": "scatter",
            "mode": "lines+text",
            "x": [one.size, one.size],
            "y": [min(medians), max(medians)],
            "line": {"color": _TEXT, "dash": "dash", "width": 1.5},
            "text": ["", plotly_text(label(one.large, one.size, result.variable or ""))],
            "textposition": "top center",
            "hoverinfo": "skip",
            "showlegend": False,
        }
        for one in result.crossovers
        if one.size is not None
    ]


def label(device: str, size: float, variable: str) -> str:
    """What stands at a crossover's dashed line."""
    return f"{device} faster from about {variable} = {page.number(page.estimate(size))}"
