"""Records as plain text: for terminals, logs, and viewers that show nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jupyter_mlgpu.record import cellnumbers, units
from jupyter_mlgpu.record.record import LogLine, Record
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.record.visible import visible
from jupyter_mlgpu.show.page import text
from jupyter_mlgpu.show.page.model import Table
from jupyter_mlgpu.show.receipts import head, limits, notes, operations, repeats, strip, words
from jupyter_mlgpu.show.receipts.head import Head

#: Log lines to act on that a receipt spells out; the others are counted.
ACT_LINES = 10


def receipt(record: Record, cut: Mapping[str, int] | None = None) -> str:
    """The receipt's line, below it notes, what limits the cell, operations, and each log line to act on.

    `cut` counts what was left out for size.
    """
    below = [
        *strip.text(record),
        *record.notes,
        *repeats.strip(record),
        *_limit(record),
        *_operations(record),
        *_to_act_on(record),
        *words.left_out(cut),
    ]
    shown = line(head.of(record, cut))
    return "\n".join([f"[mlgpu] {shown}", *(f"        {one}" for one in below)])


def line(shown: Head) -> str:
    """What is seen of a closed receipt: `error: 3 s · ran on cpu:0 · 2 messages`."""
    said = " · ".join([*shown.figures, *shown.messages])
    return f"{shown.label}: {said}" if shown.label else said


def note(line: LogLine) -> str:
    """A log line's explanation on one line of text."""
    said = visible(" ".join(one for one in (line.meaning or line.text, line.advice) if one))
    times = notes.times(line)
    return f"{notes.VERDICTS[notes.rank(line)]}{f' ({times})' if times else ''}: {' '.join(said.split())}"


def _limit(record: Record) -> list[str]:
    return [] if record.limit is None else [" ".join(visible(limits.answer(record.limit)).split())]


def _to_act_on(record: Record) -> list[str]:
    lines = [line for line in notes.worst_first(record.logs) if notes.to_act_on(line)]
    more = len(lines) - ACT_LINES
    return [*map(note, lines[:ACT_LINES]), *([f"{more:,} more to act on."] if more > 0 else [])]


def _operations(record: Record) -> list[str]:
    if record.mode != "profiled":
        return []
    lines = (line for one in operations.tables(record, 48) for line in text.table(one))
    return [*words.places(record), operations.SENTENCE, *lines]


def table(records: Sequence[Record], called: Mapping[tuple[str, int], str] = {}) -> str:
    """One line a record: number, time and what limits it, CPU time, memory, where it ran, line of code.

    `called` has what people call each record, by its key; else it is what that calls itself.
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
    return "\n".join(text.table(text.spoken(Table(columns, tuple(rows)))))


def _figure(record: Record, quantity: str) -> str:
    reading = record.find(quantity)
    if reading is None:
        return say("not measured")
    return say("profiled") if words.slowed(reading, record) else units.figure(reading)
