"""A receipt as HTML that needs nothing else: it survives nbconvert and viewers that know nothing of us."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from jupyter_mlgpu.record import LogLine, Reading, Record
from jupyter_mlgpu.render import notes, operations, words

# Told apart without colour, which a page of somebody else's may not have.
_MARKS = {"fatal": "✖", "action": "▲", "performance": "◆", "info": "●", "harmless": "✓", "unknown": "?"}


def receipt(record: Record, cut: Mapping[str, int] | None = None) -> str:
    """One line that opens to the notes on the log, and all readings with the reason for each missing one."""
    label = words.label(record)
    line = " · ".join([words.line(record), *notes.summary(record, cut)])
    log = "".join(map(note, notes.worst_first(record.logs)))
    rows = "".join(_row(reading, record) for reading in record.readings if reading.value is not None)
    missing = "".join(f"<div>{escape(sentence)}</div>" for sentence in words.missing(record))
    sentences = "".join(f"<div>{escape(one)}</div>" for one in [*record.notes, *words.left_out(cut)])
    facts = "".join(
        f"<tr><td>{_text(words.fact_title(name))}<td>{_text(words.fact_value(fact.value))}"
        f"<td>{_text(fact.source)}"
        for name, fact in record.facts.items()
    )
    device = record.device.why_missing
    why = f"<div>{escape(device)}</div>" if device else ""
    return (
        f'<details style="font-size:90%;opacity:.85"><summary>'
        f"{'<b>' + escape(label) + '</b>: ' if label else ''}{escape(line)}</summary>"
        f"{sentences}{log}{_operations(record)}{why}<table>{rows}{facts}</table>{missing}</details>"
    )


def note(line: LogLine) -> str:
    """One log line: its verdict, what it means, what to do, and how it was printed."""
    rank = notes.rank(line)
    times = notes.times(line)
    explained = "".join(f"<br>{_text(one)}" for one in (line.meaning, line.advice) if one)
    return (
        f"<div>{_MARKS[rank]} <b>{notes.VERDICTS[rank]}</b>{' ' + times if times else ''}{explained}"
        f'<pre style="white-space:pre-wrap;overflow-wrap:anywhere">{_text(line.text)}</pre></div>'
    )


def _text(text: str) -> str:
    # A notebook file would store each line of a text on a line of its own.
    return escape(notes.visible(text)).replace("\n", "&#10;")


def _operations(record: Record) -> str:
    if record.mode != "profiled":
        return ""
    return f"<div>{operations.SENTENCE}</div>" + "".join(map(_table, operations.tables(record, 80)))


def _table(table: operations.Table) -> str:
    head = "".join(f"<th>{one}" for one in table.header)
    rows = "".join(f"<tr>{''.join(f'<td>{_text(cell)}' for cell in row)}" for row in table.rows)
    more = f"<div>and {table.more:,} more.</div>" if table.more else ""
    return f"<table><caption>{_text(table.title)}</caption><tr>{head}{rows}</table>{more}"


def _row(reading: Reading, record: Record) -> str:
    source = f"{reading.scope}, {escape(reading.source)}"
    return f"<tr><td>{words.title(reading.quantity)}<td>{words.shown(reading, record)}<td>{source}"
