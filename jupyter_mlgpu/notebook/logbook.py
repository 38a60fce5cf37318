"""Log messages on their way to the browsers, and those that belong to no cell.

A message that comes between two cells belongs to neither. It is kept with the record of the cell before
it, marked as late; where there is none, it is kept here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from jupyter_mlgpu.kit import Kit
from jupyter_mlgpu.record import LogLine, Record

if TYPE_CHECKING:
    from jupyter_mlgpu.logs.reader import Notes

#: Messages of the running cell that a browser which has just come is told.
RUNNING_LINES = 2_000
#: Messages before the first record that are kept.
EARLY_LINES = 1_000
#: Late messages that are added to one record; more are counted.
LATE_LINES = 1_000

Event = dict[str, Any]


class Logbook:
    """Hears of messages from the capturing thread, of cells from the main one.

    `save(record)` writes a record that has changed to the journal, `push(event)` tells the browsers.
    """

    def __init__(self, kit: Kit, save: Callable[[Record], Record], push: Callable[[Event], None]) -> None:
        self._kit = kit
        self._save = save
        self._push = push
        self._lock = threading.Lock()
        self._sequence: int | None = None
        self._running: list[LogLine] = []
        self._last: tuple[str, int] | None = None
        self._waiting: list[Notes] = []
        self.early: list[LogLine] = []

    def cell_begins(self, sequence: int) -> None:
        """Live messages belong to this cell from now on."""
        with self._lock:
            self._sequence = sequence
            self._running = []

    def cell_ended(self, record: Record) -> None:
        """The record is in the store: what comes now is late."""
        with self._lock:
            self._sequence = None
            self._running = []
            self._last = record.key
            waiting, self._waiting = self._waiting, []
        for notes in waiting:
            self.on_outside(notes)

    def clear(self) -> None:
        """Forget the messages before the first record, too."""
        with self._lock:
            self.early = []

    def running(self) -> list[Event]:
        """The running cell's messages so far, as JSON-ready data."""
        with self._lock:
            return [line.to_json() for line in self._running]

    def on_live(self, lines: tuple[LogLine, ...]) -> None:
        """New messages of the running cell."""
        with self._lock:
            if self._sequence is None:
                return  # its record, with all of them, is being made
            self._running += lines[: RUNNING_LINES - len(self._running)]
            event = {"type": "logs", "sequence": self._sequence, "lines": [one.to_json() for one in lines]}
        self._push(event)

    def on_outside(self, notes: Notes) -> None:
        """Messages that came between cells."""
        with self._lock:
            if self._sequence is not None:
                self._waiting.append(notes)  # they came after a cell whose record is being shown
                return
            last = self._kit.store.get(self._last) if self._last is not None else None
            if last is None:
                new = notes.lines[: EARLY_LINES - len(self.early)]
                self.early += new
        if last is None:
            self._push({"type": "logs", "sequence": None, "lines": [line.to_json() for line in new]})
            return
        room = max(0, LATE_LINES - sum(line.late for line in last.logs))
        said = list(notes.notes)
        if len(notes.lines) > room:
            said.append(f"More than {LATE_LINES:,} messages came after this cell; later ones are not kept.")
        self._kit.store.add(self._save(last.with_logs(notes.lines[:room], notes.facts, said)))
