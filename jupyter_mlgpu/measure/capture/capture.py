"""Assigns every native line, logging record and warning to the cell in which it came.

Output between two cells belongs to none of them. It is passed to `on_late`, never to the next cell.
"""

from __future__ import annotations

import math
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Protocol

from msgspec import Struct

from jupyter_mlgpu.measure.capture.echo import Echo
from jupyter_mlgpu.measure.capture.hooks import PythonHooks
from jupyter_mlgpu.measure.capture.stretch import EXCEPTION, LineReader, Notes, Stretch
from jupyter_mlgpu.measure.capture.tap import Tap
from jupyter_mlgpu.measure.uninterrupted import Uninterrupted
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.native import StreamLines
from jupyter_mlgpu.record.record import LogLine
from jupyter_mlgpu.record.sentence import Sentence, say

#: Most lines of the running cell passed to `on_live` at once, ten times a second. The record has all lines.
LIVE_LINES = 100
#: Number of cells whose raw lines are available.
RAW_CELLS = 1_000
#: Bytes that are read at a cell's end, fifty lines or so. If more wait, they are read later.
AT_THE_END = 8 * 1024
#: Seconds of reading at a time: ten times a second while a cell runs, else one after the other. After a cell
#: this begins so many seconds after its end: until then the kernel replies.
AT_A_TIME = 0.002
AFTER_THE_END = 0.2
IN_A_TERMINAL = say(
    "In a terminal, native code and programs write to the terminal itself: their lines are shown, but not "
    "kept with a cell."
)
#: Seconds for which the end of capturing waits. It may be the end of the kernel.
WHEN_IT_ENDS = 2.0


class HostEnvironment(Protocol):
    """The differences between capturing in a kernel and in a terminal; see `notebook.capture_kernel`."""

    def make_echo(self, descriptor: int, before: int) -> Echo | None:
        """Return the echo of a descriptor; see `stream.MakeEcho`."""

    #: The descriptors to capture, 1 and 2 or none.
    descriptors: Sequence[int]

    def attach(self, tap: Tap, request_begins: Callable[[], None]) -> None:
        """Called when the tap has begun. Call `request_begins` when a front end has code executed."""

    def cell_begins(self, tap: Tap) -> None:
        """Called before a cell runs."""

    def cell_ended(self, tap: Tap) -> None:
        """Called when the cell has ended and all its output has been read."""

    def shown_lines(self) -> Mapping[str, StreamLines]:
        """Return the native lines of the last cell's output by stream, empty if unknown."""

    def detach(self, tap: Tap) -> None:
        """Called before the tap ends."""

    def after_fork_in_child(self, tap: Tap) -> None:
        """Undo `attach` and `cell_begins` in a forked child."""


class _Bytes(Struct, frozen=True):
    """The offsets of a cell's raw bytes by stream."""

    sequence: int
    start: dict[str, int]
    end: dict[str, int]


class _Unread(Struct, frozen=True):
    """A stretch that has ended: that of a cell, or that of the time after it (`late`)."""

    sequence: int | None
    stretch: Stretch
    late: bool


@dataclass(eq=False, repr=False)
class Capture:
    """Captures from `start` to `stop`; `begin_cell` and `end_cell` mark the cells in between.

    `new_reader()` makes the reader of a stretch's lines. Three functions receive the results, mostly on the
    reading thread: `on_live(lines)` for lines of the running cell, `on_late(sequence, notes)` for those after
    a cell (None: after none with a record), and `on_rest(sequence, notes)` for all lines of a cell that had
    too many to be read at its end.
    """

    host_environment: HostEnvironment
    _: KW_ONLY
    now: Callable[[], str]
    new_reader: Callable[[], LineReader]
    on_live: Callable[[tuple[LogLine, ...]], None]
    on_late: Callable[[int | None, Notes], None]
    on_rest: Callable[[int, Notes], None]

    def __post_init__(self) -> None:
        #: True if a cell's end waits until all its lines are read, because later lines would not be shown.
        self.patient = False
        #: Called with the files of native lines by stream, each time that capturing begins.
        self.on_files: Callable[[Mapping[str, int]], None] = lambda files: None
        #: True if lines are captured now.
        self.active = False
        self._begun = False  # True if something must be restored
        self._tap = Tap(
            self.host_environment.descriptors,
            self._on_data,
            on_tick=self._tick,
            on_lost=self._on_lost,
            make_echo=self.host_environment.make_echo,
        )
        self._hooks = PythonHooks(self._on_message)
        self._lock = threading.RLock()
        self._telling = threading.RLock()
        self._stretch = Stretch(self.new_reader)
        self._unread: deque[_Unread] = deque()
        self._after: int | None = None
        self._cell_starts: dict[str, int] | None = None
        self._cells_thread = 0
        self._ended = -math.inf
        self._quiet = True
        self._stretches: deque[_Bytes] = deque(maxlen=RAW_CELLS)
        _end_in_forked_children(self)

    @property
    def missing(self) -> Sentence | None:
        """The reason if native lines are shown but belong to no cell, None if they are captured."""
        return self._tap.paused or (None if self.host_environment.descriptors else IN_A_TERMINAL)

    def start(self) -> None:
        """Begin to capture. `missing` has the reason if that is not possible for native lines."""
        if self.active:
            return
        with Uninterrupted():
            self._restore()
            self._begun = self.active = True
            try:
                self._tap.start()
                self.host_environment.attach(self._tap, self._request_begins)
                self._hooks.start()
                self.on_files(self.files())
            except BaseException:
                self._restore()
                raise

    def stop(self) -> None:
        """End capturing and restore everything. A Ctrl-C takes effect only after that."""
        with Uninterrupted():
            self._restore()
        self.catch_up(WHEN_IT_ENDS)

    def _restore(self) -> None:
        """End what was begun. If an exception of a user's handler cuts this short, the next call goes on."""
        if not self._begun:
            return
        self.active = False
        self._hooks.stop()
        self.host_environment.detach(self._tap)
        self._tap.stop()
        self._begun = False
        self._stretches.clear()
        if self._cell_starts is None:
            self._queue_stretch()

    def begin_cell(self) -> None:
        """Assign all output from now on to the cell that is about to run."""
        if not self.active:
            return
        self._tap.drain()
        with self._lock:
            self._queue_stretch()
            self._cell_starts = self._tap.offsets()
            self._cells_thread = threading.get_ident()
            if self._tap.paused:
                self._stretch.lost(self._tap.paused)
        self.host_environment.cell_begins(self._tap)

    def end_cell(self, sequence: int) -> Callable[[], Notes | None]:
        """End the cell's output; the returned function reads it. `sequence` is the record's.

        The function returns None if there was no output. If there is much to read, it returns a part, and
        `on_rest` receives all of it later.
        """
        if self._cell_starts is None:
            return lambda: None
        if self.active:
            self._tap.check()
            self._tap.drain()
            self.host_environment.cell_ended(self._tap)
        with self._lock:
            if self.active:
                self._stretches.append(_Bytes(sequence, self._cell_starts, self._tap.offsets()))
            self._cell_starts, self._after = None, sequence
            stretch, self._stretch = self._stretch, Stretch(self.new_reader)
        return lambda: self._read_cell(sequence, stretch)

    def _read_cell(self, sequence: int, stretch: Stretch) -> Notes | None:
        if self.patient or stretch.waiting <= AT_THE_END:
            stretch.read()
        notes = stretch.notes()
        self._ended = real_time.monotonic()
        if notes is not None and not notes.whole:
            self._unread.append(_Unread(sequence, stretch, late=False))
        return notes

    def failed(self, text: str) -> None:
        """Add the text of the exception with which the running cell failed, as in its traceback."""
        if text and self._cell_starts is not None:
            with self._lock:
                self._stretch.say("stderr", text, "ERROR", EXCEPTION, self.now())

    def shown_lines(self) -> Mapping[str, StreamLines]:
        """Return the native lines of the last cell's output by stream, empty if unknown."""
        return self.host_environment.shown_lines()

    def abandon_cell(self) -> None:
        """Treat the cell's lines like those between cells, since the cell will have no record."""
        with self._lock:
            self._cell_starts = None

    def begin_command(self) -> None:
        """Assign output from now on to no record: it belongs to a command of ours or comes after it."""
        if self.active:
            self._tap.drain()
            with self._lock:
                self._queue_stretch()
                self._after = None

    def _request_begins(self) -> None:
        """Note that a front end has code executed. If it is a cell of ours, `begin_cell` is called next.

        If the user's code has removed our callbacks, neither that nor the end of the cell before is called.
        """
        if self._cell_starts is not None and self._cells_thread == threading.get_ident():
            self.abandon_cell()
        if self._cell_starts is None:
            self.begin_command()

    def catch_up(self, seconds: float = math.inf) -> None:
        """Read now what waits of cells that have ended. Gives up after so many seconds."""
        until = real_time.perf_counter() + seconds
        while self._read_some() and real_time.perf_counter() < until:
            pass

    def _read_some(self) -> bool:
        with Uninterrupted():  # else a line might be taken from the queue and be in no record
            return self._read_unread(AT_A_TIME)

    def raw(self, sequence: int | None = None) -> list[tuple[int, str, bytes, int]]:
        """Return sequence, stream, raw bytes and number of lost bytes, for each cell (or one) and stream."""
        found = []
        for stretch in self._stretches:
            if sequence is not None and stretch.sequence != sequence:
                continue
            for name, start in stretch.start.items():
                if stretch.end[name] > start:
                    data, gone = self._tap.raw(name, start, stretch.end[name])
                    found.append((stretch.sequence, name, data, gone))
        return found

    def files(self) -> dict[str, int]:
        """Return the descriptors of native lines' files by stream, empty if none are captured."""
        return self._tap.files()

    def offsets(self) -> dict[str, int]:
        """Return the offset up to which each stream has been read, empty if none is captured."""
        return self._tap.offsets()

    def tails(self, most: int, since: Mapping[str, int]) -> dict[str, bytes]:
        """Return the last bytes of each stream: at most `most`, and only after these offsets."""
        return self._tap.tails(most, since)

    def after_fork_in_child(self) -> None:
        """Make a forked child write to where it would have written without capturing."""
        self._lock, self._telling = threading.RLock(), threading.RLock()
        if self._begun:
            self._hooks.stop()
            self.host_environment.after_fork_in_child(self._tap)
            self._tap.after_fork_in_child()

    def _on_data(self, stream: str, data: bytes) -> None:
        with self._lock:
            self._quiet = False
            self._stretch.take(stream, data, self.now())

    def _on_message(self, stream: str, text: str, level: str, origin: str) -> None:
        with self._lock:
            self._quiet = False
            self._stretch.say(stream, text, level, origin, self.now())

    def _on_lost(self, sentence: Sentence) -> None:
        with self._lock:
            self._stretch.lost(sentence)

    def _queue_stretch(self) -> None:
        """Queue the output between two cells, which is complete now, to be read later."""
        with self._lock:
            stretch, self._stretch = self._stretch, Stretch(self.new_reader)
            if not stretch.is_empty:
                self._unread.append(_Unread(self._after, stretch, late=True))

    def _tick(self) -> None:
        """Read a little of what waits; called ten times a second on the reading thread."""
        if real_time.monotonic() - self._ended < AFTER_THE_END:
            return
        while self.active and self._cell_starts is None and self._read_unread(AT_A_TIME):
            real_time.sleep(AT_A_TIME / 2)  # lets other threads run
            self._tap.pump()
        if self._unread and self._read_unread(AT_A_TIME):
            return
        stretch = self._stretch
        quiet, self._quiet = self._quiet, True
        if self._cell_starts is None:
            # A message is complete when nothing follows it for a tick.
            if quiet and not stretch.is_empty:
                with self._lock:
                    if self._cell_starts is None:
                        self._queue_stretch()
                self._read_unread(AT_A_TIME)
            return
        if stretch.read(AT_A_TIME) and quiet:
            stretch.settle()
        lines = stretch.take_new(LIVE_LINES)
        if lines and stretch is self._stretch:
            self.on_live(lines)

    def _read_unread(self, seconds: float) -> bool:
        """Read on in the oldest stretch that has ended. Returns True if there is more to do."""
        with self._telling:
            if not self._unread:
                return False
            oldest = self._unread[0]
            if not oldest.stretch.read(seconds):
                return True
            self._unread.popleft()
            notes = oldest.stretch.notes(late=oldest.late)
            if notes is not None and oldest.late:
                self.on_late(oldest.sequence, notes)
            elif notes is not None and oldest.sequence is not None:
                self.on_rest(oldest.sequence, notes)
            return bool(self._unread)


def _end_in_forked_children(capture: Capture) -> None:
    # Such a registration cannot be undone, so it must not keep the capture alive.
    reference = weakref.ref(capture)

    def after_fork() -> None:
        alive = reference()
        if alive is not None:
            alive.after_fork_in_child()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=after_fork)
