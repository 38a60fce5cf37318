"""Output that was written and has not been read yet: reading is expensive, so a cell does not wait for it.

A stretch is the output of one cell, or between two. Writing only queues pieces. They are read in order, a few
milliseconds at a time.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import Protocol

from msgspec import Struct

from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.record import Fact, LogLine
from jupyter_mlgpu.record.sentence import Sentence, say

#: The origin of an exception that ended a cell.
EXCEPTION = "exception"
#: Bytes that are read at a time: half a millisecond's work if each line differs from all before.
BLOCK = 8 * 1024
#: Most bytes that may wait. Output beyond that is shown and counted, but not kept.
MOST_WAITING = 64 * 1024**2


class Notes(Struct, frozen=True):
    """The notes on a cell's lines; `notes` say what was not kept. If not `whole`, more will come."""

    lines: tuple[LogLine, ...]
    facts: Mapping[str, Fact]
    notes: tuple[Sentence, ...]
    whole: bool = True


class LineReader(Protocol):
    """Makes notes of the lines of a stretch; `explain/logs/reader.py` implements it."""

    def feed(self, stream: str, data: bytes, time: str) -> None:
        """Read bytes of a native stream."""

    def add(self, stream: str, text: str, *, level: str, origin: str, time: str) -> None:
        """Read a whole message of Python's logging or warnings, or an exception."""

    def lost(self, sentence: Sentence) -> None:
        """Note why something was not kept."""

    def take_new(self, limit: int) -> tuple[LogLine, ...]:
        """Return the first lines that were not taken before, while the cell runs."""
        ...

    def settle(self) -> None:
        """Read also a message that may still go on."""

    def so_far(self) -> Notes:
        """Return the notes so far, while more will come."""
        ...

    def finish(self, *, late: bool = False) -> Notes:
        """Return all notes; `late`: the lines came after their cell."""
        ...


class _Piece(Struct, frozen=True):
    """Bytes of a native stream."""

    stream: str
    data: memoryview
    time: str


class _Message(Struct, frozen=True):
    """A whole message of Python's logging or warnings."""

    stream: str
    text: str
    level: str
    origin: str
    time: str


class Stretch:
    """The output of one cell, or between two. Any thread may write, but only one may read at a time."""

    def __init__(self, new_reader: Callable[[], LineReader]) -> None:
        self._new_reader = new_reader
        self._reader: LineReader | None = None  # None: nothing has been read
        self._pieces: deque[_Piece | _Message] = deque()
        self._lost: dict[Sentence, None] = {}
        self._counting = threading.Lock()
        self._reading = threading.Lock()
        #: Bytes that wait to be read, and bytes that were not kept.
        self.waiting = 0
        self._dropped = 0

    @property
    def is_empty(self) -> bool:
        """True if there was no output at all."""
        return self._reader is None and not self._pieces and not self._lost

    def take(self, stream: str, data: bytes, time: str) -> None:
        """Queue what was written to a stream, with the time."""
        with self._counting:
            if self.waiting + len(data) > MOST_WAITING:
                self._dropped += len(data)
                return
            self.waiting += len(data)
        self._pieces.append(_Piece(stream, memoryview(data), time))

    def say(self, stream: str, text: str, level: str, origin: str, time: str) -> None:
        """Queue a message of Python's logging or warnings."""
        self._pieces.append(_Message(stream, text, level, origin, time))

    def lost(self, sentence: Sentence) -> None:
        """Add a note on something that is missing here."""
        self._lost[sentence] = None

    def read(self, seconds: float = math.inf) -> bool:
        """Read for so long. Returns True if nothing waits any more."""
        with self._reading:
            if not self._pieces:
                return True
            self._line_reader()  # made before the time counts: it takes longer than reading a few lines
            until = real_time.perf_counter() + seconds
            while self._pieces:
                if real_time.perf_counter() >= until:
                    return False
                self._read_one(self._pieces.popleft())
        return True

    def settle(self) -> None:
        """Take a message that waited for further lines as complete, since nothing has come for a while."""
        with self._reading:
            if self._reader is not None:
                self._reader.settle()

    def take_new(self, limit: int) -> tuple[LogLine, ...]:
        """Return at most `limit` lines that were not taken before. Their counts may still grow."""
        with self._reading:
            return () if self._reader is None else self._reader.take_new(limit)

    def notes(self, *, late: bool = False) -> Notes | None:
        """Return the notes, None if nothing came. If nothing waits to be read, they are complete."""
        if self.is_empty:
            return None
        with self._reading:
            reader = self._line_reader()
            for sentence in self._lost:
                reader.lost(sentence)
            self._lost.clear()
            if self._dropped:
                reader.lost(
                    say(
                        "{dropped} bytes of native output arrived faster than they could be read: "
                        "they were shown but are not in the record.",
                        dropped=self._dropped,
                    )
                )
            if self._pieces:
                return reader.so_far()
            return reader.finish(late=late)

    def _line_reader(self) -> LineReader:
        if self._reader is None:
            self._reader = self._new_reader()
        return self._reader

    def _read_one(self, piece: _Piece | _Message) -> None:
        """Read one piece, or the first block of it."""
        reader = self._line_reader()
        if isinstance(piece, _Message):
            reader.add(piece.stream, piece.text, level=piece.level, origin=piece.origin, time=piece.time)
            return
        data = piece.data
        if len(data) > BLOCK:
            self._pieces.appendleft(_Piece(piece.stream, data[BLOCK:], piece.time))
            data = data[:BLOCK]
        reader.feed(piece.stream, bytes(data), piece.time)
        with self._counting:
            self.waiting -= len(data)
