"""The program of the reader process: it moves native output from the pipes at descriptors 1 and 2 into files.

The kernel cannot do that itself: native code that prints while it holds the GIL would fill its own pipe and
hang. `reader.Reader` starts this file by path, with `-I -S`, so only the standard library can be imported.

Its descriptors, from 3 on: `CONTROL`, a socket on which each number is a request (`SETTLE` or `FORWARD`) and
a byte wakes the thread that waits for its answer; `BELL`, a pipe that wakes a thread of the kernel; `PAGE`, a
file of 64-bit words that both processes map; and for each stream its pipe, its file, and the descriptor to
which output goes when it is no longer stored.

It ends with the kernel. Once it forwards, it ends with the last process that holds a pipe open for writing.

Sources: pidfd_open(2), pipe(7) of Linux; kqueue(2), EVFILT_PROC of Darwin (read, not run on a Mac).
"""

from __future__ import annotations

import array
import contextlib
import fcntl
import mmap
import os
import select
import sys
import termios
import time

CONTROL, BELL, PAGE, FIRST = 3, 4, 5, 6
#: Requests. A number from `SETTLE` on: store all that has been written. `FORWARD`: stop storing.
SETTLE, FORWARD, REQUEST_BYTES = 1, 2**64 - 1, 8
PAGE_BYTES = 4096

#: The words of a stream, and how many each has. STORED is twice the number of bytes in the file, plus 1 while
#: bytes are on their way from the pipe to the file. SHOWN, which the kernel writes, is the number of bytes
#: shown. GONE is 1 once nothing is stored any more.
STORED, SHOWN, GONE, WORDS = 0, 1, 2, 4
#: Words for all streams. ARMED: the kernel sets it to 1 to be woken when something is stored. ANSWERED: the
#: greatest request that was answered. PROCESS: the number of this process.
ARMED, ANSWERED, PROCESS = 500, 501, 502

_CHUNK = 64 * 1024
#: If fewer bytes than this came, the pipe is left alone for so many seconds. Waking this process for each
#: line would double the time of writing the line.
_FEW, _NAP = 8 * 1024, 0.0003
#: Back-pressure: with this many bytes not shown, writers wait for the kernel to show some.
_ENOUGH = 8 * 1024**2
#: A kernel that shows nothing for so many seconds may be printing while it holds the GIL. Then writers go on,
#: up to this many bytes.
_PATIENCE, _MOST = 1.0, 256 * 1024**2
#: Milliseconds between two checks of what the kernel has shown, while writers wait.
_RECHECK = 5
_SYS_PIDFD_OPEN = 434  # on all architectures except Alpha
_OUTPUT_CHUNK = 512 if sys.platform == "darwin" else 4096  # poll(2) promises room for PIPE_BUF bytes


class PipedStream:
    """One pipe, the file that its bytes are stored in, and the descriptor that they are forwarded to."""

    def __init__(self, number: int, words: memoryview) -> None:
        self.pipe, self.file, self.output = range(FIRST + 3 * number, FIRST + 3 * number + 3)
        self.words = words[number * WORDS : (number + 1) * WORDS]
        self.open = True
        self.forwards = False
        self._unsent = b""  # to be forwarded
        #: True if the last read returned few bytes.
        self.is_slow = False
        #: True if the kernel should read at once because writers wait for it.
        self.is_urgent = False
        self._shown, self._since = 0, 0.0
        self._stored = os.fstat(self.file).st_size  # a reader before this one may have begun it
        self.words[STORED] = 2 * self._stored
        os.set_blocking(self.pipe, False)
        fcntl.lockf(self.file, fcntl.LOCK_EX)  # `exits.listener` waits until it is released

    def waits_for(self) -> tuple[int, int]:
        """Return the descriptor and the poll event to wait for; the descriptor is -1 while writers wait."""
        if self._unsent:
            return self.output, select.POLLOUT
        return (-1 if not self.forwards and self._holds_back() else self.pipe), select.POLLIN

    def step(self) -> None:
        """Read or write once, when what it waits for has happened."""
        if self._unsent:
            self._forward()
        else:
            self.is_slow = self._move(_CHUNK) < _FEW

    def settle(self) -> None:
        """Store all that has been written up to now."""
        count = array.array("i", [0])
        fcntl.ioctl(self.pipe, termios.FIONREAD, count)
        left = count[0]
        while left > 0 and self.open and not self._unsent:
            left -= self._move(min(left, _CHUNK)) or left

    def forward_from_now(self) -> None:
        """Stop storing, and forward instead."""
        if not self.forwards:
            self.forwards = True
            self.words[GONE] = 1
            os.close(self.file)  # releases the lock, too

    def _move(self, most: int) -> int:
        """Take bytes from the pipe. Returns how many, 0 if there were none."""
        self.words[STORED] = 2 * self._stored + 1
        try:
            data = os.read(self.pipe, most)
        except BlockingIOError:
            return 0
        else:
            if not data:
                self._close()
            elif self.forwards:
                self._unsent = data
                self._forward()
            else:
                self._store(data)
            return len(data)
        finally:
            self.words[STORED] = 2 * self._stored

    def _store(self, data: bytes) -> None:
        try:
            while data:
                done = os.write(self.file, data)
                self._stored += done
                data = data[done:]
        except OSError:  # no room, or a limit on file size
            self.forward_from_now()
            self._unsent = data

    def _forward(self) -> None:
        try:
            self._unsent = self._unsent[os.write(self.output, self._unsent[:_OUTPUT_CHUNK]) :]
        except BlockingIOError:
            return
        except OSError:  # the other end is closed: then writers should get SIGPIPE
            self._close()

    def _holds_back(self) -> bool:
        """Return True if writers have to wait until the kernel has shown more."""
        shown, now = self.words[SHOWN], time.monotonic()
        unshown = self._stored - shown
        if unshown <= _ENOUGH:
            self._shown, self._since = shown, 0.0
            return False
        if shown != self._shown or not self._since:
            self._shown, self._since = shown, now
            self.is_urgent = True
        return now - self._since < _PATIENCE or unshown > _MOST

    def _close(self) -> None:
        self.open = False
        self._unsent = b""
        os.close(self.pipe)


class PipesToFiles:
    """Serves all streams of one kernel."""

    def __init__(self, kernel: int, streams: int) -> None:
        page = mmap.mmap(PAGE, PAGE_BYTES)
        self._words = memoryview(page).cast("Q")
        self._streams = [PipedStream(number, self._words) for number in range(streams)]
        self._control: int | None = CONTROL
        os.set_blocking(BELL, False)
        os.set_blocking(CONTROL, False)
        self._words[PROCESS] = os.getpid()
        self._process_end = _ProcessEnd(kernel)
        self._end = self._process_end.fileno()

    def run(self) -> None:
        """Return when the kernel has ended, or when no process can write any more."""
        while any(stream.open for stream in self._streams):
            self._nap()
            ready, has_request, ended = self._wait()
            for stream in ready:
                stream.step()
            if ended:
                self._settle()
                return
            if has_request:
                self._answer()
            self._ring(bool(ready))

    def _nap(self) -> None:
        """Wait until slow writers have written some more or the kernel asks for something."""
        if any(stream.is_slow for stream in self._streams):
            awake = [
                descriptor
                for descriptor in (self._control, self._end)
                if descriptor is not None and descriptor >= 0
            ]
            select.select(awake, [], [], _NAP)
            for stream in self._streams:
                stream.is_slow = False

    def _wait(self) -> tuple[list[PipedStream], bool, bool]:
        """Return the ready streams, True if there is a request, and True if the kernel has ended."""
        poll = select.poll()
        if self._end >= 0:  # an old system has none: there the end of the control socket has to do
            poll.register(self._end, select.POLLIN)
        if self._control is not None:
            poll.register(self._control, select.POLLIN)
        by_descriptor, timeout = {}, None
        for stream in self._streams:
            if stream.open:
                descriptor, event = stream.waits_for()
                if descriptor < 0:
                    timeout = _RECHECK
                    continue
                by_descriptor[descriptor] = stream
                poll.register(descriptor, event)
        self._ring(False)
        happened = [descriptor for descriptor, _ in poll.poll(timeout)]
        ready = [by_descriptor[descriptor] for descriptor in happened if descriptor in by_descriptor]
        return ready, self._control in happened, self._end in happened

    def _ring(self, news: bool) -> None:
        """Wake the kernel's thread if it waits for news or if writers wait for it."""
        urgent = any(stream.is_urgent for stream in self._streams)
        if self._control is None or not (urgent or (news and self._words[ARMED])):
            return
        self._words[ARMED] = 0
        for stream in self._streams:
            stream.is_urgent = False
        with contextlib.suppress(OSError):  # the pipe is full, or the kernel has ended
            os.write(BELL, b".")

    def _answer(self) -> None:
        requests = array.array("Q", os.read(CONTROL, 64 * REQUEST_BYTES))
        self._settle()
        if not requests or FORWARD in requests:  # tracing ends, or the kernel's code closed all descriptors
            self._control = None
            for stream in self._streams:
                stream.forward_from_now()
        self._words[ANSWERED] = max((self._words[ANSWERED], *requests))
        with contextlib.suppress(OSError):  # the kernel has ended, or does not read all answers
            os.write(CONTROL, b".")
        if self._control is None:
            os.close(CONTROL)
            os.close(BELL)

    def _settle(self) -> None:
        for stream in self._streams:
            if stream.open and not stream.forwards:
                stream.settle()


class _ProcessEnd:
    """A descriptor that becomes readable when a process has ended."""

    def __init__(self, process: int) -> None:
        if sys.platform == "linux":
            self._descriptor = _pidfd_open(process)
        else:
            self._queue = select.kqueue()
            event = select.kevent(process, select.KQ_FILTER_PROC, select.KQ_EV_ADD, select.KQ_NOTE_EXIT)
            self._queue.control([event], 0)
            self._descriptor = self._queue.fileno()

    def fileno(self) -> int:
        """Return the descriptor; -1 if the system has none."""
        return self._descriptor


def _pidfd_open(process: int) -> int:
    if hasattr(os, "pidfd_open"):
        return os.pidfd_open(process)
    import ctypes  # a Python that was built for older systems, such as conda's

    return int(ctypes.CDLL(None).syscall(_SYS_PIDFD_OPEN, process, 0))


def main(kernel: int, streams: int) -> None:
    """Serve a kernel, given by its process id, until there is nothing more to do."""
    for name in os.listdir("/dev/fd"):  # inherited from the kernel: while open, they keep others waiting
        if int(name) >= FIRST + 3 * streams:
            with contextlib.suppress(OSError):  # the descriptor of the listing itself
                os.close(int(name))
    os.setsid()  # so that the kernel's interrupts do not reach it
    os.chdir("/")
    PipesToFiles(kernel, streams).run()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
