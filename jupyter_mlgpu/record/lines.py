"""A record as one line of a records file, and lines read from a file that somebody else may have made.

A line has at most `LINE` bytes and a file `FILE`: Python needs about twenty-five times a line to read it.
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

#: Bytes of a line, its end not counted.
LINE = 1_000_000
#: Bytes of a file: fifty thousand plain records.
FILE = 200_000_000

# What is halved where a line would be too long, what is easiest to miss first, as in a receipt.
_CUT_ORDER = ("ops", "logs", "facts", "notes")


def to_line(record: Record) -> bytes:
    """The record as a line with its end. Raises RecordError where it holds what JSON cannot.

    Of a record too large for a line a part is left out, and one of its notes says how much.
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
        said = with_commas(
            [say("{count} of its {part}", count=count, part=part) for part, count in cut.items()]
        )
        line = to_bytes(
            record.with_note(
                say("Left out when this was saved, because of its size: {parts}.", parts=said)
            ).to_json()
        )
    return line + b"\n"


def from_line(line: bytes) -> Record:
    """Raises UnicodeDecodeError, ValueError, RecursionError or RecordError where a line is no record."""
    return Record.from_json(json.loads(line.decode()))


def lines(file: BinaryIO) -> Iterator[bytes | None]:
    """The lines of a file, one after another in memory; None for one that is too long."""
    while line := file.readline(LINE + 1):
        if len(line) <= LINE or line.endswith(b"\n"):
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = file.readline(LINE)
        yield None
