"""`%mlc_trace logs`: every message of every cell with its explanation, as text or as JSON lines."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence

from jupyter_mlgpu.record import cellnumbers
from jupyter_mlgpu.record.record import LogLine, Record
from jupyter_mlgpu.record.visible import visible

_WIDTH = 100
_RAW_LENGTH = 300
EARLY = "before the first record"


def explained(
    records: Sequence[Record], early: Sequence[LogLine], called: Mapping[tuple[str, int], str] = {}
) -> str:
    """Return the messages by cell, each with its verdict, meaning, advice and original text.

    `called` maps each record's key to its name. The default is the record's own name.
    """
    lines: list[str] = []
    for title, messages in _cells(records, early, called):
        lines.append(title)
        for message in messages:
            lines += _message(message)
    if not lines:
        return "No messages yet: no native lines, logging records or warnings."
    return "\n".join(lines)


def as_json(records: Sequence[Record], early: Sequence[LogLine]) -> str:
    """Return one JSON object per message, as in a record's `logs`, with its `cell` and `record`.

    `cell` is the execution count, null if there is none. `record` is the record's sequence number.
    """
    found: list[tuple[Record | None, LogLine]] = [(None, message) for message in early]
    found += [(record, message) for record in records for message in record.logs]
    return "\n".join(
        json.dumps({**message.to_json(), **_numbers(record)}, ensure_ascii=False) for record, message in found
    )


def _numbers(record: Record | None) -> dict[str, int | None]:
    if record is None:
        return {"cell": None, "record": None}
    return {"cell": record.cell.execution_count, "record": record.cell.sequence}


def _cells(
    records: Sequence[Record], early: Sequence[LogLine], called: Mapping[tuple[str, int], str]
) -> Iterator[tuple[str, Iterable[LogLine]]]:
    if early:
        yield EARLY, early
    for record in records:
        if record.logs:
            yield f"cell {called.get(record.key, cellnumbers.name(record))}: {record.cell.name}", record.logs


def _message(message: LogLine) -> list[str]:
    times = f" x {message.count:,}" if message.count > 1 else ""
    late = ", after the cell had ended" if message.late else ""
    verdict = "not known" if message.verdict == "unknown" else message.verdict
    raw = visible(message.text)
    if len(raw) > _RAW_LENGTH:
        raw = f"{raw[:_RAW_LENGTH]}… [{len(raw):,} characters]"
    lines = [f"  {verdict}{times}{late}"]
    lines += [
        textwrap.fill(visible(sentence), _WIDTH, initial_indent="    ", subsequent_indent="    ")
        for sentence in (message.meaning, message.advice)
        if sentence
    ]
    return [*lines, textwrap.indent(raw, "    | ")]
