"""An open receipt as the browser gets it when somebody opens one: `page.py`'s, in plain data and bounded.

The browser's side, labextension/src/record/openreceipt.ts, is made of the types here by scripts/readers.py.
What it draws itself is not among them: the strip, messages, and what is seen of a receipt that is closed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record.bounds import MaybeSaid, Said
from jupyter_mlgpu.record.decoding import Share
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.show.page import view
from jupyter_mlgpu.show.page.model import Table
from jupyter_mlgpu.show.page.view import READ_CELL, SENTENCE, ChartData, TableData
from jupyter_mlgpu.show.receipts import page


@dataclass(frozen=True, slots=True)
class TimeBarData:
    """A time, its figure, and the part of the longest one that it is."""

    name: MaybeSaid
    figure: MaybeSaid
    part: Share


@dataclass(frozen=True, slots=True)
class SampledLineData:
    """A line of code, of the cell itself or of the one with that execution count: its share of samples."""

    line: int
    share: Share
    low: Share
    high: Share
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class OpenReceiptData:
    """The parts of an open receipt in reading order; empty where there is nothing to say.

    A row of `lines` stands for the line of code at the same place of `sampled_lines`. `versions` are those of
    what was loaded.
    """

    left_out: tuple[Said, ...] = ()
    bars: tuple[TimeBarData, ...] = ()
    answer: Said = ""
    advice: Said = ""
    evidence: TableData | None = None
    lines: TableData | None = None
    sampled_lines: tuple[SampledLineData, ...] = ()
    places: tuple[Said, ...] = ()
    work: tuple[TableData, ...] = ()
    roof: ChartData | None = None
    under_roof: TableData | None = None
    profiled: Said = ""
    operations: tuple[TableData, ...] = ()
    messages_title: Said = ""
    measured_title: Said = ""
    measured: TableData | None = None
    facts: TableData | None = None
    versions: Said = ""
    missing_title: Said = ""
    missing: tuple[Said, ...] = ()


def data(record: Record, cut: Mapping[str, int] | None = None) -> OpenReceiptData:
    """The open receipt of a record; `cut` counts what was left out of that."""
    shown = page.of(record, cut)
    lines = record.lines[: view.ROWS]
    return OpenReceiptData(
        _said(shown.left_out),
        tuple(TimeBarData(one.name, one.figure, one.part) for one in shown.bars),
        view.cut(shown.answer, SENTENCE),
        view.cut(shown.advice, SENTENCE),
        _table(shown.evidence),
        _table(shown.lines),
        tuple(SampledLineData(one.line, one.share, one.low, one.high, one.cell) for one in lines),
        _said(shown.places),
        _tables(shown.work),
        view.chart(shown.roof) if shown.roof and shown.roof.series else None,
        _table(shown.under_roof),
        shown.profiled,
        _tables(shown.operations),
        shown.messages_title,
        page.MEASURED,
        _table(shown.measured),
        _table(shown.facts),
        ", ".join(f"{registry.title(name)} {version}" for name, version in sorted(record.versions.items())),
        shown.missing_title,
        _said(shown.missing),
    )


def _said(sentences: Sequence[str]) -> tuple[str, ...]:
    return tuple(view.cut(one, SENTENCE) for one in sentences[: view.ROWS])


def _tables(shown: Sequence[Table]) -> tuple[TableData, ...]:
    return tuple(view.table(one, READ_CELL) for one in shown[: view.PARTS])


def _table(shown: Table | None) -> TableData | None:
    return view.table(shown, READ_CELL) if shown and shown.rows else None
