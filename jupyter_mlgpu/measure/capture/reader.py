"""The pipes that take native output, and the process that empties them into files.

Bytes that were written are in the pipe, on their way through the process, or in the file. `behind` checks all
three in 0.7 microseconds without asking the process; `settle` has the process store everything that was
written up to now, and waits for its answer.

Sources: FIONREAD of pipe(7). On a Mac it answers only at a pipe's end for reading (read in Darwin's
sys_pipe.c, not run).
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
from dataclasses import dataclass

from jupyter_mlgpu.measure.capture import detached, reader_process
from jupyter_mlgpu.measure.capture.questions import Questions
from jupyter_mlgpu.measure.capture.reader_process import ARMED, GONE, PROCESS, SHOWN, STORED, WORDS
from jupyter_mlgpu.measure.capture.storage import above_standard, anonymous_file

#: Seconds after which a process that does not answer stands still, and how many looks in a row must find it
#: so: where all processes were frozen for a while, it needs time to answer, too.
_STUCK, _STUCK_LOOKS = 2.0, 3

# PyDLL keeps the GIL. This runs before each print, and releasing the GIL would cost a busy cell far more.
_ioctl = ctypes.PyDLL(None).ioctl
_ioctl.restype = None  # which, without types of arguments, saves a third of the time
if sys.platform == "darwin":  # where arguments beyond the named ones are passed otherwise
    _ioctl.argtypes = [ctypes.c_int, ctypes.c_ulong]


@dataclass(eq=False, repr=False)
class Pipe:
    """A pipe for one descriptor, with both ends.

    The process reads it, but the kernel keeps an end for reading open, too: without it writers would get
    SIGPIPE while a process that was killed is being replaced.
    """

    write: int
    read: int

    @classmethod
    def made(cls) -> Pipe:
        """A new pipe."""
        read, write = map(above_standard, os.pipe())
        return cls(write, read)

    def close(self) -> None:
        """Let go of it; other writers keep theirs."""
        for descriptor in (self.write, self.read):
            with contextlib.suppress(OSError):  # the user's code has closed all descriptors
                os.close(descriptor)


class Reader:
    """One process that empties pipes from `start` to `forward`, for files given by descriptor."""

    def __init__(self, pipes: Sequence[Pipe], files: Sequence[int], outputs: Sequence[int]) -> None:
        self._pipes, self._files, self._outputs = pipes, files, outputs
        self._settled = [0] * len(pipes)  # what STORED is where everything was shown
        self._questions: Questions | None = None
        self._bell = -1
        self._stuck_samples = 0
        #: Whether it was ended here, since it stood still.
        self.was_stuck = False

    def start(self, shown: Sequence[int]) -> None:
        """Start it; `shown` is how much of each file was shown. Raises OSError where there can be no process.

        It takes 15 ms to be ready: `settle` says when, and `listen` whether it has ended instead.
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
            for pipe, file, output in zip(self._pipes, self._files, self._outputs, strict=True):
                given += (pipe.read, file, output)
            arguments = [reader_process.__file__, str(os.getpid()), str(len(self._pipes))]
            detached.start([detached.python(), "-I", "-S", *arguments], given)
            os.set_blocking(self._bell, False)
            ours.setblocking(False)
            self._questions = Questions(ours, self._words)
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
        """Return whether it still stores what it takes; else it passes it on, for there was no room."""
        return not any(self._words[number * WORDS + GONE] for number in range(len(self._pipes)))

    def behind(self, number: int) -> Callable[[], bool]:
        """A function that says whether something was written to a stream and has not been shown."""
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
        """Have all that was written up to now in the files; whether that was done within so many seconds."""
        return self._questions is not None and self._questions.settle(seconds)

    def forward(self, seconds: float) -> None:
        """Have what is written from now on passed on; `listen` ends then."""
        if self._questions is not None:
            self._questions.forward(seconds)

    def listen(self, seconds: float, *, news: bool) -> bool:
        """Wait for so long, or until the process calls; False: it has ended. For one thread.

        With `news` it calls as soon as something is stored, else only where writers have to wait.
        """
        self._words[ARMED] = news
        if news and any(2 * self.stored(one) != shown for one, shown in enumerate(self._settled)):
            return True
        happened = self._waiting.poll(seconds * 1000)
        if self._questions is None:
            return False
        if any(event & select.POLLIN for _, event in happened):
            with contextlib.suppress(OSError):
                os.read(self._bell, 64)
            return True
        return not happened

    @property
    def ended(self) -> bool:
        """Return whether the process was seen to have ended."""
        return self._questions is not None and self._questions.ended

    def silent(self) -> float:
        """For how many seconds a request has not been answered."""
        return 0.0 if self._questions is None else self._questions.silent()

    def end_if_stuck(self) -> None:
        """End a process that stands still, for its writers wait for ever; to be called ten times a second."""
        process = self._words[PROCESS]
        self.settle(0.0)
        self._stuck_samples = self._stuck_samples + 1 if self.silent() > _STUCK else 0
        if process and self._stuck_samples >= _STUCK_LOOKS:
            self.was_stuck = True
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)

    def close(self) -> None:
        """Let go of it: when nobody listens any more, or in a forked child."""
        questions, self._questions = self._questions, None
        if questions is not None:
            with contextlib.suppress(OSError):
                questions.close()
                os.close(self._bell)
