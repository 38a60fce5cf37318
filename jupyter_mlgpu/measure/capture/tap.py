"""Capture what native code writes to the file descriptors 1 and 2.

The descriptors are pointed at files (see `storage`); a thread reads what has been appended, ten times a
second, or once where nothing comes, hands it to `on_data` and passes it on to where it would have gone. A
pipe read by a thread of the same process, the usual way, hangs as soon as native code holds Python's lock
and fills the pipe (docs/adr/0007-capturing-native-lines.md).

Two places are remembered in each file: up to where it has been read, and up to where it has been echoed.
A terminal that does not take more makes only the second one wait.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass

from jupyter_mlgpu.measure.alarm import Alarm
from jupyter_mlgpu.measure.capture.echo import DescriptorEcho, Echo, SilentEcho
from jupyter_mlgpu.measure.capture.flushing import flush_native
from jupyter_mlgpu.measure.capture.limits import LimitWatch, leaves_room
from jupyter_mlgpu.measure.capture.storage import LogFile
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.sentence import Sentence, say

INTERVAL = 0.1
#: The same where nothing has been written for a while: each look costs a busy cell 0.3 ms.
QUIET = 1.0
_LOOKS_UNTIL_QUIET = 10
#: What is kept of a file for `%mlc_trace logs --raw`; older bytes are let go.
KEPT_BYTES = 64 * 1024**2
#: Where files lie on a disk, capturing ends before the disk is full.
DISK_RESERVE = 64 * 1024**2
_CHUNK = 1024**2
_ECHO_WAIT = 1.0

LIMITED = say(
    "This kernel has a file size limit (RLIMIT_FSIZE) that would also apply to captured "
    "lines: while it is this low, native lines are shown but not kept."
)

NAMES = {1: "stdout", 2: "stderr"}

OnData = Callable[[str, bytes], None]
#: Gives the echo of a descriptor: its number, and a copy of what it was (None: it was closed).
MakeEcho = Callable[[int, int | None], Echo]


def plain_echo(descriptor: int, before: int | None) -> Echo:
    """Back to where the descriptor led before."""
    return SilentEcho() if before is None else DescriptorEcho(before)


@dataclass(slots=True)
class _Stream:
    """One tapped descriptor; `before` is a copy of what it was."""

    descriptor: int
    name: str
    file: LogFile
    before: int | None
    echo: Echo
    read_to: int = 0
    echoed_to: int = 0


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
        self._streams: list[_Stream] = []
        self._lost: set[str] = set()
        self._lock = threading.RLock()
        self._reading = False
        self._wake: Alarm | None = None  # of the thread that reads
        self._thread: threading.Thread | None = None
        self._limits = LimitWatch(self.look)
        #: Why nothing is captured although it was begun, or None.
        self.paused: Sentence | None = None

    @property
    def active(self) -> bool:
        """Whether descriptors are captured now."""
        return bool(self._streams)

    def start(self) -> None:
        """Take the descriptors. Raises OSError where no file can be made; nothing is changed then."""
        with contextlib.ExitStack() as opened:
            files = [
                opened.enter_context(contextlib.closing(LogFile(NAMES[descriptor])))
                for descriptor in self.descriptors
            ]
            opened.pop_all()
        flush_native()
        for descriptor, file in zip(self.descriptors, files, strict=True):
            before = _copy(descriptor)
            echo = self.make_echo(descriptor, before)
            self._streams.append(_Stream(descriptor, NAMES[descriptor], file, before, echo))
            os.dup2(file.descriptor, descriptor)
        self._lost.clear()
        self._limits.start()
        self.look()
        wake = self._wake = Alarm()
        thread = threading.Thread(target=self._watch, args=(wake,), name="jupyter_mlgpu logs", daemon=True)
        thread.start()
        self._thread = thread

    def stop(self) -> None:
        """Read what is left, and put every descriptor back as it was found."""
        self._limits.stop()
        flush_native()
        self._put_back()
        wake, self._wake = self._wake, None
        if wake is not None:
            wake.ring()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout=5)
        self._thread = None
        self.drain()
        with self._lock:
            for stream in self._streams:
                stream.file.close()
                if stream.before is not None:
                    os.close(stream.before)
            self._streams = []

    def after_fork_in_child(self) -> None:
        """In a forked child: the descriptors as they were; what the parent reads stays the parent's."""
        self._lock = threading.RLock()  # a thread that is not here may have held it
        self._reading = False
        self._put_back()
        self._streams = []
        self._wake = self._thread = None

    def give_back(self, *descriptors: int) -> None:
        """Let descriptors be what they were, until `take`: for who needs the real terminal."""
        self.drain()
        self._put_back(descriptors)

    def take(self, *descriptors: int) -> None:
        """Capture descriptors again."""
        for stream in self._streams:
            if stream.descriptor in descriptors and not self.paused:
                os.dup2(stream.file.descriptor, stream.descriptor)

    def look(self) -> None:
        """Stop capturing where a limit on the size of files comes near, and go on when it is gone."""
        room = all(leaves_room(stream.file.size()) for stream in self._streams)
        if not room and not self.paused:
            self.drain()
            self._put_back()
            self.paused = LIMITED
            self._lose(LIMITED)
        elif room and self.paused:
            self.paused = None
            for stream in self._streams:
                if _is_same(stream.descriptor, stream.before):
                    os.dup2(stream.file.descriptor, stream.descriptor)

    def drain(self) -> None:
        """Read and echo all that has been written up to now, also what C's buffers still hold.

        Waits at most a second for a slow terminal.
        """
        flush_native()
        self.pump()
        deadline = real_time.monotonic() + _ECHO_WAIT
        for stream in self._streams:
            while stream.echoed_to < stream.read_to and real_time.monotonic() < deadline:
                stream.echo.ready(deadline - real_time.monotonic())
                self.pump()

    def behind(self) -> bool:
        """Whether something has been written and not been passed on, be it read or not."""
        return any(stream.file.size() != stream.echoed_to for stream in self._streams)

    def behind_in(self, descriptor: int) -> Callable[[], bool]:
        """The same for one descriptor, to be asked before each print: it takes a quarter of a microsecond."""
        stream = next(one for one in self._streams if one.descriptor == descriptor)
        handle, size, end = stream.file.descriptor, os.lseek, os.SEEK_END
        return lambda: size(handle, 0, end) != stream.echoed_to

    def pump(self) -> None:
        """Read and echo what is there."""
        if not self.behind():
            return
        with self._lock:
            if self._reading:  # something that this very thread does while it reads has printed
                return
            self._reading = True
            try:
                for stream in self._streams:
                    self._echo(stream)
                    self._read(stream)
            finally:
                self._reading = False

    def offsets(self) -> dict[str, int]:
        """Up to where each stream has been read."""
        return {stream.name: stream.read_to for stream in self._streams}

    def files(self) -> dict[str, int]:
        """The descriptor of each stream's file."""
        return {stream.name: stream.file.descriptor for stream in self._streams}

    def tails(self, most: int, since: Mapping[str, int]) -> dict[str, bytes]:
        """The last bytes of each stream, read or not: at most `most`, of those from these offsets on."""
        last = {}
        for stream in self._streams:
            end = stream.file.size()
            start = since.get(stream.name, 0)
            start = max(start if start <= end else 0, end - most)
            last[stream.name] = stream.file.read(start, end) if start < end else b""
        return last

    def raw(self, name: str, start: int, end: int) -> tuple[bytes, int]:
        """The bytes of a stream between two offsets, and how many more were let go."""
        for stream in self._streams:
            if stream.name == name:
                kept = max(start, min(end, stream.file.forgotten))
                return stream.file.read(kept, end), kept - start
        return b"", end - start

    def check(self) -> None:
        """Say so where the user's code has closed or redirected a descriptor: its lines do not come here."""
        for stream in self._streams:
            if not self.paused and not stream.file.is_open_at(stream.descriptor):
                self._lose(
                    say(
                        "The code that ran closed or redirected file descriptor {number} ({stream}); "
                        "native lines written to it are not captured until tracing is turned off and "
                        "on again.",
                        number=stream.descriptor,
                        stream=stream.name,
                    )
                )

    def _read(self, stream: _Stream) -> None:
        size = stream.file.size()
        if size < stream.read_to:
            stream.read_to = stream.echoed_to = 0
            self._lose(
                say(
                    "A program emptied {stream}; lines written just before may be missing.",
                    stream=stream.name,
                )
            )
        while stream.read_to < size:
            data = stream.file.read(stream.read_to, min(size, stream.read_to + _CHUNK))
            if not data:
                return
            stream.read_to += len(data)
            try:
                self.on_data(stream.name, data)
            except Exception as error:  # a reader that fails must not take the user's output with it
                self._lose(
                    say(
                        "Reading native lines failed ({type}: {error}).",
                        type=type(error).__name__,
                        error=error,
                    )
                )
            if stream.echoed_to == stream.read_to - len(data):
                stream.echoed_to += stream.echo.write(data)
            stream.file.forget(stream.echoed_to - KEPT_BYTES)

    def _echo(self, stream: _Stream) -> None:
        """Go on where an echo would take no more."""
        while stream.echoed_to < stream.read_to:
            end = min(stream.read_to, stream.echoed_to + _CHUNK)
            data = stream.file.read(stream.echoed_to, end)
            done = stream.echo.write(data)
            stream.echoed_to += done
            if done < len(data):
                return

    def _watch(self, wake: Alarm) -> None:
        quiet = 0
        while True:
            wake.wait(INTERVAL if quiet < _LOOKS_UNTIL_QUIET else QUIET)
            if self._wake is not wake:
                return
            try:
                quiet = 0 if self.behind() else quiet + 1
                self.pump()
                self.on_tick()
                self.look()
                self._leave_room()
            except Exception as error:  # the thread must live, for it passes the user's output on
                self._lose(
                    say(
                        "Watching native lines failed ({type}: {error}).",
                        type=type(error).__name__,
                        error=error,
                    )
                )

    def _leave_room(self) -> None:
        for stream in self._streams:
            free = stream.file.free_bytes()
            if free is not None and free < DISK_RESERVE:
                self._lose(
                    say(
                        "The disk is nearly full, so native lines are no longer captured: free some "
                        "space, then run `%mlc_trace off` and `%mlc_trace on`."
                    )
                )
                self._put_back()
                return

    def _put_back(self, descriptors: Sequence[int] | None = None) -> None:
        for stream in self._streams:
            if descriptors is not None and stream.descriptor not in descriptors:
                continue
            if not stream.file.is_open_at(stream.descriptor):
                continue  # the user's code has made something else of it, and means it
            if stream.before is None:
                os.close(stream.descriptor)
            else:
                os.dup2(stream.before, stream.descriptor)

    def _lose(self, sentence: Sentence) -> None:
        if sentence not in self._lost:
            self._lost.add(sentence)
            self.on_lost(sentence)


def _is_same(descriptor: int, before: int | None) -> bool:
    """Whether a descriptor is still what it was before it was captured."""
    try:
        return before is not None and os.path.sameopenfile(descriptor, before)
    except OSError:
        return False


def _copy(descriptor: int) -> int | None:
    try:
        return os.dup(descriptor)
    except OSError:
        return None
