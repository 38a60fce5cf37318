"""A page as a notebook stores it for the package's own view in JupyterLab: bounded, with computed positions.

scripts/readers.py generates the browser's side, labextension/src/page/pagetypes.ts, from these types.
Anything that does not fit is counted below its table, or in a note. A result that can be saved has all of it
in its file.
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

#: Raised if a field changes its meaning or is removed.
SCHEMA = 1

#: Most sentences and tables, rows and columns of a table, charts, series of a chart, points, rules and notes.
PARTS, ROWS, COLUMNS, CHARTS, SERIES, POINTS, RULES, NOTES = 40, 100, 24, 8, 24, 1_000, 24, 40
#: Most characters of a sentence, of a cell or an axis label, and of a point's label.
SENTENCE, CELL, LABEL = 600, 160, 80

#: Limits of what the browser reads, for pages of later versions: rows of a table, points of a line and parts;
#: charts; lines of a chart; its bars; characters of a cell.
READ_ITEMS, READ_CHARTS, READ_LINES, READ_BARS, READ_CELL = 400, 8, 32, 1_000, 300

_Many = Most(READ_ITEMS)


#: A point's x and y, the ends of its spread, and its label.
PointData = tuple[float, float, float | None, float | None, MaybeSaid]
#: The number of its series, its place and width there, its start and end.
BarData = tuple[int, float, float, float, float]
#: A number and its text.
TickData = tuple[float, MaybeSaid]
#: A cell that cannot be read is empty, so that the others keep their columns.
Row = tuple[Annotated[Said, Most(READ_CELL), Otherwise("")], ...]


@dataclass(frozen=True, slots=True)
class TableData:
    """A table. `figures` are the indices of the number columns.

    With `summary` the table is folded under it.
    """

    columns: Annotated[tuple[Said, ...], _Many]
    rows: Annotated[tuple[Row, ...], _Many]
    figures: tuple[int, ...] = ()
    caption: Said = ""
    below: Said = ""
    summary: Said = ""


@dataclass(frozen=True, slots=True)
class AxisData:
    """An axis that goes from `low`, at the left or at the bottom, to `high`."""

    title: MaybeSaid
    log: bool
    low: float
    high: float
    ticks: tuple[TickData, ...] = ()


@dataclass(frozen=True, slots=True)
class SeriesData:
    """Points with one name. Equal colours belong together. `dashed`: not measured here."""

    name: MaybeSaid
    mark: Mark
    colour: Annotated[int, Otherwise(0)]
    dashed: bool
    points: Annotated[tuple[PointData, ...], _Many] = ()


@dataclass(frozen=True, slots=True)
class RuleData:
    """A line across the chart, with the interval that contains its value."""

    at: float
    low: float | None
    high: float | None
    label: Said = ""


@dataclass(frozen=True, slots=True)
class ChartData:
    """A chart. `words` is its text alternative. `lies`: values go from left to right."""

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
    """The answer in one sentence, and parts and details in reading order. Charts repeat the tables."""

    kind: Kind
    title: MaybeSaid
    headline: MaybeSaid
    parts: Annotated[tuple[Said | Live | TableData, ...], _Many]
    charts: Annotated[tuple[ChartData, ...], Most(READ_CHARTS)] = ()
    details: tuple[TableData, ...] = ()
    notes: tuple[Said, ...] = ()
    schema: int = SCHEMA


def data(shown: Page) -> PageData:
    """Return the data of a page for the browser."""
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
    """Return a table with at most as many rows as a page shows. Its last line counts the rows left out.

    `cell` is the most characters of a cell.
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
    """Return at most `limit` characters. A longer sentence becomes the beginning of its English text."""
    if isinstance(text, Sentence) and len(text) <= limit:
        return text if text.isascii() else text.map(_whole)
    return _whole(shorten(text, limit))


def _whole(text: str) -> str:
    # A name may contain a lone surrogate, which UTF-8 cannot encode.
    return text.encode(errors="replace").decode()


def _notes(shown: Page, charts: Sequence[Chart]) -> Iterator[str]:
    """Yield the notes, and sentences about what is left out of the page."""
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
    """Return a chart with at most as many lines and points as a page shows."""
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
    drawn = () if one.mark == "span" else one.points  # spans are in the bars
    points = [_point(chart, point) for point in drawn if axes.has_place(chart, point)]
    return SeriesData(cut(one.name, CELL), one.mark, one.colour, one.dashed, tuple(points[:most]))


def _point(chart: Chart, one: Point) -> PointData:
    low, high = axes.spread(chart, one) or (None, None)
    return one.x, one.y, low, high, cut(one.label, LABEL)
