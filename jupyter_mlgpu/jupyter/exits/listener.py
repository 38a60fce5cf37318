"""Sees kernels die: in the process that starts them, the server or `jupyter mlgpu run`.

A kernel's native lines are stored in files without a name (measure/capture/storage.py), which end with it;
what it wrote in its last tenth of a second nobody has shown by then. So each kernel opens a connection to a
socket here and hands over those files' descriptors. A connection ends when its process does, however that
ends: then the last lines are still there to be read, and the system's counters are only milliseconds old.
Crashpad, the crash handler of Chromium, is called by its clients in the same way.

The protocol, over a Unix socket in a folder that only this user may enter: lines of JSON,

    {"account": "jupyter_mlgpu-kernel-....account", "pid": 4711, "streams": ["stdout", "stderr"]}

with a descriptor for each stream, again whenever the files are others; `"account": null` is a goodbye.
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

#: Bytes of each stream that are read after a death, and that a message may have.
TAIL, _MESSAGE = 8 * 1024, 4096
#: Kernels at a time, and descriptors that each hands over.
_MOST_KERNELS, _STREAMS = 512, ("stdout", "stderr")
#: Seconds for which a connection that ended waits for its process to end, too.
_PATIENCE = 2.0


@dataclass(slots=True)
class _Kernel:
    """A kernel that is connected; `files` are descriptors by stream."""

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
class Seen:
    """A kernel that has ended: its account's place, what was in it, and how it ended, but for its status."""

    path: Path
    flight_record: FlightRecord | None
    exit_report: ExitReport

    def ended(self, pid: int | None, status: int | None, *, asked: bool = False) -> ExitReport:
        """The ending as a whole, for who has started a process: its number, its exit status, and whether
        somebody has asked for its end."""
        killed = status is None or status < 0
        since = self.exit_report.at or 0.0 if self.flight_record is None else self.flight_record.latest
        look = killed and not asked
        named = systemlog.named_for(self.exit_report.pid or 0, since, status) if look else None
        return replace(
            self.exit_report, pid=pid or self.exit_report.pid, status=status, asked=asked, named=named
        )


class ExitListener:
    """Listens from `start` to `stop`, on a thread of its own, which calls `on_begin` and `on_end`.

    `on_begin(path, pid)` is told of each kernel's account when the kernel calls, and `on_end` of its end.
    """

    def __init__(
        self,
        on_end: Callable[[Seen], None],
        on_begin: Callable[[Path, int], None] = lambda path, pid: None,
        folder: Path | None = None,
    ) -> None:
        self._on_end = on_end
        self._on_begin = on_begin
        self._accounts = folder
        self._selector: selectors.BaseSelector | None = None
        self._kernels: dict[socket.socket, _Kernel] = {}
        self._folder: str | None = None
        self._thread: threading.Thread | None = None
        self._wake: tuple[socket.socket, socket.socket] | None = None

    def start(self) -> str:
        """Begin to listen; the socket's path. Raises OSError where there can be no socket."""
        self._folder = tempfile.mkdtemp(prefix="jupyter_mlgpu-")  # which nobody else may enter
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
            target=self._go_on, args=(selector,), name="jupyter_mlgpu deaths", daemon=True
        )
        self._thread.start()
        return path

    def stop(self) -> None:
        """Listen no more; kernels that are connected go on without."""
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

    def _go_on(self, selector: selectors.BaseSelector) -> None:
        while True:
            for key, _ in selector.select():
                if key.data is None:
                    return
                with suppress(Exception):  # one kernel's trouble is no other's
                    key.data(selector, key.fileobj)

    def _accept(self, selector: selectors.BaseSelector, listening: socket.socket) -> None:
        connection, _ = listening.accept()
        if len(self._kernels) >= _MOST_KERNELS:
            connection.close()
            return
        connection.setblocking(False)
        self._kernels[connection] = _Kernel()
        selector.register(connection, selectors.EVENT_READ, self._hear)

    def _hear(self, selector: selectors.BaseSelector, connection: socket.socket) -> None:
        kernel = self._kernels[connection]
        data = b""
        descriptors: list[int] = []
        try:
            data, descriptors = _receive(connection)
        except BlockingIOError:
            return
        except OSError:  # reset: its process has ended with bytes unread
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
        given: dict[str, int] = {}
        try:
            told = json.loads(data.splitlines()[-1])
            name, pid, streams = told["account"], told.get("pid"), told.get("streams", [])
            if name is None:
                kernel.flight_record = None
                return
            if not flight_files.is_name(name) or type(pid) is not int or pid <= 1:
                return
            kernel.flight_record, kernel.pid = name, pid
            given = dict(zip((one for one in streams if one in _STREAMS), descriptors, strict=False))
            kernel.files = {
                one: number for one, number in given.items() if stat.S_ISREG(os.fstat(number).st_mode)
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
            return  # its code has closed all descriptors there are
        flight_record = flight_files.read(path)
        if flight_record is not None and flight_record.state.pid != pid:
            flight_record = None
        counted = OomKills() if kernel.counters is None else kernel.counters.read()
        _wait_until_stored(kernel.files.values())
        since = (
            {}
            if flight_record is None
            else {"stdout": flight_record.at.stdout, "stderr": flight_record.at.stderr}
        )
        lines = last_lines(_tails(kernel.files, since))
        exit_report = ExitReport(pid=pid, at=at, lines=lines, oom_before=kernel.oom_before, oom_kills=counted)
        self._on_end(Seen(path, flight_record, exit_report))

    def _place(self, name: str) -> Path:
        return (self._accounts or flight_files.folder()) / name


def _receive(connection: socket.socket) -> tuple[bytes, list[int]]:
    """What was sent, with the descriptors that came with it."""
    numbers = array.array("i")
    room = socket.CMSG_SPACE(len(_STREAMS) * numbers.itemsize)
    data, beside, _, _ = connection.recvmsg(_MESSAGE, room, getattr(socket, "MSG_CMSG_CLOEXEC", 0))
    for level, kind, sent in beside:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            numbers.frombytes(sent[: len(sent) - len(sent) % numbers.itemsize])
    for number in numbers:
        os.set_inheritable(number, False)
    return data, list(numbers)


def _tails(files: Mapping[str, int], since: Mapping[str, int]) -> list[bytes]:
    """The last bytes of each stream; what was there when the cell began is none of its last words."""
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
    """Wait a little for the process that stores a kernel's output: until it is done, the files are locked."""
    until = real_time.monotonic() + _PATIENCE
    for descriptor in files:
        while real_time.monotonic() < until:
            try:
                os.lockf(descriptor, os.F_TEST, 0)
                break
            except OSError:
                real_time.sleep(0.005)


def _has_ended(pid: int) -> bool:
    """Whether a process is gone, or waits to be buried; waits for it a little."""
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
