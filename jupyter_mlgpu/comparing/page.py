"""A comparison as text, as an HTML table, as a chart and as data for the sidebar.

Names of cells are strangers': they are escaped where they become HTML.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from jupyter_mlgpu.markup import Markup, bullets, element, plotly_text, table
from jupyter_mlgpu.render import notes, words
from jupyter_mlgpu.render.figures import COLOURS

if TYPE_CHECKING:
    from jupyter_mlgpu.comparing.compare import Change, Comparison, Sample

ABOUT = (
    "Medians over the runs, lowest and highest in brackets; how many times as large, with its 95 % interval "
    "(Hodges-Lehmann, exact Mann-Whitney)."
)

PROFILED = "Self times of operations, with the profiler on: they are no timings of the cell."

#: Rows of a chart, at most: beyond that nobody reads them.
_ROWS = 30

#: Read on white and on black.
_GREY = "#808080"


def text(comparison: Comparison) -> str:
    """The comparison for a terminal."""
    lines = [f"{comparison.first} and {comparison.second}. {ABOUT}"]
    for pair in comparison.pairs:
        lines += ["", notes.visible(pair.name), *_columns([_header(comparison), *map(_row, pair.changes)])]
        if pair.operations:
            lines += [PROFILED, *_columns([_header(comparison), *map(_row, pair.operations)])]
        lines += pair.notes
    return "\n".join([*lines, *comparison.notes])


def html(comparison: Comparison) -> str:
    """The comparison as tables."""
    parts = [element("p", ABOUT)]
    for pair in comparison.pairs:
        parts += [element("p", element("b", pair.name)), _table(comparison, pair.changes)]
        if pair.operations:
            parts += [element("p", PROFILED), _table(comparison, pair.operations)]
        parts.append(bullets(pair.notes))
    return str(element("div", *parts, bullets(comparison.notes)))


def chart(comparison: Comparison) -> dict[str, Any] | None:
    """The ratios with their intervals as plotly's JSON-ready data; None where none could be judged.

    A point is how many times as large the second side is as the first, on an axis of powers; the line
    at 1 is no difference.
    """
    points = list(_judged(comparison))[:_ROWS]
    if not points:
        return None
    rows = list(range(len(points)))
    ratios = [change.ratio for _, change in points]
    said = [f"{name}: {_row(change)[3]}, {change.verdict}" for name, change in points]
    trace = {
        "type": "scatter",
        "mode": "markers",
        "x": [one.value for one in ratios if one],
        "y": rows,
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [one.high - one.value for one in ratios if one],
            "arrayminus": [one.value - one.low for one in ratios if one],
        },
        "marker": {"color": COLOURS[0], "size": 9},
        "customdata": [plotly_text(one) for one in said],
        "hovertemplate": "%{customdata}<extra></extra>",
    }
    title = f"{comparison.second} as a multiple of {comparison.first}, 95 % interval"
    layout = {
        "template": "none",
        "height": 110 + 26 * len(points),
        "margin": {"l": 8, "r": 24, "t": 16, "b": 48},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "showlegend": False,
        "font": {"color": _GREY},
        "xaxis": {
            "type": "log",
            "title": {"text": plotly_text(title)},
            "automargin": True,
            "fixedrange": True,
        },
        "yaxis": {
            "tickvals": rows,
            "ticktext": [plotly_text(_short(name)) for name, _ in points],
            "range": [len(points) - 0.5, -0.5],
            "automargin": True,
            "fixedrange": True,
            "showgrid": False,
            "zeroline": False,
        },
        "shapes": [
            {
                "type": "line",
                "x0": 1,
                "x1": 1,
                "yref": "paper",
                "y0": 0,
                "y1": 1,
                "line": {"dash": "dot", "color": _GREY},
            }
        ],
    }
    return {"data": [trace], "layout": layout}


def data(comparison: Comparison) -> dict[str, Any]:
    """The comparison as JSON-ready data, for a view that draws it in the user's language.

    `more` is what a row's name has beside its quantity's: the source, or that a profiler was on.
    """
    pairs = [
        {
            "name": pair.name,
            "changes": [_plain(change) for change in pair.changes],
            "operations": [_plain(change) for change in pair.operations],
            "notes": list(pair.notes),
        }
        for pair in comparison.pairs
    ]
    return {"pairs": pairs, "notes": list(comparison.notes)}


def _plain(change: Change) -> dict[str, Any]:
    title = "" if change.quantity is None else words.title(change.quantity)
    return {
        "quantity": change.quantity,
        "more": change.what.removeprefix(title),
        "unit": change.unit,
        "first": _spread(change.first),
        "second": _spread(change.second),
        "ratio": None if change.ratio is None else asdict(change.ratio),
        "judgement": change.judgement,
        "why_not": change.why_not,
    }


def _spread(sample: Sample) -> dict[str, Any] | None:
    if not sample.values:
        return None
    low, high = min(sample.values), max(sample.values)
    return {"median": sample.median, "low": low, "high": high, "runs": len(sample.values)}


def _judged(comparison: Comparison) -> Iterator[tuple[str, Change]]:
    for pair in comparison.pairs:
        for change in (*pair.changes, *pair.operations):
            if change.ratio is not None:
                name = change.what if len(comparison.pairs) == 1 else f"{change.what}, {pair.name}"
                yield name, change


def _header(comparison: Comparison) -> tuple[str, ...]:
    return ("", comparison.first, comparison.second, "times as large", "verdict")


def _row(change: Change) -> tuple[str, ...]:
    times = ""
    if change.ratio is not None:
        found = change.ratio
        times = f"{found.value:.3g} [{found.low:.3g} to {found.high:.3g}]"
    sides = (_sample(side, change.unit) for side in (change.first, change.second))
    return (notes.visible(change.what), *sides, times, change.verdict)


def _sample(sample: Sample, unit: str) -> str:
    if not sample.values:
        return "not measured"
    count = len(sample.values)
    if count == 1:
        return f"{_figure(sample.median, unit)} (1 run)"
    low, high = (_figure(one, unit) for one in (min(sample.values), max(sample.values)))
    between = "" if low == high else f"{low} to {high}, "
    return f"{_figure(sample.median, unit)} ({between}{count} runs)"


def _figure(value: float, unit: str) -> str:
    if unit == "s":
        return words.seconds(value)
    return words.size(value) if unit == "bytes" else f"{value:.3g} {unit}"


def _table(comparison: Comparison, changes: Sequence[Change]) -> Markup:
    return table(_header(comparison), map(_row, changes), cell_style="text-align:left")


def _columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def _short(name: str, limit: int = 40) -> str:
    return name if len(name) <= limit else name[: limit - 1] + "…"
