"""The charts of a benchmark as plotly's own data: TFLOP/s against size, and the roofline.

Made without importing plotly, as the race's chart is. The roofline (S. Williams, A. Waterman, D. Patterson,
Communications of the ACM 52(4), 2009) bounds what a program can reach by two measured figures: what products
of matrices reached, and the bandwidth times the operations for each byte that has to move.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from jupyter_mlgpu.bench import page
from jupyter_mlgpu.render import words
from jupyter_mlgpu.render.figures import COLOURS

if TYPE_CHECKING:
    from jupyter_mlgpu.bench.result import Result
    from jupyter_mlgpu.bench.run import BenchRun

MIME_TYPE = "application/vnd.plotly.v1+json"

_TEXT = "#777777"
_GRID = "rgba(128,128,128,0.3)"


def sizes(run: BenchRun) -> dict[str, Any]:
    """TFLOP/s of gemm against n: a line a type, framework and device, with the spread as bars."""
    lines: dict[str, list[Result]] = {}
    for one in run.results:
        if one.case == "gemm" and one.tflops.value is not None:
            lines.setdefault(_name(one, run), []).append(one)
    traces = [
        _line(name, sorted(found, key=lambda one: one.parameters["n"]), COLOURS[number % len(COLOURS)])
        for number, (name, found) in enumerate(lines.items())
    ]
    return {"data": traces, "layout": _layout(run, "Products of n x n matrices", "n", "TFLOP/s")}


def roofline(run: BenchRun) -> dict[str, Any]:
    """TFLOP/s against operations a byte, under a roof for each framework, device and type that has both."""
    points = [one for one in run.results if one.moved and one.tflops.value]
    traces = []
    groups = dict.fromkeys((one.framework, one.device, one.type_ran) for one in points if one.peak_type)
    for number, (framework, device, type_) in enumerate(groups):
        mine = [one for one in points if (one.framework, one.device) == (framework, device)]
        typed = [one for one in mine if one.peak_type and one.type_ran == type_]
        colour = COLOURS[number % len(COLOURS)]
        name = f"{words.framework(framework)} {device} {type_}"
        traces.append(_points(name, typed, colour))
        traces += _roof(
            name, typed, [one.throughput.value or 0.0 for one in mine if one.case == "bandwidth"], colour
        )
    # What moves data stands at the foot of the roof.
    moving = [one for one in points if one.peak_type is None]
    if moving:
        traces.append(_points("bandwidth", moving, _TEXT))
    return {
        "data": traces,
        "layout": _layout(run, "Roofline", "operations a byte that has to move", "TFLOP/s"),
    }


def _roof(
    name: str, typed: Sequence[Result], bandwidths: Sequence[float], colour: str
) -> list[dict[str, Any]]:
    peak = max((one.tflops.value or 0.0 for one in typed if one.case == "gemm"), default=0.0)
    speed = max(bandwidths, default=0.0)
    if not peak or not speed:
        return []
    ridge = peak * 1e12 / speed
    x = [ridge / 1000, ridge, ridge * 100]
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "x": x,
            "y": [min(peak, speed * one / 1e12) for one in x],
            "line": {"color": colour, "dash": "dash", "width": 1.5},
            "name": escape(f"roof of {name}"),
            "hovertemplate": escape(f"{page.three(peak)} TFLOP/s, {page.three(speed / 1e9)} GB/s")
            + "<extra></extra>",
        }
    ]


def _points(name: str, found: Sequence[Result], colour: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": escape(name),
        "x": [(one.flops or 0.0) / (one.moved or 1.0) for one in found],
        "y": [one.tflops.value for one in found],
        "marker": {"color": colour, "size": 8},
        "customdata": [escape(one.label) for one in found],
        "hovertemplate": "%{customdata}: %{y:.3g} TFLOP/s<extra></extra>",
    }


def _line(name: str, found: Sequence[Result], colour: str) -> dict[str, Any]:
    values = [one.tflops.value or 0.0 for one in found]
    # The longest time of the interval is the lowest speed.
    ends = [one.interval or (one.median.value, one.median.value) for one in found]
    scale = [value * (one.median.value or 0.0) for value, one in zip(values, found, strict=True)]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": escape(name),
        "x": [one.parameters["n"] for one in found],
        "y": values,
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [s / (low or 1) - v for s, v, (low, _) in zip(scale, values, ends, strict=True)],
            "arrayminus": [v - s / (high or 1) for s, v, (_, high) in zip(scale, values, ends, strict=True)],
            "color": colour,
        },
        "line": {"color": colour, "width": 2},
        "marker": {"color": colour, "size": 7},
        "customdata": [escape(f"{one.label}: {page.quantity(one.tflops)}") for one in found],
        "hovertemplate": "%{customdata}<extra></extra>",
    }


def _name(one: Result, run: BenchRun) -> str:
    """A line's name: the type, and what else sets it apart in this run."""
    parts = [one.type_asked]
    if len({other.framework for other in run.results}) > 1:
        parts.insert(0, words.framework(one.framework))
    if len({other.device for other in run.results}) > 1:
        parts.append(one.device)
    return " ".join([*parts, *one.options])


def _layout(run: BenchRun, title: str, x: str, y: str) -> dict[str, Any]:
    axis = {
        "type": "log",
        "exponentformat": "power",
        "dtick": 1,
        "gridcolor": _GRID,
        "zeroline": False,
        "linecolor": _TEXT,
        "automargin": True,
    }
    return {
        "template": "none",
        "title": {
            "text": f"{escape(title)}<br>{escape(page.head(run))}",
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
        "xaxis": {**axis, "title": {"text": escape(x)}},
        "yaxis": {**axis, "title": {"text": escape(y)}},
    }
