"""The kernel's side: connects to the process that started it, which detects the end of the connection."""

from __future__ import annotations

import json
import os
import socket
import weakref
from collections.abc import Mapping
from contextlib import suppress

#: Path of the socket; the process that starts kernels sets it (`listener.py`, which kernels do not import).
VARIABLE = "JUPYTER_MLGPU_DEATH_SOCKET"
#: Seconds for which loading the extension waits until a listener accepts its connection.
_WAIT = 0.2


class Connection:
    """A connection to the listener, from `open` to `close`; without a listener it does nothing."""

    def __init__(self, flight_record: str) -> None:
        self._flight_record = flight_record
        self._socket: socket.socket | None = None

    def open(self) -> None:
        """Connect to the listener, if there is one."""
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
        """Send the descriptors of the files of native lines."""
        message = {"account": self._flight_record, "pid": os.getpid(), "streams": list(files)}
        self._send(message, list(files.values()))

    def close(self) -> None:
        """Send a goodbye, so that the following exit is not reported, and close."""
        self._send({"account": None}, [])
        self.drop()

    def drop(self) -> None:
        """Close without a message."""
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
    # Otherwise the connection would end with the last child. Such a registration cannot be undone.
    reference = weakref.ref(connection)

    def after_fork() -> None:
        alive = reference()
        if alive is not None:
            alive.drop()

    os.register_at_fork(after_in_child=after_fork)
