"""Where tapped output goes on to, so that the user sees it where it would have been seen without us."""

from __future__ import annotations

import os
import select
import sys
from typing import Protocol

#: At most this much goes into one write: poll(2) promises room for PIPE_BUF bytes, 4,096 on Linux and
#: 512 on Darwin.
_CHUNK = 512 if sys.platform == "darwin" else 4096


class Echo(Protocol):
    """Takes bytes in order and never makes the caller wait."""

    def write(self, data: bytes) -> int:
        """Pass on as much as can be passed on now; returns how many bytes that was."""

    def ready(self, timeout: float) -> bool:
        """Wait up to `timeout` seconds until more can be written."""


class DescriptorEcho:
    """To the descriptor that was there before: a terminal, a server's log, a pipe of ipykernel's."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLOUT)

    def write(self, data: bytes) -> int:
        """Pass bytes on; returns how many were taken: all, where nobody is at the other end."""
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
        """Whether something can be written within so many seconds."""
        try:
            return bool(self._poll.poll(timeout * 1000))
        except OSError:
            return True
