"""Give every native line, logging record and warning to the cell in which it came.

What comes between two cells belongs to none of them: it is handed to `on_outside`, never to the next
cell.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from jupyter_mlgpu.logs.echo import Echo
from jupyter_mlgpu.logs.hooks import PythonHooks
from jupyter_mlgpu.logs.tap import Tap
from jupyter_mlgpu.record import LogLine

if TYPE_CHECKING:
    from jupyter_mlgpu.logs.reader import LogReader, Notes

#: Lines of the running cell that are told at once, ten times a second; the record has them all.
LIVE_LINES = 100
#: Cells whose raw lines can be asked for.
RAW_CELLS = 1_000


class Surroundings(Protocol):
    """What is special about capturing in a kernel or in a terminal; see `notebook.surroundings`."""

    def make_echo(self, descriptor: int, before: int | None) -> Echo:
        """Where a descriptor's output goes on to; see `logs.tap.MakeEcho`."""

    def attach(self, tap: Tap) -> None:
        """The tap has just begun."""

    def cell_begins(self, tap: Tap) -> None:
        """A cell is about to run."""

    def cell_ended(self, tap: Tap) -> None:
        """The cell has ended and all it wrote has been read."""

    def detach(self, tap: Tap) -> None:
        """The tap is about to end."""

    def after_fork_in_child(self, tap: Tap) -> None:
        """This is a forked child: undo what `attach` and `cell_begins` did."""


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Where a cell's raw bytes lie, by stream."""

    sequence: int
    start: dict[str, int]
    end: dict[str, int]


class Capture:
    """Begins with `start` and ends with `stop`; in between, `begin_cell` and `end_cell` mark the cells.

    `clean` takes out of a text what should not leave this machine. `on_live(lines)` hears of a running
    cell's lines, `on_outside(notes)` of those between cells; both from the reading thread.
    """

    def __init__(
        self,
        surroundings: Surroundings,
        *,
        now: Callable[[], str],
        clean: Callable[[str], str],
        on_live: Callable[[tuple[LogLine, ...]], None],
        on_outside: Callable[[Notes], None],
    ) -> None:
        self._surroundings = surroundings
        self._now = now
        self._clean = clean
        self._on_live = on_live
        self._on_outside = on_outside
        self._tap = Tap(
            (1, 2),
            self._on_data,
            on_tick=self._tick,
            on_lost=self._on_lost,
            make_echo=surroundings.make_echo,
        )
        self._hooks = PythonHooks(self._on_message)
        self._lock = threading.RLock()
        self._reader: LogReader | None = None  # None: nothing has come since the last one
        self._cell_starts: dict[str, int] | None = None
        self._quiet = True
        self._stretches: deque[_Stretch] = deque(maxlen=RAW_CELLS)
        _end_in_forked_children(self)

    @property
    def active(self) -> bool:
        """Whether lines are captured now."""
        return self._tap.active

    def start(self) -> None:
        """Begin to capture; raises OSError where that cannot be done."""
        if self.active:
            return
        self._tap.start()
        self._surroundings.attach(self._tap)
        self._hooks.start()

    def stop(self) -> None:
        """End capturing: everything is put back as it was found."""
        if not self.active:
            return
        self._hooks.stop()
        self._surroundings.detach(self._tap)
        self._tap.stop()
        self._stretches.clear()
        if self._cell_starts is None:
            self._finish_outside()

    def begin_cell(self) -> None:
        """What comes from now on belongs to the cell that is about to run."""
        if not self.active:
            return
        self._tap.drain()
        with self._lock:
            self._cell_starts = None
            self._finish_outside()
            self._cell_starts = self._tap.offsets()
        self._surroundings.cell_begins(self._tap)

    def end_cell(self, sequence: int) -> Notes | None:
        """What came since `begin_cell`; None where nothing came. `sequence` is the record's."""
        if self._cell_starts is None:
            return None
        if self.active:
            self._tap.check()
            self._tap.drain()
            self._surroundings.cell_ended(self._tap)
        with self._lock:
            notes = self._finish_reader(late=False)
            if self.active:
                self._stretches.append(_Stretch(sequence, self._cell_starts, self._tap.offsets()))
            self._cell_starts = None
        return notes

    def abandon_cell(self) -> None:
        """The cell will have no record: its lines count as those between cells."""
        with self._lock:
            self._cell_starts = None

    def raw(self, sequence: int | None = None) -> list[tuple[int, str, bytes, int]]:
        """For each cell (or one) and stream: sequence, stream, its raw bytes, and how many were let go."""
        found = []
        for stretch in self._stretches:
            if sequence is not None and stretch.sequence != sequence:
                continue
            for name, start in stretch.start.items():
                if stretch.end[name] > start:
                    data, gone = self._tap.raw(name, start, stretch.end[name])
                    found.append((stretch.sequence, name, data, gone))
        return found

    def after_fork_in_child(self) -> None:
        """A forked child writes where it would have written without us."""
        self._lock = threading.RLock()
        if self.active:
            self._hooks.stop()
            self._surroundings.after_fork_in_child(self._tap)
            self._tap.after_fork_in_child()

    def _reading(self) -> LogReader:
        if self._reader is None:
            # The catalogue takes a moment to read: who prints no native line never waits for it.
            from jupyter_mlgpu.logs.catalogue import Catalogue
            from jupyter_mlgpu.logs.reader import LogReader

            self._reader = LogReader(Catalogue.load(), clean=self._clean)
        return self._reader

    def _finish_reader(self, *, late: bool) -> Notes | None:
        reader, self._reader = self._reader, None
        return reader.finish(late=late) if reader is not None else None

    def _on_data(self, stream: str, data: bytes) -> None:
        with self._lock:
            self._quiet = False
            self._reading().feed(stream, data, self._now())

    def _on_message(self, stream: str, text: str, level: str, origin: str) -> None:
        with self._lock:
            self._quiet = False
            self._reading().add(stream, text, level=level, origin=origin, time=self._now())

    def _on_lost(self, sentence: str) -> None:
        with self._lock:
            self._reading().lost(sentence)

    def _tick(self) -> None:
        with self._lock:
            lines: tuple[LogLine, ...] = ()
            if self._cell_starts is not None and self._reader is not None:
                if self._quiet:
                    self._reader.settle()
                lines = self._reader.take_new(LIVE_LINES)
            # A message is whole when nothing follows it for a tick.
            settled = self._cell_starts is None and self._quiet
            self._quiet = True
        if lines:
            self._on_live(lines)
        elif settled:
            self._finish_outside()

    def _finish_outside(self) -> None:
        with self._lock:
            notes = self._finish_reader(late=True)
        if notes is not None:
            self._on_outside(notes)


def _end_in_forked_children(capture: Capture) -> None:
    # Such a registration cannot be taken back, so it must not keep the capture alive.
    reference = weakref.ref(capture)

    def after_fork() -> None:
        alive = reference()
        if alive is not None:
            alive.after_fork_in_child()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=after_fork)
