"""`chart`: lines over an axis, with plotly where it is available, otherwise as an image and a table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jupyter_mlgpu.record.displayable import Displayable
from jupyter_mlgpu.record.language import translate
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.show.page import chart as charts
from jupyter_mlgpu.show.page import plotly, svg
from jupyter_mlgpu.show.page.chart import Axis, Point, Series
from jupyter_mlgpu.show.page.model import Page, Picture, Table
from jupyter_mlgpu.show.page.rendering import page_of
from jupyter_mlgpu.show.page.scales import written
from jupyter_mlgpu.teach.lessons import recordings

Points = Sequence[tuple[float, float]]

#: Most rows of a table. Longer lines are reduced to this many evenly spaced points.
ROWS = 24
#: An axis begins at 0 if its lowest number is below this part of the highest one. Otherwise the lower half of
#: the chart would be empty.
_NEAR_ZERO = 0.5


@dataclass(frozen=True, repr=False)
class LessonChart(Displayable):
    """A chart of lines; dashed lines were measured on another machine."""

    drawn: charts.Chart

    def svg(self) -> str:
        """Return the chart as an SVG on a white ground."""
        return str(svg.draw(self.drawn))

    def figure(self) -> dict[str, Any]:
        """Return the chart as plotly's `data` and `layout`."""
        return plotly.figure(self.drawn)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {plotly.MIME_TYPE: self.figure()}


@page_of.register
def _page(shown: LessonChart) -> Page:
    picture = Picture(svg.draw(shown.drawn), shown.drawn.words)
    return Page((picture, _table(shown.drawn)), shown.drawn.notes)


def _table(drawn: charts.Chart) -> Table:
    places = sorted({point.x for one in drawn.series for point in one.points})
    if len(places) > ROWS:
        places = [places[round(one * (len(places) - 1) / (ROWS - 1))] for one in range(ROWS)]
    columns = [{point.x: point.y for point in one.points} for one in drawn.series]
    rows = ((written(x), *(written(column[x]) if x in column else "" for column in columns)) for x in places)
    names = (drawn.x.title, *(one.name for one in drawn.series))
    return Table(names, tuple(rows), figures=names, summary=translate(say("The figures")))


def chart(
    name: str,
    *,
    x: str,
    y: str,
    lines: Mapping[str, Points],
    log_x: bool = False,
    log_y: bool = False,
    on_gpus: bool = False,
) -> LessonChart:
    """Return a chart of lines by their names, each a list of (x, y) pairs.

    `x` and `y` label the axes, with the unit. If the package has a recording called `name` and this machine
    has no GPU, the recorded lines are added, dashed, each in the colour of the measured line of the same
    name; with `on_gpus` also on a machine with a GPU. Points that are not finite, and those that a
    logarithmic axis cannot show, are left out, and a note says how many. Raises UsageError if `name` contains
    anything but letters, digits and _.
    """
    own = {line: [(float(one), float(other)) for one, other in points] for line, points in lines.items()}
    recordings.record(name, {"x": x, "y": y, "lines": own})
    recording = recordings.find(name, on_gpus=on_gpus)
    replayed = {} if recording is None else recording.data["lines"]
    colours = {line: number for number, line in enumerate(dict.fromkeys([*own, *replayed]))}
    named = [(line, line, points, False) for line, points in own.items()]
    if recording is not None:
        named += [
            (line, f"{line} ({recording.label})", [(one, other) for one, other in points], True)
            for line, points in replayed.items()
        ]
    series, lost = [], 0
    for line, title, points, dashed in named:
        kept = tuple(Point(*one) for one in points if _can_be_drawn(*one, log_x, log_y))
        lost += len(points) - len(kept)
        series.append(Series(title, kept, colours[line], dashed=dashed))
    notes = [str(recording)] if recording is not None else []
    if lost:
        cannot = say("{count} of the points cannot be drawn on these axes and are left out.", count=str(lost))
        notes.append(translate(cannot))
    names = ", ".join(one.name for one in series) or say("nothing")
    words = translate(say("A chart of {y} over {x}: {names}.", y=y, x=x, names=names))
    axes = Axis(x, log=log_x), Axis(y, log=log_y, zero=not log_y and _near_zero(series))
    return LessonChart(charts.Chart((), *axes, tuple(series), words, notes=tuple(notes)))


def _near_zero(drawn: Sequence[Series]) -> bool:
    heights = [point.y for one in drawn for point in one.points]
    return not heights or min(heights) < _NEAR_ZERO * max(heights)


def _can_be_drawn(x: float, y: float, log_x: bool, log_y: bool) -> bool:
    return math.isfinite(x) and math.isfinite(y) and (x > 0 or not log_x) and (y > 0 or not log_y)
