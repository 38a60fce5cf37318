"""Give every native line, logging record and warning to the cell in which it came.

What comes between two cells belongs to none of them: it is handed to `on_late`, never to the next
cell.
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

from jupyter_mlgpu.measure.capture.echo import Echo
from jupyter_mlgpu.measure.capture.hooks import PythonHooks
from jupyter_mlgpu.measure.capture.tap import Tap
from jupyter_mlgpu.measure.capture.waiting import EXCEPTION, LineReader, Notes, Stretch
from jupyter_mlgpu.measure.uninterrupted import Uninterrupted
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.native import StreamLines
from jupyter_mlgpu.record.record import LogLine
from jupyter_mlgpu.record.sentence import Sentence, say

#: Lines of the running cell that are told at once, ten times a second; the record has them all.
LIVE_LINES = 100
#: Cells whose raw lines can be asked for.
RAW_CELLS = 1_000
#: Bytes that are read at a cell's end, fifty lines or so; where more wait, they are read after it.
AT_THE_END = 8 * 1024
#: Seconds of reading at a time: ten times a second while a cell runs, else one after the other, so long after
#: its end: until then the kernel is answering.
AT_A_TIME = 0.002
AFTER_THE_END = 0.2
IN_A_TERMINAL = say(
    "In a terminal, native code and programs write to the terminal itself: their lines are shown, but not "
    "kept with a cell."
)
#: Seconds for which the end of capturing waits, which may be the end of the kernel.
WHEN_IT_ENDS = 2.0


class HostEnvironment(Protocol):
    """What is special about capturing in a kernel or in a terminal: `notebook.capture_kernel` has one."""

    def make_echo(self, descriptor: int, before: int) -> Echo | None:
        """Where a descriptor's output goes on to; see `tap.MakeEcho`."""

    #: The descriptors to capture, 1 and 2 or none.
    descriptors: Sequence[int]

    def attach(self, tap: Tap, request_begins: Callable[[], None]) -> None:
        """The tap has just begun; `request_begins` is to be called where a front end has something run."""

    def cell_begins(self, tap: Tap) -> None:
        """A cell is about to run."""

    def cell_ended(self, tap: Tap) -> None:
        """The cell has ended and all it wrote has been read."""

    def shown_lines(self) -> Mapping[str, StreamLines]:
        """Which lines of the last cell's output are native, by stream; empty where that is not known."""

    def detach(self, tap: Tap) -> None:
        """The tap is about to end."""

    def after_fork_in_child(self, tap: Tap) -> None:
        """This is a forked child: undo what `attach` and `cell_begins` did."""


@dataclass(frozen=True, slots=True)
class _Bytes:
    """Where a cell's raw bytes lie, by stream."""

    sequence: int
    start: dict[str, int]
    end: dict[str, int]


@dataclass(frozen=True, slots=True)
class _Unread:
    """A stretch that has ended: that of a cell, or what came after it (`late`)."""

    sequence: int | None
    stretch: Stretch
    late: bool


@dataclass(eq=False, repr=False)
class Capture:
    """Begins with `start` and ends with `stop`; in between, `begin_cell` and `end_cell` mark the cells.

    `new_reader()` makes what reads the lines of a stretch. `on_live(lines)` hears of a running cell's
    lines, `on_late(sequence, notes)` of those after a cell (None: after none that has a record), and
    `on_rest(sequence, notes)` of all those of a cell that were too many to be read at its end. The reading
    thread mostly calls them.
    """

    host_environment: HostEnvironment
    _: KW_ONLY
    now: Callable[[], str]
    new_reader: Callable[[], LineReader]
    on_live: Callable[[tuple[LogLine, ...]], None]
    on_late: Callable[[int | None, Notes], None]
    on_rest: Callable[[int, Notes], None]

    def __post_init__(self) -> None:
        #: Whether a cell's end waits until all its lines are read: where nobody would see what comes later.
        self.patient = False
        #: Told of the files that native lines go to, by stream, each time that capturing begins.
        self.on_files: Callable[[Mapping[str, int]], None] = lambda files: None
        #: Whether lines are captured now.
        self.active = False
        self._begun = False  # whether something is to be put back
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
        """Why native lines are shown but belong to no cell; None where they are captured."""
        return self._tap.paused or (None if self.host_environment.descriptors else IN_A_TERMINAL)

    def start(self) -> None:
        """Begin to capture; `missing` says where that is not possible for native lines."""
        if self.active:
            return
        with Uninterrupted():
            self._put_back()
            self._begun = self.active = True
            try:
                self._tap.start()
                self.host_environment.attach(self._tap, self._request_begins)
                self._hooks.start()
                self.on_files(self.files())
            except BaseException:
                self._put_back()
                raise

    def stop(self) -> None:
        """End capturing: everything is put back as it was found, before a Ctrl-C that comes meanwhile."""
        with Uninterrupted():
            self._put_back()
        self.catch_up(WHEN_IT_ENDS)

    def _put_back(self) -> None:
        """End what was begun; what an exception of a user's handler cuts short, the next call does."""
        if not self._begun:
            return
        self.active = False
        self._hooks.stop()
        self.host_environment.detach(self._tap)
        self._tap.stop()
        self._begun = False
        self._stretches.clear()
        if self._cell_starts is None:
            self._put_by()

    def begin_cell(self) -> None:
        """What comes from now on belongs to the cell that is about to run."""
        if not self.active:
            return
        self._tap.drain()
        with self._lock:
            self._put_by()
            self._cell_starts = self._tap.offsets()
            self._cells_thread = threading.get_ident()
            if self._tap.paused:
                self._stretch.lost(self._tap.paused)
        self.host_environment.cell_begins(self._tap)

    def end_cell(self, sequence: int) -> Notes | None:
        """What came since `begin_cell`; None where nothing came. `sequence` is the record's.

        Where there is much to read, `on_rest` is told of all of it later, and here of a part.
        """
        if self._cell_starts is None:
            return None
        if self.active:
            self._tap.check()
            self._tap.drain()
            self.host_environment.cell_ended(self._tap)
        with self._lock:
            if self.active:
                self._stretches.append(_Bytes(sequence, self._cell_starts, self._tap.offsets()))
            self._cell_starts, self._after = None, sequence
            stretch, self._stretch = self._stretch, Stretch(self.new_reader)
        if self.patient or stretch.waiting <= AT_THE_END:
            stretch.read()
        notes = stretch.notes()
        self._ended = real_time.monotonic()
        if notes is not None and not notes.whole:
            self._unread.append(_Unread(sequence, stretch, late=False))
        return notes

    def failed(self, text: str) -> None:
        """The cell that runs failed with this exception, as its traceback shows it."""
        if text and self._cell_starts is not None:
            with self._lock:
                self._stretch.say("stderr", text, "ERROR", EXCEPTION, self.now())

    def shown_lines(self) -> Mapping[str, StreamLines]:
        """Which lines of the last cell's output are native, by stream; empty where that is not known."""
        return self.host_environment.shown_lines()

    def abandon_cell(self) -> None:
        """The cell will have no record: its lines count as those between cells."""
        with self._lock:
            self._cell_starts = None

    def begin_command(self) -> None:
        """What comes from now on is a command's of ours, or comes after it: it belongs to no record."""
        if self.active:
            self._tap.drain()
            with self._lock:
                self._put_by()
                self._after = None

    def _request_begins(self) -> None:
        """A front end has something run: if it is a cell of ours, `begin_cell` is called next.

        Where the user's code has taken our callbacks away, neither that nor the end of the cell before comes.
        """
        if self._cell_starts is not None and self._cells_thread == threading.get_ident():
            self.abandon_cell()
        if self._cell_starts is None:
            self.begin_command()

    def catch_up(self, seconds: float = math.inf) -> None:
        """Read now what waits of cells that have ended; give up after so many seconds."""
        until = real_time.perf_counter() + seconds
        while self._read_some() and real_time.perf_counter() < until:
            pass

    def _read_some(self) -> bool:
        with Uninterrupted():  # else a line might be taken from what waits, and be in no record
            return self._read_unread(AT_A_TIME)

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

    def files(self) -> dict[str, int]:
        """The descriptors of the files that native lines go to, by stream; empty where none are captured."""
        return self._tap.files()

    def offsets(self) -> dict[str, int]:
        """Up to where each stream has been read; empty where none is captured."""
        return self._tap.offsets()

    def tails(self, most: int, since: Mapping[str, int]) -> dict[str, bytes]:
        """The last bytes of each stream, at most `most`, of those written since these offsets."""
        return self._tap.tails(most, since)

    def after_fork_in_child(self) -> None:
        """A forked child writes where it would have written without us."""
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

    def _put_by(self) -> None:
        """What came between two cells is whole; it is read when there is time."""
        with self._lock:
            stretch, self._stretch = self._stretch, Stretch(self.new_reader)
            if not stretch.is_empty:
                self._unread.append(_Unread(self._after, stretch, late=True))

    def _tick(self) -> None:
        """Ten times a second, from the reading thread: read a little of what waits."""
        if real_time.monotonic() - self._ended < AFTER_THE_END:
            return
        while self.active and self._cell_starts is None and self._read_unread(AT_A_TIME):
            real_time.sleep(AT_A_TIME / 2)  # the others' turn
            self._tap.pump()
        if self._unread and self._read_unread(AT_A_TIME):
            return
        stretch = self._stretch
        quiet, self._quiet = self._quiet, True
        if self._cell_starts is None:
            # A message is whole when nothing follows it for a tick.
            if quiet and not stretch.is_empty:
                with self._lock:
                    if self._cell_starts is None:
                        self._put_by()
                self._read_unread(AT_A_TIME)
            return
        if stretch.read(AT_A_TIME) and quiet:
            stretch.settle()
        lines = stretch.take_new(LIVE_LINES)
        if lines and stretch is self._stretch:
            self.on_live(lines)

    def _read_unread(self, seconds: float) -> bool:
        """Read on in the oldest stretch that has ended; whether there is more to do."""
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
    # Such a registration cannot be taken back, so it must not keep the capture alive.
    reference = weakref.ref(capture)

    def after_fork() -> None:
        alive = reference()
        if alive is not None:
            alive.after_fork_in_child()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=after_fork)
