"""`chart`: lines over an axis, to explore with plotly; an image and a table wherever that is not there."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jupyter_mlgpu.lessons import recordings
from jupyter_mlgpu.lessons.axes import written
from jupyter_mlgpu.lessons.linedrawing import draw
from jupyter_mlgpu.lessons.showing import aligned, table
from jupyter_mlgpu.markup import Markup, element, image, joined, plotly_text
from jupyter_mlgpu.render.figures import COLOURS

Points = Sequence[tuple[float, float]]

MIME_TYPE = "application/vnd.plotly.v1+json"

#: Rows of a table; of longer lines, as many points evenly apart.
ROWS = 24

# Contrast of 4.5 to 1 on white, and of 4.2 to 1 on the black of JupyterLab's dark theme.
_TEXT = "#777777"
_GRID = "rgba(128,128,128,0.3)"


@dataclass(frozen=True)
class Line:
    """One line with its name and colour; a dashed one was measured elsewhere."""

    name: str
    points: tuple[tuple[float, float], ...]
    colour: str
    dashed: bool = False


@dataclass(frozen=True)
class Chart:
    """Lines, and what their axes mean; `notes` say what is not seen in them."""

    x: str
    y: str
    lines: tuple[Line, ...]
    log_x: bool
    log_y: bool
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return "\n".join([self._words(), *aligned(self._rows()), *self.notes])

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        rows = self._rows()
        figures = element("details", element("summary", "The figures"), table(rows))
        html = joined(
            image(self._drawing(), self._words()),
            *(element("div", note) for note in self.notes),
            figures if len(rows) > 1 else None,
        )
        return {MIME_TYPE: self.figure(), "text/html": str(html), "text/plain": repr(self)}

    def svg(self) -> str:
        """The chart as an SVG on white, to be read on any page."""
        return str(self._drawing())

    def _drawing(self) -> Markup:
        return draw(self.lines, self.x, self.y, log_x=self.log_x, log_y=self.log_y, words=self._words())

    def figure(self) -> dict[str, Any]:
        """The chart as plotly's `data` and `layout`."""
        axis = {"gridcolor": _GRID, "zeroline": False, "linecolor": _TEXT, "automargin": True}
        layout = {
            "template": "none",
            "font": {"color": _TEXT},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "height": 400 + 20 * len(self.notes),
            "margin": {"t": 40, "b": 56 + 20 * len(self.notes), "l": 72, "r": 24},
            "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
            "showlegend": True,
            "xaxis": {**axis, **_scale(self.log_x), "title": {"text": plotly_text(self.x)}},
            "yaxis": {**axis, **_scale(self.log_y), "title": {"text": plotly_text(self.y)}},
            "annotations": [_note(note, place) for place, note in enumerate(self.notes)],
        }
        return {"data": [_trace(one) for one in self.lines], "layout": layout}

    def _words(self) -> str:
        names = ", ".join(one.name for one in self.lines) or "nothing"
        return f"A chart of {self.y} over {self.x}: {names}."

    def _rows(self) -> tuple[tuple[str, ...], ...]:
        places = sorted({x for one in self.lines for x, _ in one.points})
        if len(places) > ROWS:
            places = [places[round(one * (len(places) - 1) / (ROWS - 1))] for one in range(ROWS)]
        columns = [dict(one.points) for one in self.lines]
        cells = [[written(column[x]) if x in column else "" for column in columns] for x in places]
        lines = [(written(x), *row) for x, row in zip(places, cells, strict=True)]
        return ((self.x, *(one.name for one in self.lines)), *lines)


def chart(
    name: str, *, x: str, y: str, lines: Mapping[str, Points], log_x: bool = False, log_y: bool = False
) -> Chart:
    """Lines by their names, each a list of (x, y); `x` and `y` are what the axes mean, with the unit.

    Where the package has a recording called `name`, and this machine has no GPU, its lines stand beside,
    dashed. Points without a number, and those that a logarithmic axis cannot show, are left out, and a note
    says how many. Raises UsageError where `name` is not made of letters, digits and _.
    """
    own = {line: [(float(one), float(other)) for one, other in points] for line, points in lines.items()}
    recordings.record(name, {"x": x, "y": y, "lines": own})
    recording = recordings.beside(name)
    named = [(line, points, False) for line, points in own.items()]
    if recording is not None:
        replayed = recording.data["lines"].items()
        named += [
            (f"{line} ({recording.label})", [(one, other) for one, other in points], True)
            for line, points in replayed
        ]
    drawn, lost = [], 0
    for number, (line, points, dashed) in enumerate(named):
        kept = tuple(one for one in points if _can_be_drawn(*one, log_x, log_y))
        lost += len(points) - len(kept)
        drawn.append(Line(line, kept, COLOURS[number % len(COLOURS)], dashed))
    notes = [str(recording)] if recording is not None else []
    if lost:
        notes.append(f"{lost} of the points cannot be drawn on these axes and are left out.")
    return Chart(x, y, tuple(drawn), log_x, log_y, tuple(notes))


def _can_be_drawn(x: float, y: float, log_x: bool, log_y: bool) -> bool:
    return math.isfinite(x) and math.isfinite(y) and (x > 0 or not log_x) and (y > 0 or not log_y)


def _scale(log: bool) -> dict[str, Any]:
    return {"type": "log", "exponentformat": "power", "dtick": 1} if log else {}


def _trace(line: Line) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines+markers" if len(line.points) <= 2 * ROWS else "lines",
        "name": plotly_text(line.name),
        "x": [x for x, _ in line.points],
        "y": [y for _, y in line.points],
        "line": {"color": line.colour, "width": 2, "dash": "dash" if line.dashed else "solid"},
        "marker": {"color": line.colour, "size": 7},
    }


def _note(text: str, place: int) -> dict[str, Any]:
    """A sentence under the axis."""
    return {
        "text": plotly_text(text),
        "showarrow": False,
        "xref": "paper",
        "yref": "paper",
        "x": 0,
        "y": 0,
        "xanchor": "left",
        "yanchor": "top",
        "yshift": -48 - 18 * place,
        "font": {"size": 11},
    }
