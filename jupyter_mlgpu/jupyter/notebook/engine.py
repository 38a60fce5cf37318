"""The extension's part in an engine of ipyparallel: it writes a journal, and shows one line per cell.

Under a cell with `%%px` each engine shows one line, because the records themselves are collected. An engine's
measurements must survive it, so it writes the start and the record of each cell to a file.
"""

from __future__ import annotations

from typing import Any

from jupyter_mlgpu.explain.engines import journal
from jupyter_mlgpu.measure.recorder import Measurement
from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.redact import redact
from jupyter_mlgpu.record.stderr import say_on_stderr
from jupyter_mlgpu.show.markup import element
from jupyter_mlgpu.show.receipts import head, text


class EngineSide:
    """The journal of one engine; the store calls `write` with each record."""

    def __init__(self, number: int, key: object, run: str) -> None:
        self.number = number
        self._journal: journal.EngineJournal | None = None
        folder = journal.folder(key)
        if folder is not None:
            try:
                self._journal = journal.EngineJournal(folder, number, run)
            except RecordError as error:
                self._stop(error)

    def cell_begins(self, measurement: Measurement) -> None:
        """Write that a cell has begun."""
        self.write(measurement.begun(journal.UNFINISHED))

    def write(self, record: Record) -> None:
        """Write a record; on a failure, print a message once and stop writing."""
        if self._journal is not None:
            try:
                self._journal.append(record)
            except (RecordError, OSError) as error:
                self._stop(error)

    def clear(self) -> None:
        """Clear the journal, so that cleared records do not come back when the engine dies."""
        if self._journal is not None:
            self._journal.clear()

    def _stop(self, error: Exception) -> None:
        self._journal = None
        say_on_stderr(
            f"jupyter_mlgpu no longer saves records of engine {self.number} ({redact(str(error))}): "
            "if the engine dies, records not yet collected are lost."
        )


def find(kernel: Any, run: str) -> EngineSide | None:
    """Return the engine's side if the kernel is an engine; None for a notebook's kernel and a terminal."""
    number = getattr(kernel, "engine_id", None)
    if not isinstance(number, int) or number < 0:
        return None
    return EngineSide(number, getattr(getattr(kernel, "session", None), "key", None), run)


def line(record: Record) -> dict[str, Any]:
    """Return an engine's receipt, one line: four receipts of four engines would hide the cell's output."""
    text_line = text.line(head.of(record))
    return {
        "text/html": str(element("div", text_line, style="font-size:90%;opacity:.85")),
        "text/plain": f"[mlgpu] {text_line}",
    }
