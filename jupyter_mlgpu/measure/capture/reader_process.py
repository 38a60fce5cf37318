"""The program of the process that empties the pipes at descriptors 1 and 2 into files.

It runs beside a kernel and needs nothing of it: a kernel whose native code prints while it holds the GIL
would otherwise fill its own pipe and hang. What it stores the kernel reads and shows. `reader.Reader` starts
it, by path and with `-I -S`, so that only the standard library can be imported here.

The descriptors that it is given, from 3 on: `CONTROL`, a socket on which each byte is a request (`SETTLE`
or `FORWARD`) that is answered by the same byte; `BELL`, a pipe on which it says that something was stored;
`PAGE`, a file of 64-bit words that both sides map; and for each stream its pipe, its file, and where output
goes when it is no longer stored.

It ends with the kernel, or, once it forwards, with the last process that could write.

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
#: All that was written is to be stored (the number from 1 to 255 is the kernel's), or nothing any more.
SETTLE, FORWARD = 1, 0
PAGE_BYTES = 4096

#: The words of a stream, and how many each has. TURN is odd while bytes are between pipe and file; STORED
#: counts those in the file; SEEN, which the kernel writes, those that it has shown; GONE is 1 when nothing is
#: stored any more.
TURN, STORED, SEEN, GONE, WORDS = 0, 1, 2, 3, 4
#: The word by which the kernel asks to be woken when something is stored.
ARMED = 500

_CHUNK = 64 * 1024
#: With so much unread, a writer waits for a kernel that shows what it has (back-pressure); one that does not
#: read for so many seconds may be printing under its own GIL, and is waited for only at the last limit.
_ENOUGH, _MOST = 16 * 1024**2, 256 * 1024**2
_PATIENCE = 1.0
_SYS_PIDFD_OPEN = 434  # of all processors but Alpha's
_OUTPUT_CHUNK = 512 if sys.platform == "darwin" else 4096  # poll(2) promises room for PIPE_BUF bytes


class PipedStream:
    """One pipe, the file that it is stored in, and where it is forwarded to."""

    def __init__(self, number: int, words: memoryview) -> None:
        self.pipe, self.file, self.output = range(FIRST + 3 * number, FIRST + 3 * number + 3)
        self.words = words[number * WORDS : (number + 1) * WORDS]
        self.open = True
        self.forwards = False
        self._waiting = b""  # to be forwarded
        #: Whether the kernel should look at once.
        self.calls = False
        self._seen, self._since = 0, 0.0
        self.words[STORED] = os.fstat(self.file).st_size  # a reader before this one may have begun it
        os.set_blocking(self.pipe, False)
        fcntl.lockf(self.file, fcntl.LOCK_EX)  # `deaths.listener` waits until it is gone

    def wanted(self) -> tuple[int, int]:
        """The descriptor to wait for, and the event; -1: none, for now."""
        if self._waiting:
            return self.output, select.POLLOUT
        return (-1 if not self.forwards and self._pauses() else self.pipe), select.POLLIN

    def go_on(self) -> None:
        """Take what is there, once; to be called when `wanted` has happened."""
        if self._waiting:
            self._forward()
        else:
            self._take(_CHUNK)

    def settle(self) -> None:
        """Take all that was written up to now."""
        count = array.array("i", [0])
        fcntl.ioctl(self.pipe, termios.FIONREAD, count)
        left = count[0]
        while left > 0 and self.open and not self._waiting:
            left -= self._take(min(left, _CHUNK)) or left

    def leave_file(self) -> None:
        """Forward from now on."""
        if not self.forwards:
            self.forwards = True
            self.words[GONE] = 1
            os.close(self.file)  # which ends the lock, too

    def _take(self, most: int) -> int:
        """Move bytes from the pipe; returns how many, 0 where there were none."""
        self.words[TURN] += 1
        try:
            data = os.read(self.pipe, most)
        except BlockingIOError:
            return 0
        else:
            if not data:
                self._close()
            elif self.forwards:
                self._waiting = data
                self._forward()
            else:
                self._store(data)
            return len(data)
        finally:
            self.words[TURN] += 1

    def _store(self, data: bytes) -> None:
        try:
            while data:
                done = os.write(self.file, data)
                self.words[STORED] += done
                data = data[done:]
        except OSError:  # no room, or a limit on the size of files
            self.leave_file()
            self._waiting = data

    def _forward(self) -> None:
        try:
            self._waiting = self._waiting[os.write(self.output, self._waiting[:_OUTPUT_CHUNK]) :]
        except BlockingIOError:
            return
        except OSError:  # nobody reads there any more: nor does anybody here
            self._close()

    def _pauses(self) -> bool:
        """Whether a writer has to wait, for the kernel has much to show and is showing it."""
        seen, now = self.words[SEEN], time.monotonic()
        unread = self.words[STORED] - seen
        if unread <= _ENOUGH:
            self._seen, self._since = seen, 0.0
            return False
        if seen != self._seen or not self._since:
            self._seen, self._since = seen, now
            self.calls = True
        return now - self._since < _PATIENCE or unread > _MOST

    def _close(self) -> None:
        self.open = False
        self._waiting = b""
        os.close(self.pipe)


class Emptier:
    """Empties the pipes until there is nothing more to do."""

    def __init__(self, kernel: int, streams: int) -> None:
        page = mmap.mmap(PAGE, PAGE_BYTES)
        self._words = memoryview(page).cast("Q")
        self._streams = [PipedStream(number, self._words) for number in range(streams)]
        self._control: int | None = CONTROL
        os.set_blocking(BELL, False)
        self._ending = _ProcessEnd(kernel)
        self._end = self._ending.fileno()

    def run(self) -> None:
        """Return when the kernel has ended, or when nobody can write any more."""
        while any(stream.open for stream in self._streams):
            ready, asked, ended = self._wait()
            for stream in ready:
                stream.go_on()
            if ended:
                self._settle()
                return
            if asked:
                self._answer()
            self._ring(bool(ready))

    def _wait(self) -> tuple[list[PipedStream], bool, bool]:
        """Wait for work; returns the streams that have some, whether there is a request, and an end."""
        poll = select.poll()
        if self._end >= 0:  # a system too old for it: the end of the control socket has to do
            poll.register(self._end, select.POLLIN)
        if self._control is not None:
            poll.register(self._control, select.POLLIN)
        by_descriptor, timeout = {}, None
        for stream in self._streams:
            if stream.open:
                descriptor, event = stream.wanted()
                if descriptor < 0:
                    timeout = 5  # milliseconds
                    continue
                by_descriptor[descriptor] = stream
                poll.register(descriptor, event)
        happened = [descriptor for descriptor, _ in poll.poll(timeout)]
        ready = [by_descriptor[descriptor] for descriptor in happened if descriptor in by_descriptor]
        return ready, self._control in happened, self._end in happened

    def _ring(self, news: bool) -> None:
        """Wake the kernel's thread where it wants to hear of news, or should hurry."""
        calls = any(stream.calls for stream in self._streams)
        if self._control is None or not (calls or (news and self._words[ARMED])):
            return
        self._words[ARMED] = 0
        for stream in self._streams:
            stream.calls = False
        with contextlib.suppress(OSError):  # it has rung often enough, or the kernel has gone
            os.write(BELL, b".")

    def _answer(self) -> None:
        asked = os.read(CONTROL, 64)
        self._settle()
        if not asked or FORWARD in asked:  # it asks for the end, or its code has closed all descriptors
            self._control = None
            for stream in self._streams:
                stream.leave_file()
        with contextlib.suppress(OSError):  # it has gone meanwhile
            os.write(CONTROL, asked)
        if self._control is None:
            os.close(CONTROL)
            os.close(BELL)

    def _settle(self) -> None:
        for stream in self._streams:
            if stream.open and not stream.forwards:
                stream.settle()


class _ProcessEnd:
    """Can be read (`fileno`) when a process has ended."""

    def __init__(self, process: int) -> None:
        if sys.platform == "linux":
            self._descriptor = _pidfd_open(process)
        else:
            self._queue = select.kqueue()
            event = select.kevent(process, select.KQ_FILTER_PROC, select.KQ_EV_ADD, select.KQ_NOTE_EXIT)
            self._queue.control([event], 0)
            self._descriptor = self._queue.fileno()

    def fileno(self) -> int:
        """The descriptor."""
        return self._descriptor


def _pidfd_open(process: int) -> int:
    if hasattr(os, "pidfd_open"):
        return os.pidfd_open(process)
    import ctypes  # a Python that was built for older systems, as conda's is

    return int(ctypes.CDLL(None).syscall(_SYS_PIDFD_OPEN, process, 0))


def main(kernel: int, streams: int) -> None:
    """Empty the pipes of a kernel, given by its process number."""
    for name in os.listdir("/dev/fd"):  # what the kernel's code lets its children have is not for us
        if int(name) >= FIRST + 3 * streams:
            with contextlib.suppress(OSError):  # the listing's own
                os.close(int(name))
    os.setsid()  # what interrupts the kernel is not for us
    os.chdir("/")
    Emptier(kernel, streams).run()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
