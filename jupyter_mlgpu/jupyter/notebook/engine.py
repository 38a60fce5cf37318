"""What the extension does otherwise in an engine of ipyparallel: it writes a journal, and says little.

Under a cell with `%%px` each engine shows one line; the records themselves are collected. What an engine has
measured must not end with it, so it writes down what begins and what has ended.
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
    """An engine's own side. Each record of its store is to be given to `write`."""

    def __init__(self, number: int, key: object, run: str) -> None:
        self.number = number
        self._journal: journal.EngineJournal | None = None
        where = journal.folder(key)
        if where is not None:
            try:
                self._journal = journal.EngineJournal(where, number, run)
            except RecordError as error:
                self._stop(error)

    def cell_begins(self, measurement: Measurement) -> None:
        """Write down that a cell has begun."""
        self.write(measurement.begun(journal.UNFINISHED))

    def write(self, record: Record) -> None:
        """Write a record down; where that fails, it is said once and tried no more."""
        if self._journal is not None:
            try:
                self._journal.append(record)
            except (RecordError, OSError) as error:
                self._stop(error)

    def clear(self) -> None:
        """What was forgotten must not come back when the engine dies."""
        if self._journal is not None:
            self._journal.clear()

    def _stop(self, error: Exception) -> None:
        self._journal = None
        say_on_stderr(
            f"jupyter_mlgpu no longer saves records of engine {self.number} ({redact(str(error))}): "
            "if the engine dies, records not yet collected are lost."
        )


def find(kernel: Any, run: str) -> EngineSide | None:
    """The engine that a kernel is; None for a notebook's own kernel, and for a terminal."""
    number = getattr(kernel, "engine_id", None)
    if not isinstance(number, int) or number < 0:
        return None
    return EngineSide(number, getattr(getattr(kernel, "session", None), "key", None), run)


def line(record: Record) -> dict[str, Any]:
    """An engine's receipt: one line. With four engines, four receipts would hide what the cell printed."""
    said = text.line(head.of(record))
    return {
        "text/html": str(element("div", said, style="font-size:90%;opacity:.85")),
        "text/plain": f"[mlgpu] {said}",
    }
