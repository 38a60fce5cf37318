"""The pipes that take native output, and the process that empties them into files.

Bytes that were written are in the pipe, in the process, or in the file. `behind` checks all three in 0.7
microseconds without asking the process. `settle` has the process store everything that was written up to now,
and waits for its answer.

Sources: FIONREAD of pipe(7). On a Mac it works only at a pipe's end for reading (read in Darwin's sys_pipe.c,
not run).
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import select
import signal
import socket
import sys
import termios
from collections.abc import Callable, Sequence

from msgspec import Struct

from jupyter_mlgpu.measure.capture import detached_process, reader_process
from jupyter_mlgpu.measure.capture.reader_process import ARMED, GONE, PROCESS, SHOWN, STORED, WORDS
from jupyter_mlgpu.measure.capture.reader_requests import ReaderRequests
from jupyter_mlgpu.measure.capture.storage import above_standard, anonymous_file

#: A process is stuck if so many checks in a row find it silent for so many seconds. One check is not enough:
#: if all processes were frozen for a while, it needs time to answer, too.
_STUCK, _STUCK_CHECKS = 2.0, 3

# PyDLL keeps the GIL. This runs before each print, and releasing the GIL would cost a busy cell far more.
_ioctl = ctypes.PyDLL(None).ioctl
_ioctl.restype = None  # without types of arguments, this saves a third of the time
if sys.platform == "darwin":  # passes arguments beyond the named ones differently
    _ioctl.argtypes = [ctypes.c_int, ctypes.c_ulong]


class Pipe(Struct, eq=False):
    """A pipe for one descriptor, with both ends.

    The process reads it. The kernel keeps an end for reading open, too: without it writers would get SIGPIPE
    while a process that was killed is being replaced.
    """

    write: int
    read: int
    #: The device and inode of the end for writing.
    identity: tuple[int, int]

    @classmethod
    def new(cls) -> Pipe:
        """Return a new pipe."""
        read, write = map(above_standard, os.pipe())
        status = os.fstat(write)
        return cls(write, read, (status.st_dev, status.st_ino))

    def close(self) -> None:
        """Close both ends. Other writers keep process_end."""
        for descriptor in (self.write, self.read):
            with contextlib.suppress(OSError):  # the user's code has closed all descriptors
                os.close(descriptor)


class Reader:
    """One process that empties pipes into files, descriptors by descriptor, from `start` to `forward`."""

    def __init__(self, pipes: Sequence[Pipe], files: Sequence[int], outputs: Sequence[int]) -> None:
        self._pipes, self._files, self._outputs = pipes, files, outputs
        self._settled = [0] * len(pipes)  # the value of STORED if everything was shown
        self._requests: ReaderRequests | None = None
        self._bell = -1
        self._stuck_checks = 0
        #: True if it was killed here because it was stuck.
        self.was_stuck = False

    def start(self, shown: Sequence[int]) -> None:
        """Start it. `shown` is how many bytes of each file were shown. Raises OSError if it cannot start.

        It takes 15 ms to be ready: then `settle` succeeds. If it has ended instead, `listen` returns False.
        """
        with contextlib.ExitStack() as opened, contextlib.ExitStack() as kept:
            page, _ = anonymous_file("page")
            opened.callback(os.close, page)
            os.ftruncate(page, reader_process.PAGE_BYTES)
            self._words = memoryview(mmap.mmap(page, reader_process.PAGE_BYTES)).cast("Q")
            for number, (file, count) in enumerate(zip(self._files, shown, strict=True)):
                self._words[number * WORDS + STORED] = 2 * os.fstat(file).st_size
                self.set_shown(number, count)
            kernel_end, process_end = socket.socketpair()
            kept.callback(kernel_end.close)
            opened.callback(process_end.close)
            self._bell, bell = os.pipe()
            kept.callback(os.close, self._bell)
            opened.callback(os.close, bell)
            descriptors = [process_end.fileno(), bell, page]
            for pipe, file, output in zip(self._pipes, self._files, self._outputs, strict=True):
                descriptors += (pipe.read, file, output)
            arguments = [reader_process.__file__, str(os.getpid()), str(len(self._pipes))]
            detached_process.start([detached_process.python(), "-I", "-S", *arguments], descriptors)
            os.set_blocking(self._bell, False)
            kernel_end.setblocking(False)
            self._requests = ReaderRequests(kernel_end, self._words)
            kept.pop_all()
        self._waiting = select.poll()
        self._waiting.register(self._bell, select.POLLIN)

    def stored(self, number: int) -> int:
        """Return how many bytes of a stream are in its file."""
        return self._words[number * WORDS + STORED] // 2

    def set_shown(self, number: int, count: int) -> None:
        """Set how many bytes of a stream were shown: writers that are far ahead of this have to wait."""
        self._words[number * WORDS + SHOWN] = count
        self._settled[number] = 2 * count

    @property
    def stores(self) -> bool:
        """True while it stores what it takes. Without room it passes everything on instead."""
        return not any(self._words[number * WORDS + GONE] for number in range(len(self._pipes)))

    def behind(self, number: int) -> Callable[[], bool]:
        """Return a function that returns True if something written to a stream has not been shown."""
        ioctl, ask, request = _ioctl, self._pipes[number].read, termios.FIONREAD
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
        """Have all that was written up to now stored. Returns True if done within so many seconds."""
        return self._requests is not None and self._requests.settle(seconds)

    def forward(self, seconds: float) -> None:
        """Have everything written from now on passed on. `listen` then returns False."""
        if self._requests is not None:
            self._requests.forward(seconds)

    def listen(self, seconds: float, *, news: bool) -> bool:
        """Wait so long or until the process calls. Returns False if it has ended. Only for one thread.

        With `news` it calls as soon as something is stored, else only if writers have to wait.
        """
        self._words[ARMED] = news
        if news and any(2 * self.stored(number) != shown for number, shown in enumerate(self._settled)):
            return True
        happened = self._waiting.poll(seconds * 1000)
        if self._requests is None:
            return False
        if any(event & select.POLLIN for _, event in happened):
            with contextlib.suppress(OSError):
                os.read(self._bell, 64)
            return True
        return not happened

    @property
    def ended(self) -> bool:
        """True if the process is known to have ended."""
        return self._requests is not None and self._requests.ended

    def silent(self) -> float:
        """Return for how many seconds a request has not been answered."""
        return 0.0 if self._requests is None else self._requests.silent()

    def end_if_stuck(self) -> None:
        """Kill a process that is stuck, because its writers wait for ever. Call it ten times a second."""
        process = self._words[PROCESS]
        self.settle(0.0)
        self._stuck_checks = self._stuck_checks + 1 if self.silent() > _STUCK else 0
        if process and self._stuck_checks >= _STUCK_CHECKS:
            self.was_stuck = True
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)

    def close(self) -> None:
        """Close the connection, when no thread listens any more or in a forked child."""
        requests, self._requests = self._requests, None
        if requests is not None:
            with contextlib.suppress(OSError):
                requests.close()
                os.close(self._bell)
