"""Requests to the process that empties the pipes, and its answers.

A request is a number on a socket, greater than all before it. A page that both processes map holds the
greatest number that was answered. So each thread sees for itself if its answer has come, whatever other
threads have asked since. There is no lock: a Ctrl-C between two lines could leave it locked for ever.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import math
import os
import select
import socket
import sys

from jupyter_mlgpu.measure.capture.reader_process import ANSWERED, FORWARD, REQUEST_BYTES, SETTLE
from jupyter_mlgpu.measure.handlers import is_of_a_handler
from jupyter_mlgpu.record.clock import real_time

#: Seconds to wait for an answer without releasing the GIL; most answers take 40 microseconds.
_SPIN = 0.0003
#: Seconds to wait at a time: another waiting thread may have read the byte that wakes this one.
_GLANCE = 0.02
_SEND_FLAGS = getattr(socket, "MSG_NOSIGNAL", 0) | socket.MSG_DONTWAIT
#: Seconds of silence after which a process is no longer waited for, and after which it is asked once more.
_SILENT, _ASK_AGAIN = 0.5, 1.0

# PyDLL keeps the GIL: releasing it would cost a busy cell far more.
_libc = ctypes.PyDLL(None)
_send, _yield = _libc.send, _libc.sched_yield


class ReaderRequests:
    """Asks one process, from any thread. `control` is the socket, `words` the page."""

    def __init__(self, control: socket.socket, words: memoryview) -> None:
        self._control, self._words = control, words
        self._numbers = itertools.count(SETTLE)
        self._owner = os.getpid()
        self._asked = -math.inf
        # The oldest request that may have no answer, and when it was sent.
        self._oldest = (0, 0.0)
        #: True if the process is known to have ended.
        self.ended = False

    def settle(self, seconds: float) -> bool:
        """Have all that was written up to now stored. Returns True if done within so many seconds."""
        now = real_time.monotonic()
        # A process that has been silent for long is not waited for each time.
        hopeless = self.silent() > _SILENT and now - self._asked < _ASK_AGAIN
        if hopeless and not self._answered(self._oldest[0], 0.0):
            return False
        return self._ask(next(self._numbers), seconds)

    def forward(self, seconds: float) -> None:
        """Have everything written from now on passed on instead of stored."""
        self._ask(FORWARD, seconds)

    def silent(self) -> float:
        """Return for how many seconds a request has not been answered."""
        number, since = self._oldest
        return 0.0 if self._words[ANSWERED] >= number else real_time.monotonic() - since

    def close(self) -> None:
        """Close the socket."""
        self._control.close()

    def _ask(self, number: int, seconds: float) -> bool:
        """Send a request and wait for its answer. Returns True if it came."""
        if os.getpid() != self._owner:  # a child forked by C code
            return False
        now = self._asked = real_time.monotonic()
        request = number.to_bytes(REQUEST_BYTES, sys.byteorder)
        sent = _send(self._control.fileno(), request, len(request), _SEND_FLAGS) == len(request)
        # Noted only after sending: an interrupt may have kept the request from being sent.
        if sent and self._words[ANSWERED] >= self._oldest[0]:
            self._oldest = number, now
        return self._answered(number, seconds if sent else 0.0)

    def _answered(self, number: int, seconds: float) -> bool:
        """Return True if a request is answered within so many seconds."""
        words, begun = self._words, real_time.perf_counter()
        # Without releasing the GIL: to get it back takes 5 ms if other threads are busy.
        while words[ANSWERED] < number and real_time.perf_counter() - begun < min(seconds, _SPIN):
            _yield()
        try:
            while words[ANSWERED] < number and not self.ended:
                left = max(0.0, begun + seconds - real_time.perf_counter())
                if not self._wakes_up(min(left, _GLANCE)) and left <= _GLANCE:
                    break
            if number % 64 == 0:  # clears bytes that nobody has waited for
                self._wakes_up(0.0)
        except (OSError, ValueError) as error:  # the process has ended, or the socket was closed
            if is_of_a_handler(error):
                raise
        return bool(words[ANSWERED] >= number)

    def _wakes_up(self, seconds: float) -> bool:
        """Wait for an answer or the end of the process. Raises OSError or ValueError."""
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        if not poll.poll(seconds * 1000):
            return False
        with contextlib.suppress(BlockingIOError):  # another thread has read it
            self.ended = self._control.recv(256) == b"" or self.ended
        return True
