"""Passes captured output on to where it would have gone without capturing."""

from __future__ import annotations

import os
import select
import sys
from typing import Protocol

#: Most bytes in one write: poll(2) promises room for PIPE_BUF bytes, 4,096 on Linux and 512 on Darwin.
_CHUNK = 512 if sys.platform == "darwin" else 4096


class Echo(Protocol):
    """Takes bytes in order without ever blocking the caller."""

    def write(self, data: bytes) -> int:
        """Pass on as many bytes as possible now, and return their number."""

    def ready(self, timeout: float) -> bool:
        """Wait up to `timeout` seconds until more can be written. Returns True if it can."""


class DescriptorEcho:
    """Writes to the descriptor that was there before: a terminal, a server's log, a pipe of ipykernel's."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLOUT)

    def write(self, data: bytes) -> int:
        """Pass bytes on and return how many were taken: all, if the other end is closed."""
        done = 0
        while done < len(data) and self.ready(0):
            try:
                done += os.write(self._descriptor, data[done : done + _CHUNK])
            except BlockingIOError:
                break
            except OSError:
                return len(data)
        return done

    def ready(self, timeout: float) -> bool:
        """Wait up to `timeout` seconds. Returns True if something can be written."""
        try:
            return bool(self._poll.poll(timeout * 1000))
        except OSError:
            return True
