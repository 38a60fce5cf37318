"""The kernel's side: it calls the process that has started it, which sees when the connection ends."""

from __future__ import annotations

import json
import os
import socket
import weakref
from collections.abc import Mapping
from contextlib import suppress

#: Names the socket; whoever starts kernels sets it (`listener.py`, which no kernel needs).
VARIABLE = "JUPYTER_MLGPU_DEATH_SOCKET"
#: Seconds that loading waits for a listener, which only has to take the call.
_WAIT = 0.2


class Connection:
    """A line to the listener, from `open` to `close`; without a listener nothing happens."""

    def __init__(self, flight_record: str) -> None:
        self._account = flight_record
        self._socket: socket.socket | None = None

    def open(self) -> None:
        """Call the listener, if there is one."""
        path = os.environ.get(VARIABLE)
        if not path:
            return
        line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        line.settimeout(_WAIT)
        try:
            line.connect(path)
        except OSError:  # the server is gone, or on another machine
            line.close()
            return
        self._socket = line
        _close_in_forked_children(self)

    def tell(self, files: Mapping[str, int]) -> None:
        """Hand over the files of native lines."""
        told = {"account": self._account, "pid": os.getpid(), "streams": list(files)}
        self._send(told, list(files.values()))

    def close(self) -> None:
        """Say goodbye: what comes now is no death."""
        self._send({"account": None}, [])
        self.drop()

    def drop(self) -> None:
        """Let go of the line without a word."""
        line, self._socket = self._socket, None
        if line is not None:
            with suppress(OSError):
                line.close()

    def _send(self, message: Mapping[str, object], descriptors: list[int]) -> None:
        if self._socket is None:
            return
        data = json.dumps(message).encode() + b"\n"
        try:
            if descriptors:
                socket.send_fds(self._socket, [data], descriptors)
            else:
                self._socket.sendall(data)
        except OSError:  # the listener is gone
            self.drop()


def _close_in_forked_children(connection: Connection) -> None:
    # Else the line would end with the last child. Such a registration cannot be taken back.
    reference = weakref.ref(connection)

    def after_fork() -> None:
        alive = reference()
        if alive is not None:
            alive.drop()

    os.register_at_fork(after_in_child=after_fork)
