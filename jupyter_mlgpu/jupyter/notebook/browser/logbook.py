"""Passes log messages to browsers, and keeps those that come between cells.

A message that comes between two cells belongs to neither. It is kept with the record of the cell before it
and marked as late. If there is no such record, or one of our commands ran since, it is kept here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jupyter_mlgpu.jupyter.notebook.capture import native_lines
from jupyter_mlgpu.measure.runtime import Runtime
from jupyter_mlgpu.record.record import LogLine, Record
from jupyter_mlgpu.record.sentence import say

if TYPE_CHECKING:
    from jupyter_mlgpu.measure.capture.stretch import Notes

#: Most messages of the running cell that a new browser gets.
RUNNING_LINES = 2_000
#: Most messages before the first record that are kept.
EARLY_LINES = 1_000
#: Most late messages that are added to one record; further ones are dropped, and a note says so.
LATE_LINES = 1_000

Event = dict[str, Any]


@dataclass(eq=False, repr=False)
class Logbook:
    """Receives messages from the capturing thread and cell events from the main thread.

    `save(record)` writes a changed record to the journal, `push(event)` sends to browsers, and
    `show_again(record)` updates the receipt of a record that now has all its messages.
    """

    runtime: Runtime
    save: Callable[[Record], Record]
    push: Callable[[Event], None]
    show_again: Callable[[Record], None]

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._revising = threading.RLock()  # a record is changed by one thread at a time
        self._sequence: int | None = None
        self._running: list[LogLine] = []
        self._run = ""
        self._waiting: list[Callable[[], None]] = []
        self.early: list[LogLine] = []

    def cell_begins(self, sequence: int) -> None:
        """Assign live messages to this cell from now on."""
        with self._lock:
            self._sequence = sequence
            self._running = []

    def cell_ended(self, record: Record) -> None:
        """Treat messages as late from now on; the record is in the store."""
        with self._lock:
            self._sequence = None
            self._running = []
            self._run = record.run.id
            waiting, self._waiting = self._waiting, []
        for task in waiting:
            task()

    def clear(self) -> None:
        """Drop the messages from before the first record."""
        with self._lock:
            self.early = []

    def running(self) -> list[Event]:
        """Return the running cell's messages so far, JSON-ready."""
        with self._lock:
            return [line.to_json() for line in self._running]

    def on_live(self, lines: tuple[LogLine, ...]) -> None:
        """Push new messages of the running cell."""
        with self._lock:
            if self._sequence is None:
                return  # its record, with all of them, is being made
            self._running += lines[: RUNNING_LINES - len(self._running)]
            event = {"type": "logs", "sequence": self._sequence, "lines": [one.to_json() for one in lines]}
        self.push(event)

    def on_late(self, after: int | None, notes: Notes) -> None:
        """Keep messages that came after the cell with this number; None if after no cell with a record."""
        with self._lock:
            if after is not None and after == self._sequence:  # its record is being made and shown
                self._waiting.append(lambda: self.on_late(after, notes))
                return
            last = self._record_of(after)
            if last is None:
                new = notes.lines[: EARLY_LINES - len(self.early)]
                self.early += new
        if last is None:
            self.push({"type": "logs", "sequence": None, "lines": [line.to_json() for line in new]})
            return
        room = max(0, LATE_LINES - sum(line.late for line in last.logs))
        late_notes = list(notes.notes)
        if len(notes.lines) > room:
            late_notes.append(
                say(
                    "More than {count} messages arrived after this cell; later ones are not kept.",
                    count=LATE_LINES,
                )
            )
        self._revise(last.key, lambda one: one.with_logs(notes.lines[:room], notes.facts, late_notes))

    def on_rest(self, sequence: int, notes: Notes) -> None:
        """Add all messages of a cell that had too many to be read at its end."""
        self.on_change(
            sequence,
            lambda one: native_lines.annotate_again(one.with_all_logs(notes.lines, notes.facts, notes.notes)),
        )

    def on_change(self, sequence: int, change: Callable[[Record], Record]) -> None:
        """Change a cell's record with data that was not known at its end. May be called from any thread."""
        with self._lock:
            if sequence == self._sequence:
                self._waiting.append(lambda: self.on_change(sequence, change))
                return
            record = self._record_of(sequence)
        if record is not None:
            self.show_again(self._revise(record.key, change) or record)

    def _revise(self, key: tuple[str, int], change: Callable[[Record], Record]) -> Record | None:
        with self._revising:
            record = self.runtime.store.get(key)
            if record is None:
                return None
            record = self.save(change(record))
            self.runtime.store.add(record)
            return record

    def _record_of(self, sequence: int | None) -> Record | None:
        return None if sequence is None else self.runtime.store.get((self._run, sequence))
