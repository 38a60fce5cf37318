"""The pipes that take native output, and the process that empties them into files.

What is written to a pipe can be in three places: in the pipe, in the process's hands, in the file. `behind`
looks at all three in half a microsecond, without a word to the process; `settle` asks it to store all that
was written up to now and waits for its answer.

Sources: FIONREAD of pipe(7); /proc/self/fd of proc(5), by which a pipe is opened anew; that FIONREAD answers
at a pipe's read end alone is read in Darwin's sys_pipe.c, and not run on a Mac.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import select
import socket
import sys
import termios
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from jupyter_mlgpu.measure.capture import detached, reader_process
from jupyter_mlgpu.measure.capture.reader_process import (
    ARMED,
    FORWARD,
    GONE,
    SETTLE,
    SHOWN,
    STORED,
    WORDS,
)
from jupyter_mlgpu.measure.capture.storage import anonymous_file
from jupyter_mlgpu.record.clock import real_time

#: Seconds after which a process that has not answered is asked once more.
_ASK_AGAIN = 1.0

# PyDLL keeps the GIL: it is asked before each print, and giving the GIL away costs a busy cell far more.
_ioctl = ctypes.PyDLL(None).ioctl
_ioctl.restype = None  # which, without types of arguments, saves a third of the time
if sys.platform == "darwin":  # where arguments beyond the named ones are passed otherwise
    _ioctl.argtypes = [ctypes.c_int, ctypes.c_ulong]


@dataclass(eq=False, repr=False)
class Pipe:
    """A pipe for one descriptor; `ask` is the end at which the system says how much is in it.

    On Linux nobody but the process has the end that is read, so that writers learn when it has gone.
    """

    write: int
    ask: int

    @classmethod
    def made(cls) -> tuple[Pipe, int]:
        """A new pipe, and its end that is read."""
        read, write = os.pipe()
        return cls(write, write if sys.platform != "darwin" else os.dup(read)), read

    def read_end(self) -> int:
        """The end that is read, once more; raises OSError where that is not possible."""
        if self.ask != self.write:
            return os.dup(self.ask)
        return os.open(f"/proc/self/fd/{self.write}", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)

    def close(self) -> None:
        """Let go of it; other writers keep theirs."""
        for descriptor in {self.write, self.ask}:
            os.close(descriptor)


class Reader:
    """One process that empties pipes from `start` to `forward`, for files given by descriptor."""

    def __init__(self, pipes: Sequence[Pipe], files: Sequence[int], outputs: Sequence[int]) -> None:
        self._pipes, self._files, self._outputs = pipes, files, outputs
        self._asking = threading.Lock()
        self._settled = [0] * len(pipes)  # what STORED is where everything was shown
        self._number = 0  # of the last request
        self._unanswered, self._asked = False, 0.0
        self._control: socket.socket | None = None
        self._bell = -1

    def start(self, read_ends: Sequence[int], shown: Sequence[int]) -> None:
        """Start it; `shown` is how much of each file was shown. Raises OSError where there can be no process.

        It takes 15 ms to be ready, for which nobody waits: the pipes take what is written meanwhile.
        """
        with contextlib.ExitStack() as opened, contextlib.ExitStack() as kept:
            page, _ = anonymous_file("page")
            opened.callback(os.close, page)
            os.ftruncate(page, reader_process.PAGE_BYTES)
            self._words = memoryview(mmap.mmap(page, reader_process.PAGE_BYTES)).cast("Q")
            for number, (file, seen) in enumerate(zip(self._files, shown, strict=True)):
                self._words[number * WORDS + STORED] = 2 * os.fstat(file).st_size
                self.shown(number, seen)
            ours, theirs = socket.socketpair()
            kept.callback(ours.close)
            opened.callback(theirs.close)
            self._bell, bell = os.pipe()
            kept.callback(os.close, self._bell)
            opened.callback(os.close, bell)
            given = [theirs.fileno(), bell, page]
            for three in zip(read_ends, self._files, self._outputs, strict=True):
                given += three
            program = [
                sys.executable,
                "-I",
                "-S",
                reader_process.__file__,
                str(os.getpid()),
                str(len(read_ends)),
            ]
            detached.start(program, given)
            os.set_blocking(self._bell, False)
            self._control = ours
            kept.pop_all()
        self._waiting = select.poll()
        self._waiting.register(self._bell, select.POLLIN)

    def stored(self, number: int) -> int:
        """How many bytes of a stream are in its file."""
        return self._words[number * WORDS + STORED] // 2

    def shown(self, number: int, count: int) -> None:
        """Say how many bytes of a stream were shown: who writes faster than that has to wait."""
        self._words[number * WORDS + SHOWN] = count
        self._settled[number] = 2 * count

    @property
    def stores(self) -> bool:
        """Whether it still stores what it takes; else it passes it on, for there was no room."""
        return not any(self._words[number * WORDS + GONE] for number in range(len(self._pipes)))

    def behind(self, number: int) -> Callable[[], bool]:
        """A function that says whether something was written to a stream and has not been shown."""
        ioctl, ask, request = _ioctl, self._pipes[number].ask, termios.FIONREAD
        words, word, settled = self._words, number * WORDS + STORED, self._settled
        count = ctypes.c_int()
        where = ctypes.byref(count)

        def behind() -> bool:
            stored = words[word]
            if stored != settled[number]:
                return True
            ioctl(ask, request, where)
            return count.value != 0 or words[word] != stored

        return behind

    def settle(self, seconds: float) -> bool:
        """Have all that was written up to now in the files; whether that was done within so many seconds."""
        return self._ask(SETTLE, seconds)

    def forward(self, seconds: float) -> None:
        """Have what is written from now on passed on; `listen` ends then."""
        self._ask(FORWARD, seconds)

    def listen(self, seconds: float, *, news: bool) -> bool:
        """Wait for so long, or until the process calls; False: it has ended. For one thread.

        With `news` it calls as soon as something is stored, else only where writers have to wait.
        """
        self._words[ARMED] = news
        if news and any(2 * self.stored(one) != shown for one, shown in enumerate(self._settled)):
            return True
        self._waiting.poll(seconds * 1000)
        if self._control is None:
            return False
        try:
            return os.read(self._bell, 64) != b""
        except BlockingIOError:
            return True
        except OSError:  # the user's code has closed all descriptors
            return False

    def close(self) -> None:
        """Let go of it: when nobody listens any more, or in a forked child."""
        control, self._control = self._control, None
        if control is not None:
            with contextlib.suppress(OSError):
                control.close()
                os.close(self._bell)

    def _ask(self, request: int, seconds: float) -> bool:
        """Send a request and wait for its answer; whether it came."""
        if not self._asking.acquire(timeout=seconds):
            return False
        try:
            if self._control is None:
                return False
            # A process that has not answered lately is not waited for again and again.
            stuck = self._unanswered and real_time.monotonic() - self._asked < _ASK_AGAIN
            if stuck and not self._hear(self._control, 0) and request != FORWARD:
                return False
            self._number = self._number % 255 + 1 if request != FORWARD else FORWARD
            self._unanswered, self._asked = True, real_time.monotonic()
            self._control.send(bytes([self._number]), getattr(socket, "MSG_NOSIGNAL", 0))
            return self._hear(self._control, seconds)
        except OSError:  # it has ended
            return False
        finally:
            self._asking.release()

    def _hear(self, control: socket.socket, seconds: float) -> bool:
        """Whether the last request is answered within so many seconds."""
        poll = select.poll()
        poll.register(control, select.POLLIN)
        until = real_time.monotonic() + seconds
        while poll.poll(max(0.0, until - real_time.monotonic()) * 1000):
            answers = control.recv(64)
            if not answers:
                return False
            if self._number in answers:
                self._unanswered = False
                return True
        return False
