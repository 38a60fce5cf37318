"""A page as a notebook keeps it for our own view in JupyterLab: bounded, and where every number stands.

The browser's side, labextension/src/page/pagetypes.ts, is made of the types here by scripts/readers.py.
What does not fit is counted below its table, or in a note; a result that can be saved has all of it in its
file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from jupyter_mlgpu.record.bounds import MaybeSaid, Most, Otherwise, Said
from jupyter_mlgpu.record.redact import shorten
from jupyter_mlgpu.record.sentence import Sentence, joined, say_count
from jupyter_mlgpu.show.page import axes
from jupyter_mlgpu.show.page.chart import Axis, Chart, Mark, Point, Series
from jupyter_mlgpu.show.page.model import Kind, Live, Page, Part, Picture, Table

MIME_TYPE = "application/vnd.jupyter-mlgpu.page+json"

#: Raised whenever a field changes its meaning or goes away.
SCHEMA = 1

#: Sentences and tables, rows of a table, its columns, charts, series of one, all points of one, rules, notes.
PARTS, ROWS, COLUMNS, CHARTS, SERIES, POINTS, RULES, NOTES = 40, 100, 24, 8, 24, 1_000, 24, 40
#: Characters of a sentence, of what stands in a table or at an axis, and of what a point says.
SENTENCE, CELL, LABEL = 600, 160, 80

#: What the browser reads of a page, which may be of a later version: rows of a table, points of a line and
#: parts, charts, lines of one, its bars, and characters of a cell.
READ_ITEMS, READ_CHARTS, READ_LINES, READ_BARS, READ_CELL = 400, 8, 32, 1_000, 300

_Many = Most(READ_ITEMS)


#: A point's x and y, the ends of its spread, and what it says when it is pointed at.
PointData = tuple[float, float, float | None, float | None, MaybeSaid]
#: The number of its series, its place and how thick it is there, where it starts and ends.
BarData = tuple[int, float, float, float, float]
#: A number and what is written there.
TickData = tuple[float, MaybeSaid]
#: What cannot be read is an empty cell: the others keep their columns.
Row = tuple[Annotated[Said, Most(READ_CELL), Otherwise("")], ...]


@dataclass(frozen=True, slots=True)
class TableData:
    """`figures` are the numbers of the columns of numbers; with `summary` the table is folded under it."""

    columns: Annotated[tuple[Said, ...], _Many]
    rows: Annotated[tuple[Row, ...], _Many]
    figures: tuple[int, ...] = ()
    caption: Said = ""
    below: Said = ""
    summary: Said = ""


@dataclass(frozen=True, slots=True)
class AxisData:
    """It goes from `low` at the left, or at the foot, to `high`."""

    title: MaybeSaid
    log: bool
    low: float
    high: float
    ticks: tuple[TickData, ...] = ()


@dataclass(frozen=True, slots=True)
class SeriesData:
    """Points of one name; equal colours belong together. `dashed` was not measured here."""

    name: MaybeSaid
    mark: Mark
    colour: Annotated[int, Otherwise(0)]
    dashed: bool
    points: Annotated[tuple[PointData, ...], _Many] = ()


@dataclass(frozen=True, slots=True)
class RuleData:
    """A line across the chart, and between which values it lies."""

    at: float
    low: float | None
    high: float | None
    label: Said = ""


@dataclass(frozen=True, slots=True)
class ChartData:
    """`words` say what it says; `lies`: values go from left to right."""

    title: Annotated[tuple[Said, ...], Otherwise(())]
    x: AxisData
    y: AxisData
    series: Annotated[tuple[SeriesData, ...], Most(READ_LINES)]
    bars: Annotated[tuple[BarData, ...], Most(READ_BARS)] = ()
    rules: tuple[RuleData, ...] = ()
    words: Said = ""
    notes: tuple[Said, ...] = ()
    lies: bool = False


@dataclass(frozen=True, slots=True)
class PageData:
    """The answer in one sentence, parts and details in reading order; charts say the same as the tables."""

    kind: Kind
    title: MaybeSaid
    headline: MaybeSaid
    parts: Annotated[tuple[Said | Live | TableData, ...], _Many]
    charts: Annotated[tuple[ChartData, ...], Most(READ_CHARTS)] = ()
    details: tuple[TableData, ...] = ()
    notes: tuple[Said, ...] = ()
    schema: int = SCHEMA


def data(shown: Page) -> PageData:
    """What the browser gets of a page."""
    charts = [one for one in shown.charts if one.series]
    return PageData(
        shown.kind,
        cut(shown.title, CELL),
        cut(shown.headline, SENTENCE),
        tuple(one for part in shown.parts[:PARTS] for one in _part(part)),
        tuple(map(chart, charts[:CHARTS])),
        tuple(table(one) for one in shown.details[:PARTS] if one.rows),
        tuple(_notes(shown, charts)),
    )


def table(shown: Table, cell: int = CELL) -> TableData:
    """A table of as many rows as a page shows, and what is left out in its last line.

    `cell` is how many characters of a cell are kept.
    """
    most = min(ROWS, ROWS if shown.most is None else shown.most)
    rows, below = shown.rows[:most], [shown.below] if shown.below else []
    if len(shown.rows) > most:
        count = len(shown.rows) - most
        below.append(say_count("{count} more row is not shown.", "{count} more rows are not shown.", count))
    return TableData(
        _cells(shown.columns, cell),
        tuple(_cells(row, cell) for row in rows),
        tuple(place for place, one in enumerate(shown.columns[:COLUMNS]) if one in shown.figures),
        cut(shown.caption, SENTENCE),
        joined(*below),
        cut(shown.summary, SENTENCE),
    )


def cut(text: str, limit: int) -> str:
    """At most so many characters; a sentence that is longer is an English text, its beginning."""
    if isinstance(text, Sentence) and len(text) <= limit:
        return text if text.isascii() else text.map(_whole)
    return _whole(shorten(text, limit))


def _whole(text: str) -> str:
    # Half of a surrogate pair, as a name may hold, is no UTF-8.
    return text.encode(errors="replace").decode()


def _notes(shown: Page, charts: Sequence[Chart]) -> Iterator[str]:
    """What stands below, and how much of the page is left out."""
    yield from (cut(one, SENTENCE) for one in shown.notes[:NOTES])
    if more := max(0, len(shown.notes) - NOTES):
        yield say_count("{count} more note is not shown.", "{count} more notes are not shown.", more)
    if more := sum(max(0, len(one.series) - SERIES) for one in charts[:CHARTS]):
        yield say_count("{count} more line is not drawn.", "{count} more lines are not drawn.", more)


def _cells(row: Sequence[str], limit: int) -> tuple[str, ...]:
    return tuple(cut(one, limit) for one in row[:COLUMNS])


def _part(part: Part) -> Sequence[str | TableData | Live]:
    match part:
        case Table():
            return [table(part)] if part.rows else []
        case Picture():
            return [cut(part.words, SENTENCE) if part.live is None else part.live()]
    return [cut(part, SENTENCE)]


def chart(shown: Chart) -> ChartData:
    """A chart with as many lines and points as a page shows."""
    series = shown.series[:SERIES]
    numbers = {id(one): number for number, one in enumerate(series)}
    return ChartData(
        tuple(cut(one, SENTENCE) for one in shown.title),
        _axis(shown, shown.x),
        _axis(shown, shown.y),
        tuple(_series(shown, one, POINTS // len(series)) for one in series),
        tuple(
            (numbers[id(one.series)], one.place, one.thick, one.start, one.end)
            for one in axes.bars(shown)
            if id(one.series) in numbers
        ),
        tuple(RuleData(one.at, one.low, one.high, cut(one.label, CELL)) for one in shown.rules[:RULES]),
        cut(shown.words, SENTENCE),
        tuple(cut(one, SENTENCE) for one in shown.notes),
        shown.lies,
    )


def _axis(chart: Chart, axis: Axis) -> AxisData:
    drawn = axes.scale(chart, axis, 0, 1)
    ticks = tuple((at, cut(label, CELL)) for at, label in axes.ticks(axis, drawn))
    return AxisData(cut(axis.title, CELL), drawn.log, drawn.low, drawn.high, ticks)


def _series(chart: Chart, one: Series, most: int) -> SeriesData:
    drawn = () if one.mark == "span" else one.points  # spans are among the bars
    points = [_point(chart, point) for point in drawn if axes.has_place(chart, point)]
    return SeriesData(cut(one.name, CELL), one.mark, one.colour, one.dashed, tuple(points[:most]))


def _point(chart: Chart, one: Point) -> PointData:
    low, high = axes.spread(chart, one) or (None, None)
    return one.x, one.y, low, high, cut(one.label, LABEL)
