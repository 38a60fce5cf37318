"""A benchmark as a notebook stores it for our own view: its charts, its table and its notes, bounded.

The browser's side of the same contract is labextension/src/bench.ts. The samples themselves are in the run,
and in its file; what is left out here is counted in `cut`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mlgpu.bench import charts, page
from jupyter_mlgpu.redact import shorten

if TYPE_CHECKING:
    from jupyter_mlgpu.bench.charts import Chart, Series
    from jupyter_mlgpu.bench.run import BenchRun

MIME_TYPE = "application/vnd.jupyter-mlgpu.bench+json"

#: Raised whenever a field changes its meaning or goes away.
SCHEMA = 1

#: Rows, series, points of one, notes, and characters of a sentence and of a name.
ROWS, SERIES, POINTS, NOTES = 200, 24, 200, 40
_SENTENCE, _NAME = 600, 120


def data(run: BenchRun) -> dict[str, Any]:
    """The run as JSON-ready data for the browser: texts are English, speeds in TFLOP/s."""
    titles, rows = page.rows(run)
    notes = page.notes(run)
    drawn = [one for one in (charts.sizes(run), charts.roofline(run)) if one.series]
    cut = {
        "results": len(rows) - ROWS,
        "notes": len(notes) - NOTES,
        "series": sum(max(0, len(one.series) - SERIES) for one in drawn),
    }
    return {
        "schema": SCHEMA,
        "name": shorten(", ".join(dict.fromkeys(one.case for one in run.results)), _NAME),
        "head": shorten(page.head(run), _SENTENCE),
        "outcome": run.outcome,
        "titles": titles,
        "rows": [[shorten(cell, _NAME) for cell in row] for row in rows[:ROWS]],
        "charts": [_chart(one) for one in drawn],
        "notes": [shorten(one, _SENTENCE) for one in notes[:NOTES]],
        "cut": {part: count for part, count in cut.items() if count > 0},
    }


def _chart(one: Chart) -> dict[str, Any]:
    return {
        "title": one.title,
        "x": one.x,
        "y": one.y,
        "series": [_series(series) for series in one.series[:SERIES]],
    }


def _series(one: Series) -> dict[str, Any]:
    return {
        "name": shorten(one.name, _NAME),
        "kind": one.kind,
        "colour": one.colour,
        "points": [
            [point.x, point.y, point.low, point.high, shorten(point.label, _NAME)]
            for point in one.points[:POINTS]
        ],
    }
