"""A fake of the teacher's view, to test what is sent to it: it follows the protocol or misbehaves."""

from __future__ import annotations

import json
import shutil
import tempfile
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingMixIn, UnixStreamServer
from typing import ClassVar
from urllib.parse import quote

from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.teach.sharing.report import MAX_BYTES, Report, from_bytes


class FakeTeacher:
    """A web server at a Unix socket, as on a hub of one machine.

    `behave` says what it does with the next posts: "take" stores and acknowledges, "forget" acknowledges
    nothing, a number answers with that status and an error, "html" answers with a page, "gigabyte" with
    1 GB, "drip" with a byte now and then and no end, "hang up" not at all, "redirect" elsewhere.
    """

    def __init__(self, token: str = "a-token") -> None:
        self.token = token
        self.behave: str | int = "take"
        #: The reports that were stored, and every body that was received.
        self.reports: list[Report] = []
        self.bodies: list[bytes] = []
        #: Bytes of a large answer that the client has read.
        self.poured = 0
        self._changed = threading.Condition()
        folder = tempfile.mkdtemp(prefix="mlgpu-")  # not pytest's: a socket's path must be short
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._socket = Path(folder).resolve() / "reports"
        self.resume()

    @property
    def url(self) -> str:
        """The value for JUPYTER_MLGPU_TEACHER_URL."""
        return f"http+unix://{quote(str(self._socket), safe='')}/services/teacher"

    def cut(self) -> None:
        """Stop listening at the address."""
        self._server.shutdown()
        self._server.server_close()

    def resume(self) -> None:
        """Listen at the same address as before."""
        handler = type("Handler", (_Handler,), {"teacher": self})
        self._socket.unlink(missing_ok=True)
        self._server = _Server(str(self._socket), handler)
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def numbers(self) -> list[int]:
        """Return the numbers of the stored records in order of arrival."""
        return [record.number for report in self.reports for record in report.records]

    def receive(self, body: bytes, report: Report | None) -> None:
        """Keep the body of a post; `report` is what was stored of it."""
        with self._changed:
            self.bodies.append(body)
            if report is not None:
                self.reports.append(report)
            self._changed.notify_all()

    def wait(self, until: Callable[[], bool], seconds: float = 60.0) -> None:
        """Wait until the condition holds after a post. Raises TimeoutError if it does not."""
        with self._changed:
            if not self._changed.wait_for(until, seconds):
                raise TimeoutError(f"found {len(self.bodies)} posts, records {self.numbers()}")


class _Server(ThreadingMixIn, UnixStreamServer):
    daemon_threads = True
    request_queue_size = 50


class _Handler(BaseHTTPRequestHandler):
    teacher: ClassVar[FakeTeacher]

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        body = self.rfile.read(min(length, MAX_BYTES + 1))
        behave = self.teacher.behave
        if behave not in ("take", "forget"):
            self.teacher.receive(body, None)
            self._misbehave(behave)
        elif self.path != "/services/teacher/api/reports":
            self._answer(404, {"error": "There is nothing here."})
        elif self.headers["Authorization"] != f"token {self.teacher.token}":
            self._answer(403, {"error": "The hub does not know this token."})
        else:
            self._take(body, behave == "take")

    def _take(self, body: bytes, stored: bool) -> None:
        try:
            report = from_bytes(body)
        except RecordError as error:
            self.teacher.receive(body, None)
            self._answer(400, {"error": str(error)})
            return
        self.teacher.receive(body, report if stored else None)
        self._answer(200, {"acknowledged": [record.id for record in report.records if stored]})

    def _misbehave(self, behave: str | int) -> None:
        if isinstance(behave, int):
            self._answer(behave, {"error": f"No,\x1b[31m not now\n({behave})."})
        elif behave == "html":
            self._send(200, b"<html><script>alert(1)</script></html>")
        elif behave == "redirect":
            self.send_response(307)
            self.send_header("Location", f"{self.teacher.url}/elsewhere")
            self.end_headers()
        elif behave == "gigabyte":
            self._pour()
        elif behave == "drip":
            self._drip()
        self.close_connection = True

    def _pour(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(10**9))
        self.end_headers()
        with suppress(OSError):
            for _ in range(1000):
                self.wfile.write(b"[" * 10**6)
                self.teacher.poured += 10**6

    def _drip(self) -> None:
        with suppress(OSError):
            self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
            while True:
                self.wfile.write(b"a")
                time.sleep(0.01)

    def _answer(self, status: int, data: object) -> None:
        self._send(status, json.dumps(data).encode())

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""
