"""Writes a record as one line of a records file, and reads lines from files that may come from other people.

A line has at most `LINE` bytes and a file at most `FILE`. Python needs about twenty-five times the size of a
line to read it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from msgspec.structs import replace

from jupyter_mlgpu.record.decoding import to_bytes
from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import say, with_commas

#: Most bytes of a line, without its end.
LINE = 1_000_000
#: Most bytes of a file: fifty thousand plain records.
FILE = 200_000_000

# The parts that are halved if a line is too long. The least important comes first, as in a receipt.
_CUT_ORDER = ("ops", "logs", "facts", "notes")


def to_line(record: Record) -> bytes:
    """Return the record as a line with its end. Raises RecordError if it holds what JSON cannot.

    If the record is too large for a line, parts of it are left out, and a note in it says how much.
    """
    line = to_bytes(record.to_json())
    cut: dict[str, int] = {}
    while len(line) > LINE:
        part = next((part for part in _CUT_ORDER if getattr(record, part)), None)
        if part is None:
            raise RecordError(say("it exceeds {size} MB", size=f"{LINE / 1e6:g}"))
        items = getattr(record, part)
        keep = len(items) // 2
        changes: dict[str, Any] = {
            part: dict(list(items.items())[:keep]) if isinstance(items, Mapping) else items[:keep]
        }
        cut[part] = cut.get(part, 0) + len(items) - keep
        record = replace(record, **changes)
        parts = with_commas(
            [say("{count} of its {part}", count=count, part=part) for part, count in cut.items()]
        )
        line = to_bytes(
            record.with_note(
                say("Left out when this was saved, because of its size: {parts}.", parts=parts)
            ).to_json()
        )
    return line + b"\n"


def from_line(line: bytes) -> Record:
    """Return the record in a line.

    Raises UnicodeDecodeError, ValueError, RecursionError or RecordError if the line is not a record.
    """
    return Record.from_json(json.loads(line.decode()))


def lines(file: BinaryIO) -> Iterator[bytes | None]:
    """Yield the lines of a file, one at a time in memory, and None for a line that is too long."""
    while line := file.readline(LINE + 1):
        if len(line) <= LINE or line.endswith(b"\n"):
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = file.readline(LINE)
        yield None
