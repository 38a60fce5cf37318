"""A benchmark's charts as plotly's own data, made without importing plotly, as the race's chart is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jupyter_mlgpu.bench import charts, page
from jupyter_mlgpu.bench.charts import Chart, Series
from jupyter_mlgpu.markup import plotly_text
from jupyter_mlgpu.render.figures import COLOURS

if TYPE_CHECKING:
    from jupyter_mlgpu.bench.run import BenchRun

MIME_TYPE = "application/vnd.plotly.v1+json"

_TEXT = "#777777"
_GRID = "rgba(128,128,128,0.3)"
_HEIGHT = 440


def sizes(run: BenchRun) -> dict[str, Any]:
    """TFLOP/s of gemm against n."""
    return _figure(run, [charts.sizes(run)])


def roofline(run: BenchRun) -> dict[str, Any]:
    """TFLOP/s against operations a byte."""
    return _figure(run, [charts.roofline(run)])


def together(run: BenchRun) -> dict[str, Any]:
    """Both, one below the other, as far as there is something to draw; a notebook's output is one figure."""
    return _figure(run, [one for one in (charts.sizes(run), charts.roofline(run)) if one.series])


def _figure(run: BenchRun, drawn: Sequence[Chart]) -> dict[str, Any]:
    data: list[dict[str, Any]] = []
    axes: dict[str, Any] = {}
    for place, chart in enumerate(drawn):
        number = "" if place == 0 else str(place + 1)
        data += [{**_trace(one), "xaxis": f"x{number}", "yaxis": f"y{number}"} for one in chart.series]
        # From the top down, with room between them for the titles of the axes.
        top, height = 1 - place / len(drawn), 1 / len(drawn)
        axes[f"xaxis{number}"] = {**_AXIS, "title": {"text": plotly_text(chart.x)}, "anchor": f"y{number}"}
        axes[f"yaxis{number}"] = {
            **_AXIS,
            "title": {"text": plotly_text(chart.y)},
            "domain": [top - height * (1 if len(drawn) == 1 else 0.8), top],
        }
    title = " / ".join(one.title for one in drawn)
    return {"data": data, "layout": {**_layout(run, title), "height": _HEIGHT * max(1, len(drawn)), **axes}}


def _trace(one: Series) -> dict[str, Any]:
    colour = _TEXT if one.name == "bandwidth" else COLOURS[one.colour % len(COLOURS)]
    trace: dict[str, Any] = {
        "type": "scatter",
        "name": plotly_text(one.name),
        "x": [point.x for point in one.points],
        "y": [point.y for point in one.points],
        "customdata": [plotly_text(point.label) for point in one.points],
        "hovertemplate": "%{customdata}<extra></extra>",
    }
    if one.kind == "roof":
        return trace | {"mode": "lines", "line": {"color": colour, "dash": "dash", "width": 1.5}}
    if one.kind == "points":
        return trace | {"mode": "markers", "marker": {"color": colour, "size": 8}}
    return trace | {
        "mode": "lines+markers",
        "line": {"color": colour, "width": 2},
        "marker": {"color": colour, "size": 7},
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [0 if point.high is None else point.high - point.y for point in one.points],
            "arrayminus": [0 if point.low is None else point.y - point.low for point in one.points],
            "color": colour,
        },
    }


_AXIS = {
    "type": "log",
    "exponentformat": "power",
    "dtick": 1,
    "gridcolor": _GRID,
    "zeroline": False,
    "linecolor": _TEXT,
    "automargin": True,
}


def _layout(run: BenchRun, title: str) -> dict[str, Any]:
    return {
        "template": "none",
        "title": {
            "text": plotly_text(title, page.head(run)),
            "font": {"size": 13},
            "x": 0,
            "xanchor": "left",
        },
        "font": {"color": _TEXT},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "margin": {"t": 92, "b": 56, "l": 72, "r": 24},
        "legend": {"orientation": "h", "y": 1.08, "x": 0},
    }
