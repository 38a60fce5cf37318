"""An open receipt as the browser gets it: the content of `page.py` as plain, bounded data.

scripts/readers.py generates the browser's side, labextension/src/record/openreceipt.ts, from these types. The
strip, the messages and the head are not among them, because the browser draws them itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record.bounds import Said
from jupyter_mlgpu.record.decoding import Share
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.show.page import view
from jupyter_mlgpu.show.page.model import Table
from jupyter_mlgpu.show.page.view import READ_CELL, SENTENCE, ChartData, TableData
from jupyter_mlgpu.show.receipts import page


@dataclass(frozen=True, slots=True)
class SampledLineData:
    """A line of code, in this cell or the one with execution count `cell`, and its share of samples."""

    line: int
    share: Share
    low: Share
    high: Share
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class OpenReceiptData:
    """The parts of an open receipt in reading order. Empty parts have nothing to show.

    A row of `lines` belongs to the line of code at the same index of `sampled_lines`. `versions` are those of
    the loaded packages.
    """

    left_out: tuple[Said, ...] = ()
    answer: Said = ""
    doubt: Said = ""
    advice: Said = ""
    evidence: TableData | None = None
    lines: TableData | None = None
    sampled_lines: tuple[SampledLineData, ...] = ()
    where_title: Said = ""
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
    """Return the open receipt of a record. `cut` counts the parts that were left out of it."""
    shown = page.of(record, cut)
    lines = record.lines[: view.ROWS]
    return OpenReceiptData(
        _said(shown.left_out),
        view.cut(shown.answer, SENTENCE),
        view.cut(shown.doubt, SENTENCE),
        view.cut(shown.advice, SENTENCE),
        _table(shown.evidence),
        _table(shown.lines),
        tuple(SampledLineData(one.line, one.share, one.low, one.high, one.cell) for one in lines),
        page.WHERE,
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
