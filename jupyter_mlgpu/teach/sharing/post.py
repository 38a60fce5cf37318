"""One HTTP post of a report to the teacher's view, which ends within a few seconds in any case.

It uses `http.client`, which follows no redirect, so the token is sent only to the hub's address, and which
uses no proxy from the environment. An answer is read up to a size and a point in time, because the timeout of
a socket alone restarts with every byte.
"""

from __future__ import annotations

import io
import json
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from msgspec import Struct

from jupyter_mlgpu.record import decoding
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.teach.sharing.address import Address, anybody_could_listen, socket_of, why_untrusted
from jupyter_mlgpu.teach.sharing.outbox import ReportAnswer

#: Seconds from the start of the connection within which the answer has to be complete.
LIMIT = 5.0
#: Most bytes of an answer that are read; one that acknowledges 100 records has 5,000.
LONGEST_ANSWER = 65_536
#: Most characters of the receiver's own words that are shown.
_SHOWN = 200

_FINAL = (400, 413)
_REASONS: Mapping[int, str] = {
    400: "it refused a report as wrong (400)",
    401: "it does not know this server's token (401)",
    403: "it does not let this server's token in (403)",
    404: "there is no teacher's view at that address (404)",
    413: "it refused a report as too large (413)",
    429: "it has too many reports at once (429)",
    503: "it cannot store anything just now (503)",
}


def post(address: Address, body: bytes, allowed: Callable[[], bool]) -> ReportAnswer:
    """Send one report and return the result; nothing that the receiver does raises an error.

    `allowed` is called when the connection is open, before anything is sent.
    """
    try:
        exchanged = _exchange(address, body, allowed)
    except _UntrustedSocketError as error:
        return ReportAnswer(None, f"the token of this server is not sent there: {error}")
    except TimeoutError:
        return ReportAnswer(None, f"it did not answer within {LIMIT:g} s")
    except HTTPException as error:
        return ReportAnswer(None, f"it does not answer as a web server does ({type(error).__name__})")
    except OSError as error:
        return ReportAnswer(None, f"it cannot be reached ({error.strerror or type(error).__name__})")
    if exchanged is None:
        return ReportAnswer(None, "sharing was turned off")
    return _parse_answer(*exchanged)


def _exchange(address: Address, body: bytes, allowed: Callable[[], bool]) -> tuple[int, bytes] | None:
    deadline = real_time.monotonic() + LIMIT
    parts = urlsplit(f"{address.url}/api/reports")
    connection = _connection(parts)
    try:
        connection.connect()
        if type(connection) is HTTPConnection and anybody_could_listen(connection.sock):
            raise _UntrustedSocketError("any program of this machine could listen at that port")
        if not allowed():
            return None
        headers = {
            "Authorization": f"token {address.token}",
            "Content-Type": "application/json",
            "Connection": "close",
        }
        connection.sock.settimeout(max(0.001, deadline - real_time.monotonic()))
        # A receiver may answer and close before it has read everything, for example if it is too large.
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.request("POST", parts.path, body, headers)
        response = HTTPResponse(connection.sock, method="POST")
        response.fp = io.BufferedReader(_Within(response.fp, connection.sock, deadline))
        try:
            response.begin()
            return response.status, response.read(LONGEST_ANSWER + 1)
        finally:
            response.close()
    finally:
        connection.close()


class _UntrustedSocketError(Exception):
    """Another user might listen at the address; the reason follows a colon."""


class _SocketConnection(HTTPConnection):
    """A connection to a Unix socket that no other user can have put there."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=LIMIT)
        self._path = path

    def connect(self) -> None:
        if (why := why_untrusted(self._path)) is not None:
            raise _UntrustedSocketError(why)
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(LIMIT)
        self.sock.connect(str(self._path))


def _connection(parts: SplitResult) -> HTTPConnection:
    path = socket_of(parts)
    if path is not None:
        return _SocketConnection(path)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    return kind(str(parts.hostname), parts.port, timeout=LIMIT)


class _Within(io.RawIOBase):
    """A socket's bytes up to a point in monotonic time; later reads raise TimeoutError."""

    def __init__(self, file: Any, connection: socket.socket, deadline: float) -> None:
        self._file = file
        self._connection = connection
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._deadline - real_time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)
        count: int = self._file.readinto1(buffer)
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


def _parse_answer(status: int, body: bytes) -> ReportAnswer:
    answer = _answer(body)
    if status == 200:
        if answer.acknowledged is not None:
            return ReportAnswer(answer.acknowledged)
        return ReportAnswer(None, "it answered without saying what it has stored")
    why = _REASONS.get(status, f"it answered with status {status}")
    if words := _plain(answer.error):
        why = f"{why}: {words.rstrip('.')}"
    return ReportAnswer(None, why, final=status in _FINAL)


class _ServerAnswer(Struct):
    """The answer of the teacher's view; something else may be at its address."""

    acknowledged: frozenset[str] | None = None
    error: str = ""


def _answer(body: bytes) -> _ServerAnswer:
    if len(body) > LONGEST_ANSWER:
        return _ServerAnswer()
    try:
        return decoding.decode(_ServerAnswer, json.loads(body), "the answer")
    except (ValueError, RecursionError, RecordError):
        return _ServerAnswer()


def _plain(words: str) -> str:
    """Return the receiver's words without control characters, and shortened."""
    text = " ".join("".join(one if one.isprintable() else " " for one in words[: 4 * _SHOWN]).split())
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
