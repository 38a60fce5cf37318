"""Capture what native code and child processes write to the file descriptors 1 and 2.

The descriptors become pipes that a small process of ours empties into files (see `reader`). A thread here
reads what it has stored, hands it to `on_data` and passes it on to where it would have gone. A pipe that is
read by a thread of the same process, the usual way, hangs as soon as native code holds the GIL and fills it
(docs/adr/0007-capturing-native-lines.md).
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass

from jupyter_mlgpu.measure.capture.flushing import flush_native
from jupyter_mlgpu.measure.capture.losses import (
    NOT_IN_TIME,
    NOT_STORED,
    READER_ENDED,
    READER_WAS_STUCK,
    leads_elsewhere,
    not_handed_over,
    not_read,
    not_watched,
)
from jupyter_mlgpu.measure.capture.reader import Reader
from jupyter_mlgpu.measure.capture.stream import NAMES, CapturedStream, MakeEcho, OnData, plain_echo
from jupyter_mlgpu.measure.handlers import is_of_a_handler
from jupyter_mlgpu.measure.uninterrupted import Uninterrupted
from jupyter_mlgpu.measure.wake_event import WakeEvent
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.sentence import Sentence

#: Seconds between two looks while something comes; a cell that is busy pays 0.3 ms for each.
INTERVAL = 0.1
#: So many without anything, and the thread waits to be woken, or for so many seconds.
_LOOKS_UNTIL_QUIET, QUIET = 10, 1.0
#: Where files lie on a disk, capturing ends before the disk is full.
DISK_RESERVE = 64 * 1024**2
_ECHO_WAIT = 1.0
#: Seconds that a display waits, at most, for native output that was written before it.
PATIENCE = 0.5
#: Seconds for which the first cell waits for the reader, which takes 15 ms to start on an idle machine.
_FIRST_PATIENCE = 5.0
#: Readers that end, and are replaced, until it is given up.
_MOST_READERS = 5


@dataclass(eq=False, repr=False)
class Tap:
    """Captures descriptors from `start` to `stop`. `on_data(name, data)` is called under a lock, in order.

    `on_tick` is called by the reading thread after each look, outside the lock; `on_lost(sentence)` is
    told, once each, of what could not be captured.
    """

    descriptors: Sequence[int]
    on_data: OnData
    _: KW_ONLY
    on_tick: Callable[[], None] = lambda: None
    on_lost: Callable[[Sentence], None] = lambda sentence: None
    make_echo: MakeEcho = plain_echo

    def __post_init__(self) -> None:
        self._streams: list[CapturedStream] = []
        self._lost: set[str] = set()
        self._left_alone: list[int] = []  # descriptors, from the beginning on
        self._lock = threading.RLock()
        self._reading = False
        self._reader: Reader | None = None
        self._readers = 0
        self._taken = self._waited = False
        self._thread: threading.Thread | None = None
        self._wake: WakeEvent | None = None  # of the thread
        #: Why nothing is captured although it was begun, or None.
        self.paused: Sentence | None = None

    def start(self) -> None:
        """Begin: the descriptors are taken once their reader is ready, for which the next `drain` waits.

        Where that is not possible, all stays as it was and `paused` says why.
        """
        if self._streams:  # an exception of a user's handler has cut its end short
            self.stop()
        self.paused, self._readers, self._taken, self._waited = None, 0, False, False
        self._lost.clear()
        self._left_alone.clear()
        self._reading = False
        wake = self._wake = WakeEvent()
        self._thread = threading.Thread(
            target=self._watch, args=(wake,), name="jupyter_mlgpu logs", daemon=True
        )
        try:
            self._thread.start()
            if self.descriptors:
                self._prepare()
        except (OSError, RuntimeError) as error:  # the latter where there can be no thread
            self._pause(not_read(error))

    def stop(self) -> None:
        """Read what is left, and put every descriptor back as it was found.

        What children write from now on goes to where the descriptors led before. To be called again where an
        exception has cut it short.
        """
        if self._taken:
            self.drain()
        with self._lock:  # else the thread might take the descriptors, or start another reader, meanwhile
            self._put_back()
            reader = self._reader
            wake, self._wake = self._wake, None
        if wake is not None:
            wake.set()
        if reader is not None:
            reader.forward(PATIENCE)
        thread = self._thread
        if thread is not None and thread.is_alive() and thread is not threading.current_thread():
            thread.join(timeout=5)
        self._pump(reader)
        self._wait_for_echoes(reader)
        with self._lock:
            # No longer ours before they are closed: their numbers may be others' soon.
            streams, self._streams = self._streams, []
            self._thread = self._reader = None
            if reader is not None:
                reader.close()
            for stream in streams:
                stream.close()

    def after_fork_in_child(self) -> None:
        """In a forked child: it writes on to the same pipes, and what is read stays the parent's."""
        self._lock = threading.RLock()  # a thread that is not here may have held it
        self._reading = False
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.close()
        for stream in self._streams:
            stream.close()
        self._streams = []
        self._thread = self._wake = None

    def drain(self) -> None:
        """Read and echo all that has been written up to now, also what C's buffers still hold.

        Waits at most a second for a slow terminal.
        """
        self._take(0.0 if self._waited else _FIRST_PATIENCE)
        self._waited = True
        self.flush()
        self.catch_up()
        self._wait_for_echoes(self._reader)

    def give_up(self, why: Sentence) -> None:
        """Show what is there, and capture no more: each descriptor leads to where it led before."""
        with Uninterrupted(), self._lock:
            reader = self._reader
            self._pause(why)
            if reader is not None:
                reader.forward(PATIENCE)
                self.pump()
                self._reader = None
                reader.close()

    def flush(self) -> None:
        """Have what C's buffers hold written, but not into what the user's code has put in our place."""
        flush_native(stream.descriptor for stream in self._streams if stream.leads_here())

    def catch_up(self) -> None:
        """Read and echo all that has been written up to now; it costs nothing where nothing was."""
        reader = self._reader
        if reader is None or not self.behind():
            return
        if not reader.settle(PATIENCE) and not self._settled_by_another(reader):
            self._lose(NOT_IN_TIME)
        self.pump()

    def pump(self) -> None:
        """Read and echo what is there, wherever the rest may be."""
        if self._reader is not None:
            self._pump(self._reader)
        else:  # children may still write into the pipes
            for stream in self._streams:
                stream.relay()

    def behind(self) -> bool:
        """Return whether native output has been written that is not shown yet."""
        return any(stream.is_behind() for stream in self._streams)

    def behind_in(self, descriptor: int) -> Callable[[], bool]:
        """The same for one descriptor, to be asked before each print: it takes half a microsecond."""
        return next((one.is_behind for one in self._streams if one.descriptor == descriptor), lambda: False)

    def offsets(self) -> dict[str, int]:
        """Up to where each stream has been read."""
        return {stream.name: stream.read_to for stream in self._streams}

    def files(self) -> dict[str, int]:
        """The descriptor of each stream's file."""
        return {stream.name: stream.file.descriptor for stream in self._streams}

    def tails(self, most: int, since: Mapping[str, int]) -> dict[str, bytes]:
        """The last bytes of each stream, read or not: at most `most`, of those from these offsets on."""
        return {stream.name: stream.tail(most, since.get(stream.name, 0)) for stream in self._streams}

    def raw(self, name: str, start: int, end: int) -> tuple[bytes, int]:
        """The bytes of a stream between two offsets, and how many more were let go."""
        stream = next((one for one in self._streams if one.name == name), None)
        return (b"", end - start) if stream is None else stream.raw(start, end)

    def check(self) -> None:
        """Say so where the user's code has closed or redirected a descriptor: its lines do not come here."""
        gone = [stream.descriptor for stream in self._streams if not self.paused and not stream.leads_here()]
        for descriptor in [*self._left_alone, *gone]:
            self._lose(leads_elsewhere(descriptor, NAMES[descriptor]))

    def _pump(self, reader: Reader | None) -> None:
        """Read and echo what is stored."""
        if reader is None:
            return
        # A user's handler may wait for a thread that prints: it must not run while this one has the lock.
        with Uninterrupted(), self._lock:
            if self._reading:  # something that this very thread does while it reads has printed
                return
            try:
                self._reading = True
                for stream in self._streams:
                    stream.pass_on(reader, self._hand_over)
            finally:
                self._reading = False

    def _hand_over(self, name: str, data: bytes) -> None:
        try:
            self.on_data(name, data)
        except Exception as error:  # who reads must not take the user's output with it
            if is_of_a_handler(error):
                raise
            self._lose(not_handed_over(error))

    def _wait_for_echoes(self, reader: Reader | None) -> None:
        deadline = real_time.monotonic() + _ECHO_WAIT
        for stream in self._streams:
            while stream.echoed_to < stream.read_to and real_time.monotonic() < deadline:
                stream.echo.ready(deadline - real_time.monotonic())
                self._pump(reader)

    def _watch(self, wake: WakeEvent) -> None:
        quiet = 0
        while self._wake is wake:
            reader = self._reader
            alive = self._wait(wake, reader, is_quiet=quiet >= _LOOKS_UNTIL_QUIET)
            if self._wake is not wake:
                return
            try:
                self._take(PATIENCE)
                quiet = 0 if self.behind() else quiet + 1
                if not alive and reader is not None:
                    self._replace(reader)
                self.pump()
                self.on_tick()
                self._leave_room()
                self._end_if_stuck()
            except Exception as error:  # the thread must live, for it passes the user's output on
                self._lose(not_watched(error))

    def _wait(self, wake: WakeEvent, reader: Reader | None, *, is_quiet: bool) -> bool:
        """Wait for the next look; False: the reader has ended."""
        seconds = QUIET if is_quiet else INTERVAL
        if reader is not None:
            return reader.listen(seconds, news=is_quiet)
        wake.wait(INTERVAL if self._streams else seconds)
        return True

    def _prepare(self) -> None:
        """Make a pipe and a file for each descriptor, and start their reader. Raises OSError."""
        with contextlib.ExitStack() as undo:
            undo.callback(self._streams.clear)
            for descriptor in self.descriptors:
                stream = CapturedStream.of(len(self._streams), descriptor, self.make_echo)
                if stream is None:
                    self._left_alone.append(descriptor)
                    continue
                undo.callback(stream.close)
                self._streams.append(stream)
            if self._streams:
                self._start_reader()
            undo.pop_all()

    def _take(self, seconds: float) -> None:
        """Take the descriptors if that has not been done and their reader answers within so many seconds."""
        reader = self._reader
        if self._taken or reader is None or not reader.settle(seconds):
            return
        with Uninterrupted(), self._lock:
            if not self._taken:
                flush_native()
                self._taken = True
                for stream in self._streams:
                    stream.take()

    def _start_reader(self) -> None:
        """Have the pipes emptied; what cannot be stored is passed on. Raises OSError."""
        streams = self._streams
        reader = Reader(
            [stream.pipe for stream in streams],
            [stream.file.descriptor for stream in streams],
            [stream.before for stream in streams],
        )
        reader.start([stream.echoed_to for stream in streams])
        self._reader = reader
        self._readers += 1
        for stream in streams:
            stream.is_behind = reader.behind(stream.number)

    def _settled_by_another(self, reader: Reader) -> bool:
        """Replace a process that has ended, and have the other one store what was written."""
        if reader.ended and self._taken:
            self._replace(reader)
            if self._reader is not None:
                return self._reader.settle(_FIRST_PATIENCE)
        return False

    def _replace(self, ended: Reader) -> None:
        """Start another process for one that has ended, or do its work here, without storing anything."""
        with Uninterrupted(), self._lock:
            if self._wake is None or self._reader is not ended:
                return
            self._reader = None
            self._pump(ended)
            if self._taken:
                self._lose(READER_WAS_STUCK if ended.was_stuck else READER_ENDED)
            try:
                if not self._taken or self._readers >= _MOST_READERS:
                    raise OSError("it ended again and again" if self._taken else "it ended at once")
                self._start_reader()
            except OSError as error:
                self._pause(not_read(error))
            ended.close()

    def _end_if_stuck(self) -> None:
        reader = self._reader
        if reader is not None and self._taken and self.behind():
            reader.end_if_stuck()

    def _leave_room(self) -> None:
        """Capture no more where there is no room to store anything; called by the thread that listens."""
        reader = self._reader
        if reader is None:
            return
        free = [room for stream in self._streams if (room := stream.file.free_bytes()) is not None]
        if reader.stores and (not free or min(free) >= DISK_RESERVE):
            return
        self.give_up(NOT_STORED)

    def _pause(self, why: Sentence) -> None:
        """Native output goes its old way from now on."""
        self._put_back()
        self.paused = why
        self._lose(why)

    def _put_back(self) -> None:
        self._taken = True  # and not to be taken again
        for stream in self._streams:
            stream.put_back(self.descriptors)

    def _lose(self, sentence: Sentence) -> None:
        if sentence not in self._lost:
            self._lost.add(sentence)
            self.on_lost(sentence)
