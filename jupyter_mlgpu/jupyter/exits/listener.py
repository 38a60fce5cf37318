"""Detects the end of kernels in the process that starts them: the server or `jupyter mlgpu run`.

A kernel's native lines are stored in files without a name (measure/capture/storage.py), which end with the
kernel. The lines of its last tenth of a second have not been shown by then. So each kernel connects to a
socket here and sends the descriptors of those files. A connection ends when its process ends, for whatever
reason. At that time the last lines can still be read, and the system's counters are only milliseconds old.
Clients of Crashpad, Chromium's crash handler, register in the same way.

The protocol, over a Unix socket in a folder that only this user may enter, is lines of JSON:

    {"account": "jupyter_mlgpu-kernel-....account", "pid": 4711, "streams": ["stdout", "stderr"]}

with a descriptor for each stream, sent again whenever the files change. `"account": null` is a goodbye.
"""

from __future__ import annotations

import array
import json
import os
import selectors
import shutil
import socket
import stat
import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from jupyter_mlgpu.measure.flight_recorder import last_lines
from jupyter_mlgpu.measure.probes import oom, systemlog
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.flight import flight_files
from jupyter_mlgpu.record.flight.exit_report import ExitReport
from jupyter_mlgpu.record.flight.flight_record import FlightRecord, OomKills

#: Most bytes of each stream that are read after an exit, and most bytes of a message.
TAIL, _MESSAGE = 8 * 1024, 4096
#: Most kernels at a time, and the streams whose descriptors each sends.
_MOST_KERNELS, _STREAMS = 512, ("stdout", "stderr")
#: Seconds that the listener waits for a process to end after its connection has ended.
_PATIENCE = 2.0


@dataclass(slots=True)
class _Kernel:
    """A connected kernel; `files` are descriptors by stream."""

    flight_record: str | None = None
    pid: int | None = None
    files: dict[str, int] = field(default_factory=dict)
    counters: oom.OomCounters | None = None
    oom_before: OomKills = field(default_factory=OomKills)

    def close(self) -> None:
        for descriptor in self.files.values():
            os.close(descriptor)
        self.files = {}


@dataclass(frozen=True, slots=True)
class EndedKernel:
    """A kernel that has ended, with its flight record and an exit report that lacks the exit status."""

    path: Path
    flight_record: FlightRecord | None
    exit_report: ExitReport

    def complete_report(self, pid: int | None, status: int | None, *, asked: bool = False) -> ExitReport:
        """Return the exit report with what only the parent process knows.

        `pid` is the process id, `status` the exit status, and `asked` True if the exit was requested.
        """
        killed = status is None or status < 0
        since = self.exit_report.at or 0.0 if self.flight_record is None else self.flight_record.latest
        unexpected = killed and not asked
        named = systemlog.named_for(self.exit_report.pid or 0, since, status) if unexpected else None
        return replace(
            self.exit_report, pid=pid or self.exit_report.pid, status=status, asked=asked, named=named
        )


class ExitListener:
    """Listens from `start` to `stop` on its own thread, which calls `on_begin` and `on_end`.

    `on_begin(path, pid)` is called when a kernel connects, and `on_end` when it has ended. `path` is that of
    its flight record.
    """

    def __init__(
        self,
        on_end: Callable[[EndedKernel], None],
        on_begin: Callable[[Path, int], None] = lambda path, pid: None,
        folder: Path | None = None,
    ) -> None:
        self._on_end = on_end
        self._on_begin = on_begin
        self._flight_folder = folder
        self._selector: selectors.BaseSelector | None = None
        self._kernels: dict[socket.socket, _Kernel] = {}
        self._folder: str | None = None
        self._thread: threading.Thread | None = None
        self._wake: tuple[socket.socket, socket.socket] | None = None

    def start(self) -> str:
        """Start to listen, and return the socket's path. Raises OSError if no socket can be created."""
        self._folder = tempfile.mkdtemp(prefix="jupyter_mlgpu-")  # only this user may enter it
        path = os.path.join(self._folder, "deaths")
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            listening.bind(path)
            listening.listen(64)
        except OSError:
            listening.close()
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        listening.setblocking(False)
        self._wake = socket.socketpair()
        self._selector = selector = selectors.DefaultSelector()
        selector.register(listening, selectors.EVENT_READ, self._accept)
        selector.register(self._wake[0], selectors.EVENT_READ, None)
        self._thread = threading.Thread(
            target=self._loop, args=(selector,), name="jupyter_mlgpu deaths", daemon=True
        )
        self._thread.start()
        return path

    def stop(self) -> None:
        """Stop listening; connected kernels go on without a listener."""
        if self._thread is None or self._wake is None or self._selector is None:
            return
        self._wake[1].send(b".")
        self._thread.join(5.0)
        for key in list(self._selector.get_map().values()):
            if isinstance(key.fileobj, socket.socket):
                key.fileobj.close()
        self._wake[1].close()
        self._selector.close()
        for kernel in self._kernels.values():
            kernel.close()
        self._kernels.clear()
        self._thread = None
        shutil.rmtree(self._folder or "", ignore_errors=True)

    def _loop(self, selector: selectors.BaseSelector) -> None:
        while True:
            for key, _ in selector.select():
                if key.data is None:
                    return
                with suppress(Exception):  # a failure with one kernel must not affect the others
                    key.data(selector, key.fileobj)

    def _accept(self, selector: selectors.BaseSelector, listening: socket.socket) -> None:
        connection, _ = listening.accept()
        if len(self._kernels) >= _MOST_KERNELS:
            connection.close()
            return
        connection.setblocking(False)
        self._kernels[connection] = _Kernel()
        selector.register(connection, selectors.EVENT_READ, self._read_message)

    def _read_message(self, selector: selectors.BaseSelector, connection: socket.socket) -> None:
        kernel = self._kernels[connection]
        data = b""
        descriptors: list[int] = []
        try:
            data, descriptors = _receive(connection)
        except BlockingIOError:
            return
        except OSError:  # connection reset: the process ended with bytes unread
            pass
        if data:
            self._begin(kernel, data, descriptors)
            return
        selector.unregister(connection)
        connection.close()
        del self._kernels[connection]
        try:
            if kernel.flight_record is not None and kernel.pid is not None:
                self._end(kernel, self._place(kernel.flight_record), kernel.pid)
        finally:
            kernel.close()

    def _begin(self, kernel: _Kernel, data: bytes, descriptors: list[int]) -> None:
        kernel.close()
        received: dict[str, int] = {}
        try:
            message = json.loads(data.splitlines()[-1])
            name, pid, streams = message["account"], message.get("pid"), message.get("streams", [])
            if name is None:
                kernel.flight_record = None
                return
            if not flight_files.is_name(name) or type(pid) is not int or pid <= 1:
                return
            kernel.flight_record, kernel.pid = name, pid
            received = dict(zip((one for one in streams if one in _STREAMS), descriptors, strict=False))
            kernel.files = {
                one: number for one, number in received.items() if stat.S_ISREG(os.fstat(number).st_mode)
            }
            kernel.counters = oom.counters(pid)
            kernel.oom_before = kernel.counters.read()
        except (ValueError, KeyError, TypeError, AttributeError, IndexError):
            return
        finally:
            for descriptor in set(descriptors) - set(kernel.files.values()):
                os.close(descriptor)
        self._on_begin(self._place(name), pid)

    def _end(self, kernel: _Kernel, path: Path, pid: int) -> None:
        at = real_time.time()
        if not _has_ended(pid):
            return  # the kernel's code has closed all descriptors but still runs
        flight_record = flight_files.read(path)
        if flight_record is not None and flight_record.state.pid != pid:
            flight_record = None
        oom_kills = OomKills() if kernel.counters is None else kernel.counters.read()
        _wait_until_stored(kernel.files.values())
        since = (
            {}
            if flight_record is None
            else {"stdout": flight_record.at.stdout, "stderr": flight_record.at.stderr}
        )
        lines = last_lines(_tails(kernel.files, since))
        exit_report = ExitReport(
            pid=pid, at=at, lines=lines, oom_before=kernel.oom_before, oom_kills=oom_kills
        )
        self._on_end(EndedKernel(path, flight_record, exit_report))

    def _place(self, name: str) -> Path:
        return (self._flight_folder or flight_files.folder()) / name


def _receive(connection: socket.socket) -> tuple[bytes, list[int]]:
    """Return the data that was sent, and the descriptors sent with it."""
    numbers = array.array("i")
    room = socket.CMSG_SPACE(len(_STREAMS) * numbers.itemsize)
    data, ancillary, _, _ = connection.recvmsg(_MESSAGE, room, getattr(socket, "MSG_CMSG_CLOEXEC", 0))
    for level, kind, payload in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            numbers.frombytes(payload[: len(payload) - len(payload) % numbers.itemsize])
    for number in numbers:
        os.set_inheritable(number, False)
    return data, list(numbers)


def _tails(files: Mapping[str, int], since: Mapping[str, int]) -> list[bytes]:
    """Return the last bytes of each stream, without those from before the last cell began."""
    tails = []
    for stream in _STREAMS:
        if stream not in files:
            continue
        with suppress(OSError):
            size = os.fstat(files[stream]).st_size
            start = since.get(stream, 0)
            start = max(start if start <= size else 0, size - TAIL)
            tails.append(os.pread(files[stream], size - start, start))
    return tails


def _wait_until_stored(files: Iterable[int]) -> None:
    """Wait a little for the process that stores a kernel's output, which locks the files until it is done."""
    until = real_time.monotonic() + _PATIENCE
    for descriptor in files:
        while real_time.monotonic() < until:
            try:
                os.lockf(descriptor, os.F_TEST, 0)
                break
            except OSError:
                real_time.sleep(0.005)


def _has_ended(pid: int) -> bool:
    """Return True if a process is gone or a zombie; wait a little for that."""
    import psutil

    until = real_time.monotonic() + _PATIENCE
    while real_time.monotonic() < until:
        try:
            if psutil.Process(pid).status() in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD):
                return True
        except psutil.NoSuchProcess:
            return True
        real_time.sleep(0.01)
    return False
