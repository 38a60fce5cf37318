"""Renders records as plain text: for terminals, logs, and viewers that show nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jupyter_mlgpu.record import cellnumbers, units
from jupyter_mlgpu.record.record import LogLine, Record
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.record.translation import in_language, translated
from jupyter_mlgpu.record.visible import visible
from jupyter_mlgpu.show.page import text
from jupyter_mlgpu.show.page.model import Table
from jupyter_mlgpu.show.receipts import figures_in_words, head, limits, notes, operations, page, strip
from jupyter_mlgpu.show.receipts.head import Head
from jupyter_mlgpu.show.receipts.page import OpenReceipt

#: Most log lines to act on that a receipt writes out. The others are counted.
ACT_LINES = 10


def receipt(record: Record, cut: Mapping[str, int] | None = None, language: str = "en") -> str:
    """Return a record's receipt as plain text. `cut` counts the parts that were left out."""
    return render(record, page.of(record, cut, language))


def render(record: Record, shown: OpenReceipt) -> str:
    """Return the receipt's line, and below it notes, the limit, operations, and each log line to act on."""
    below = [
        *strip.text(record),
        *shown.notes,
        *shown.runs,
        *([" ".join(visible(shown.answer).split())] if shown.answer else []),
        *(_operations(record, shown) if shown.profiled else []),
        *_to_act_on(shown),
        *shown.left_out,
    ]
    return "\n".join([f"[mlgpu] {line(shown.head)}", *(f"        {one}" for one in below)])


def line(shown: Head) -> str:
    """Return the text of a closed receipt: `error: 3 s · 2 messages: 1 to act on · ran on cpu:0`."""
    return f"{shown.label}: {shown.line}" if shown.label else shown.line


def note(line: LogLine, language: str = "en") -> str:
    """Return a log line's explanation on one line of text, after its verdict in a language."""
    explanation = visible(" ".join(one for one in (line.meaning or line.text, line.advice) if one))
    times = notes.times(line)
    verdict = translated(notes.VERDICTS[notes.rank(line)], language)
    return f"{verdict}{f' ({times})' if times else ''}: {' '.join(explanation.split())}"


def _to_act_on(shown: OpenReceipt) -> list[str]:
    lines = [note(one, shown.language) for one in shown.to_act_on[:ACT_LINES]]
    more = len(shown.to_act_on) - ACT_LINES
    return [*lines, *([shown.word(say("{count} more to act on.", count=more))] if more > 0 else [])]


def _operations(record: Record, shown: OpenReceipt) -> list[str]:
    tables = in_language(tuple(operations.tables(record, 48)), shown.language)
    lines = (line for one in tables for line in text.table(one))
    return [*shown.places, shown.profiled, *lines]


def table(records: Sequence[Record], called: Mapping[tuple[str, int], str] = {}) -> str:
    """Return one line per record: number, time and limit, CPU time, memory, devices, line of code.

    `called` maps each record's key to its name. The default is the record's own name.
    """
    if not records:
        return say("No records yet: run a cell with tracing on.")
    rows = (
        (
            called.get(record.key, cellnumbers.name(record)),
            limits.with_kind(_figure(record, "wall_time"), record),
            *(_figure(record, quantity) for quantity in ("cpu_time", "peak_memory_process")),
            ", ".join(filter(None, [head.label(record), head.where(record)])),
            record.cell.name,
        )
        for record in records
    )
    columns = (say("cell"), say("wall"), "CPU", say("peak memory"), say("where"), say("code"))
    return "\n".join(text.table(text.in_current_language(Table(columns, tuple(rows)))))


def _figure(record: Record, quantity: str) -> str:
    reading = record.find(quantity)
    if reading is None:
        return say("not measured")
    return say("profiled") if figures_in_words.is_slowed(reading, record) else units.figure(reading)
