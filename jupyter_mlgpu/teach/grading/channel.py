"""The channel between the grader and a sandbox worker: questions and answers, one line each.

It is a socket, because a process that has one end of a pipe can open the other end through /proc. The
student's code runs in the worker's process and can write to the worker's end. So each question carries a
random number (a nonce), its answer must carry the same, and the answer counts only when the worker waits for
the next question (`waiting.py`). Any other answer is tampering.
"""

from __future__ import annotations

import os
import secrets
import selectors
import socket
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from jupyter_mlgpu.record.errors import GradingError
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.grading import codec, waiting

#: Seconds between two polls of the worker's state, and the longest that a state change may take.
_POLLING_INTERVAL = 0.00005
_PATIENCE = 5.0

_TAMPERED = say(
    "It gave an answer that our own part of its process did not make, so it was ended: code of a submission "
    "must leave the files and sockets alone that it finds open."
)


class Channel:
    """The grader's end of the channel.

    `lost` returns a sentence on why the process has ended, or None while it runs. `now` is the clock of
    deadlines. All methods raise GradingError if the process has ended, answers too late, or was tampered
    with.
    """

    def __init__(self, lost: Callable[[], str | None], now: Callable[[], float] = time.monotonic) -> None:
        self._lost, self._now = lost, now
        #: The worker's end. The code that starts the worker closes it afterwards.
        self.theirs: socket.socket
        self._ours, self.theirs = socket.socketpair()
        self._inode = os.fstat(self.theirs.fileno()).st_ino
        self._ours.setblocking(False)
        self._arrived = bytearray()
        #: The worker's process, once it is found.
        self.worker: int | None = None
        self._waits = 0

    def close(self) -> None:
        """Close both ends."""
        self._ours.close()
        self.theirs.close()

    def ask(self, line: bytes, deadline: float) -> dict[str, Any]:
        """Send a question, and return the answer that carries its number."""
        number = secrets.token_hex(16)
        self._send(codec.with_number(line, number), deadline)
        answer = codec.unpack(self._receive(deadline))
        if answer.pop("number", None) != number:
            raise GradingError(_TAMPERED)
        return answer

    def find_worker(self, processes: Callable[[], Iterable[int]]) -> None:
        """Find the worker among processes: before any student's code has run, it alone waits on the channel.

        If the kernel does not show this, only the number in each answer identifies the worker.
        """
        soon = self._now() + _PATIENCE
        known = Path("/proc/self/syscall").exists()
        while known and self.worker is None and self._now() < soon and self._lost() is None:
            for process in processes():
                waits = waiting.waits_of(process, self._inode)
                if waits is not None:
                    self.worker, self._waits = process, waits
            time.sleep(_POLLING_INTERVAL)

    def await_worker(self, deadline: float) -> None:
        """Wait until the worker waits for the next question; before that, its work is not done."""
        if self.worker is None:
            return
        soon = self._now() + _PATIENCE
        while True:
            waits = waiting.waits_of(self.worker, self._inode)
            if waits is not None and waits > self._waits:
                break
            if waits is not None and self._now() > soon:  # it has not read the question
                raise GradingError(_TAMPERED)
            self._check(deadline)
            time.sleep(_POLLING_INTERVAL)
        self._waits = waits
        self._take()
        if self._arrived:
            raise GradingError(_TAMPERED)

    def _send(self, line: bytes, deadline: float) -> None:
        rest = memoryview(line)
        while rest:
            self._ready(selectors.EVENT_WRITE, deadline)
            try:
                rest = rest[self._ours.send(rest) :]
            except BlockingIOError:
                continue
            except OSError:
                raise GradingError(self._why_closed()) from None

    def _receive(self, deadline: float) -> bytes:
        while b"\n" not in self._arrived:
            if len(self._arrived) > codec.LIMIT:
                raise GradingError(f"It answered with more than {codec.LIMIT / 1e6:.0f} MB.")
            self._ready(selectors.EVENT_READ, deadline)
            self._take()
        line, _, rest = self._arrived.partition(b"\n")
        self._arrived = bytearray(rest)
        return bytes(line)

    def _take(self) -> None:
        """Read the bytes that have arrived, if there are any."""
        try:
            block = self._ours.recv(1024**2)
        except BlockingIOError:
            return
        except OSError:
            block = b""
        if not block:
            raise GradingError(self._why_closed())
        self._arrived += block

    def _ready(self, event: int, deadline: float) -> None:
        """Wait for the socket and check the process every second: a child may keep the worker's end open."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._ours, event)
            while not selector.select(min(1.0, max(0.0, deadline - self._now()))):
                self._check(deadline)

    def _check(self, deadline: float) -> None:
        why = self._lost()
        if why is not None:
            raise GradingError(why)
        if self._now() >= deadline:
            raise GradingError("It did not answer in time and was stopped: is there a loop that never ends?")

    def _why_closed(self) -> str:
        """Return why the channel is closed: the process is ending, or has closed its end."""
        soon = time.monotonic() + _PATIENCE
        while self._lost() is None and time.monotonic() < soon:
            time.sleep(0.01)
        return self._lost() or "Its process ended its talk with the grader."
