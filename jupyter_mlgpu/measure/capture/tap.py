"""Captures what native code and child processes write to the file descriptors 1 and 2.

The descriptors become pipes that a small process of ours empties into files (see `reader`). A thread in this
process reads what is stored, passes it to `on_data` and echoes it to where it would have gone. If a thread of
the same process read the pipe, the usual way, it would hang as soon as native code holds the GIL and fills
the pipe (docs/adr/0007-capturing-native-lines.md).
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass

from jupyter_mlgpu.measure.capture.flushing import flush_native, is_pending
from jupyter_mlgpu.measure.capture.losses import (
    NOT_IN_TIME,
    NOT_STORED,
    READER_ENDED,
    READER_WAS_STUCK,
    leads_elsewhere,
    not_passed_on,
    not_read,
    not_read_on,
)
from jupyter_mlgpu.measure.capture.reader import Reader
from jupyter_mlgpu.measure.capture.stream import NAMES, CapturedStream, MakeEcho, OnData, plain_echo
from jupyter_mlgpu.measure.handlers import is_of_a_handler
from jupyter_mlgpu.measure.uninterrupted import Uninterrupted
from jupyter_mlgpu.measure.wake_event import WakeEvent
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.sentence import Sentence

#: Seconds between two checks while something comes. Each costs a busy cell 0.3 ms.
INTERVAL = 0.1
#: After so many checks without output, the thread waits until it is woken, or for so many seconds.
_CHECKS_UNTIL_QUIET, QUIET = 10, 1.0
#: Bytes. If files lie on a disk, capturing ends before the disk is full.
DISK_RESERVE = 64 * 1024**2
_ECHO_WAIT = 1.0
#: Longest time in seconds that other output waits for native output that was written before it.
PATIENCE = 0.5
#: Seconds for which the first cell waits for the reader, which takes 15 ms to start on an idle machine.
_FIRST_PATIENCE = 5.0
#: Number of readers that may end and be replaced before capturing is given up.
_MOST_READERS = 5


@dataclass(eq=False, repr=False)
class Tap:
    """Captures descriptors from `start` to `stop`. `on_data(name, data)` is called under a lock, in order.

    `on_tick` is called on the reading thread after each check, outside the lock. `on_lost(sentence)` is
    called once for each reason why something could not be captured.
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
        self._left_alone: list[int] = []  # descriptors that are not captured from the beginning
        self._lock = threading.RLock()
        self._reading = False
        self._reader: Reader | None = None
        self._readers = 0
        self._taken = self._waited = False
        self._thread: threading.Thread | None = None
        self._wake: WakeEvent | None = None  # wakes the thread
        #: The reason if capturing was begun but nothing is captured, else None.
        self.paused: Sentence | None = None

    def start(self) -> None:
        """Begin. The descriptors are taken once the reader is ready; the next `drain` waits for that.

        If it is not possible, nothing changes and `paused` has the reason.
        """
        if self._streams:  # an exception of a user's handler has cut `stop` short
            self.stop()
        self.paused, self._readers, self._taken, self._waited = None, 0, False, False
        self._lost.clear()
        self._left_alone.clear()
        self._reading = False
        wake = self._wake = WakeEvent()
        self._thread = threading.Thread(
            target=self._run, args=(wake,), name="jupyter_mlgpu logs", daemon=True
        )
        try:
            self._thread.start()
            if self.descriptors:
                self._prepare()
        except (OSError, RuntimeError) as error:  # RuntimeError if no thread can be started
            self._pause(not_read(error))

    def stop(self) -> None:
        """Read what is left and restore every descriptor.

        What children write from now on goes to where the descriptors led before. Call it again if an
        exception has cut it short.
        """
        if self._taken:
            self.drain()
        with self._lock:  # else the thread might take the descriptors or start another reader meanwhile
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
            # Forgotten before they are closed: other files may get their numbers soon.
            streams, self._streams = self._streams, []
            self._thread = self._reader = None
            if reader is not None:
                reader.close()
            for stream in streams:
                stream.close()

    def after_fork_in_child(self) -> None:
        """Adapt a forked child: it writes on to the same pipes, and only the parent reads them."""
        self._lock = threading.RLock()  # a thread that does not exist here may have held the old one
        self._reading = False
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.close()
        for stream in self._streams:
            stream.close()
        self._streams = []
        self._thread = self._wake = None

    def drain(self) -> None:
        """Read and echo all that has been written up to now, also from C's buffers.

        Waits at most a second for a slow terminal.
        """
        self._take(0.0 if self._waited else _FIRST_PATIENCE)
        self._waited = True
        flush_native(stream.descriptor for stream in self._streams if stream.leads_here())
        self.catch_up()
        self._wait_for_echoes(self._reader)

    def give_up(self, why: Sentence) -> None:
        """Show what is there and stop capturing: each descriptor leads to where it led before."""
        with Uninterrupted(), self._lock:
            reader = self._reader
            self._pause(why)
            if reader is not None:
                reader.forward(PATIENCE)
                self.pump()
                self._reader = None
                reader.close()

    def flush(self) -> None:
        """Flush what C's buffers hold, except into files that the user's code put in place of our pipes."""
        pending = [stream for stream in self._streams if is_pending(stream.descriptor)]
        flush_native(stream.descriptor for stream in pending if stream.leads_here())

    def catch_up(self) -> None:
        """Read and echo all that has been written up to now. It costs nothing if there is nothing."""
        reader = self._reader
        if reader is None or not self.behind():
            return
        if not reader.settle(PATIENCE) and not self._settled_by_another(reader):
            self._lose(NOT_IN_TIME)
        self.pump()

    def pump(self) -> None:
        """Read and echo what is stored, without waiting for more."""
        if self._reader is not None:
            self._pump(self._reader)
        else:  # children may still write into the pipes
            for stream in self._streams:
                stream.relay()

    def behind(self) -> bool:
        """Return True if native output has been written that is not shown yet."""
        return any(stream.is_behind() for stream in self._streams)

    def behind_in(self, descriptor: int) -> Callable[[], bool]:
        """Return the same check for one descriptor. It takes half a microsecond, before each print."""
        return next(
            (stream.is_behind for stream in self._streams if stream.descriptor == descriptor), lambda: False
        )

    def offsets(self) -> dict[str, int]:
        """Return the offset up to which each stream has been read."""
        return {stream.name: stream.read_to for stream in self._streams}

    def files(self) -> dict[str, int]:
        """Return the descriptor of each stream's file."""
        return {stream.name: stream.file.descriptor for stream in self._streams}

    def tails(self, most: int, since: Mapping[str, int]) -> dict[str, bytes]:
        """Return the last bytes of each stream, read or not: at most `most`, only after these offsets."""
        return {stream.name: stream.tail(most, since.get(stream.name, 0)) for stream in self._streams}

    def raw(self, name: str, start: int, end: int) -> tuple[bytes, int]:
        """Return the bytes of a stream between two offsets, and how many more were dropped."""
        stream = next((stream for stream in self._streams if stream.name == name), None)
        return (b"", end - start) if stream is None else stream.raw(start, end)

    def check(self) -> None:
        """Report descriptors that the user's code has closed or redirected: their lines are not captured."""
        gone = [stream.descriptor for stream in self._streams if not self.paused and not stream.leads_here()]
        for descriptor in [*self._left_alone, *gone]:
            self._lose(leads_elsewhere(descriptor, NAMES[descriptor]))

    def _pump(self, reader: Reader | None) -> None:
        """Read and echo what is stored."""
        if reader is None:
            return
        # A user's handler may wait for a thread that prints: it must not run while this one has the lock.
        with Uninterrupted(), self._lock:
            if self._reading:  # code that this thread runs while reading has printed
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
        except Exception as error:  # a failing reader must not stop the user's output
            if is_of_a_handler(error):
                raise
            self._lose(not_read_on(error))

    def _wait_for_echoes(self, reader: Reader | None) -> None:
        deadline = real_time.monotonic() + _ECHO_WAIT
        for stream in self._streams:
            while stream.echoed_to < stream.read_to and real_time.monotonic() < deadline:
                stream.echo.ready(deadline - real_time.monotonic())
                self._pump(reader)

    def _run(self, wake: WakeEvent) -> None:
        quiet = 0
        while self._wake is wake:
            reader = self._reader
            alive = self._wait(wake, reader, is_quiet=quiet >= _CHECKS_UNTIL_QUIET)
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
            except Exception as error:  # the thread must go on, because it passes the user's output on
                self._lose(not_passed_on(error))

    def _wait(self, wake: WakeEvent, reader: Reader | None, *, is_quiet: bool) -> bool:
        """Wait for the next check. Returns False if the reader has ended."""
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
        """Take the descriptors if not done yet and if their reader answers within so many seconds."""
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
        """Start a process that empties the pipes. What cannot be stored is passed on. Raises OSError."""
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
        """Replace a process that has ended, and have the new one store what was written."""
        if reader.ended and self._taken:
            self._replace(reader)
            if self._reader is not None:
                return self._reader.settle(_FIRST_PATIENCE)
        return False

    def _replace(self, ended: Reader) -> None:
        """Start another process for one that has ended, or do its work here without storing anything."""
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
        """Stop capturing if there is no room to store anything. Called on the thread that listens."""
        reader = self._reader
        if reader is None:
            return
        free = [room for stream in self._streams if (room := stream.file.free_bytes()) is not None]
        if reader.stores and (not free or min(free) >= DISK_RESERVE):
            return
        self.give_up(NOT_STORED)

    def _pause(self, why: Sentence) -> None:
        """Restore the descriptors: native output is not captured from now on."""
        self._put_back()
        self.paused = why
        self._lose(why)

    def _put_back(self) -> None:
        self._taken = True  # so that they are not taken again
        for stream in self._streams:
            stream.put_back(self.descriptors)

    def _lose(self, sentence: Sentence) -> None:
        if sentence not in self._lost:
            self._lost.add(sentence)
            self.on_lost(sentence)
