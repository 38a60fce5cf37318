"""Detects the end of kernels in the process that starts them: the Jupyter server or `jupyter mlgpu run`.

The output of a kernel's native code, its native lines, is stored in files without a name
(measure/capture/storage.py). The system deletes such a file when no process has it open any more. When a
kernel dies, the lines of its last tenth of a second have not been shown yet. So each kernel connects to a
socket here and sends the descriptors of those files, which keeps the files in existence. A connection ends
when its process ends, for whatever reason. At that time the last lines can still be read, and the system's
counts of processes killed for lack of memory (measure/probes/oom.py) are only milliseconds old. Clients of
Crashpad, Chromium's crash handler, register in the same way.

The socket is a Unix socket in a folder that only this user may enter. A kernel sends lines of JSON:

    {"account": "jupyter_mlgpu-kernel-....account", "pid": 4711, "streams": ["stdout", "stderr"]}

`account` is the name of the kernel's flight record. The message has one descriptor for each stream, and is
sent again whenever the files change. With `"account": null`, a kernel asks that its end not be reported.
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

#: Maximum number of bytes of each stream that are read after an exit.
_TAIL_BYTES = 8 * 1024
#: Maximum size of a message in bytes.
_MESSAGE_BYTES = 4096
#: Maximum number of kernels connected at a time.
_MAX_KERNELS = 512
#: The streams whose descriptors a kernel sends.
_STREAMS = ("stdout", "stderr")
#: Seconds that the listener waits, after a connection has ended, for its process to end. It then waits again,
#: at most as long, for the process's output to be stored.
_MAX_WAIT_S = 2.0


@dataclass(slots=True)
class _Kernel:
    """A connected kernel.

    `flight_record` is the file name of its flight record. `descriptors` has, by stream, the descriptor of the
    file with the stream's native lines.
    """

    flight_record: str | None = None
    pid: int | None = None
    descriptors: dict[str, int] = field(default_factory=dict)
    counters: oom.OomCounters | None = None
    oom_before: OomKills = field(default_factory=OomKills)

    def close(self) -> None:
        for descriptor in self.descriptors.values():
            os.close(descriptor)
        self.descriptors = {}


@dataclass(frozen=True, slots=True)
class EndedKernel:
    """A kernel that has ended, with its flight record, and an exit report that lacks the exit status."""

    path: Path
    flight_record: FlightRecord | None
    exit_report: ExitReport

    def complete_report(self, pid: int | None, status: int | None, *, asked: bool = False) -> ExitReport:
        """Return the exit report with the data that only the parent process has.

        `pid` is the process id, and `status` the exit status, negative for a signal, or None if unknown.
        `asked` is True if a shutdown or restart of the kernel was requested. For any other exit that a signal
        may have caused, the cause is looked up in the system's log.
        """
        by_signal = status is None or status < 0
        last_alive = self.exit_report.at or 0.0 if self.flight_record is None else self.flight_record.latest
        log_cause = None
        if by_signal and not asked:
            log_cause = systemlog.named_for(self.exit_report.pid or 0, last_alive, status)
        return replace(
            self.exit_report, pid=pid or self.exit_report.pid, status=status, asked=asked, named=log_cause
        )


class ExitListener:
    """Listens from `start` to `stop` in a thread of its own, which calls `on_begin` and `on_end`.

    `on_begin(path, pid)` is called for each message with which a kernel registers; `path` is the path of the
    kernel's flight record. `on_end` is called when the kernel has ended. `folder` has the flight records, by
    default `flight_files.folder()`.
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
            target=self._loop, args=(selector,), name="jupyter_mlgpu exits", daemon=True
        )
        self._thread.start()
        return path

    def stop(self) -> None:
        """Stop listening. Connected kernels continue to run, but their end is not reported."""
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
        if len(self._kernels) >= _MAX_KERNELS:
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
            self._register(kernel, data, descriptors)
            return
        selector.unregister(connection)
        connection.close()
        del self._kernels[connection]
        try:
            if kernel.flight_record is not None and kernel.pid is not None:
                self._report_end(kernel, self._flight_path(kernel.flight_record), kernel.pid)
        finally:
            kernel.close()

    def _register(self, kernel: _Kernel, data: bytes, descriptors: list[int]) -> None:
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
            known = (stream for stream in streams if stream in _STREAMS)
            received = dict(zip(known, descriptors, strict=False))
            kernel.descriptors = {
                stream: descriptor
                for stream, descriptor in received.items()
                if stat.S_ISREG(os.fstat(descriptor).st_mode)
            }
            kernel.counters = oom.counters(pid)
            kernel.oom_before = kernel.counters.read()
        except (ValueError, KeyError, TypeError, AttributeError, IndexError):
            return
        finally:
            for descriptor in set(descriptors) - set(kernel.descriptors.values()):
                os.close(descriptor)
        self._on_begin(self._flight_path(name), pid)

    def _report_end(self, kernel: _Kernel, path: Path, pid: int) -> None:
        ended_at = real_time.time()
        if not _has_ended(pid):
            return  # code in the kernel has closed all descriptors, but the kernel still runs
        flight_record = flight_files.read(path)
        if flight_record is not None and flight_record.state.pid != pid:
            flight_record = None
        oom_kills = OomKills() if kernel.counters is None else kernel.counters.read()
        _wait_until_stored(kernel.descriptors.values())
        offsets = (
            {}
            if flight_record is None
            else {"stdout": flight_record.at.stdout, "stderr": flight_record.at.stderr}
        )
        lines = last_lines(_tails(kernel.descriptors, offsets))
        exit_report = ExitReport(
            pid=pid, at=ended_at, lines=lines, oom_before=kernel.oom_before, oom_kills=oom_kills
        )
        self._on_end(EndedKernel(path, flight_record, exit_report))

    def _flight_path(self, name: str) -> Path:
        return (self._flight_folder or flight_files.folder()) / name


def _receive(connection: socket.socket) -> tuple[bytes, list[int]]:
    """Return the data that was sent, and the descriptors sent with it."""
    descriptors = array.array("i")
    ancillary_bytes = socket.CMSG_SPACE(len(_STREAMS) * descriptors.itemsize)
    flags = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
    data, ancillary, _, _ = connection.recvmsg(_MESSAGE_BYTES, ancillary_bytes, flags)
    for level, kind, payload in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            descriptors.frombytes(payload[: len(payload) - len(payload) % descriptors.itemsize])
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)
    return data, list(descriptors)


def _tails(descriptors: Mapping[str, int], offsets: Mapping[str, int]) -> list[bytes]:
    """Return the last bytes of each stream, without those before its offset.

    `offsets` are those of the last change of phase in the flight record, such as the start of the cell that
    was running when the kernel ended.
    """
    tails = []
    for stream in _STREAMS:
        if stream not in descriptors:
            continue
        with suppress(OSError):
            size = os.fstat(descriptors[stream]).st_size
            start = offsets.get(stream, 0)
            start = max(start if start <= size else 0, size - _TAIL_BYTES)
            tails.append(os.pread(descriptors[stream], size - start, start))
    return tails


def _wait_until_stored(descriptors: Iterable[int]) -> None:
    """Wait until a kernel's output is stored, but at most `_MAX_WAIT_S`.

    The process that stores the output locks the files until it has stored all of it.
    """
    until = real_time.monotonic() + _MAX_WAIT_S
    for descriptor in descriptors:
        while real_time.monotonic() < until:
            try:
                os.lockf(descriptor, os.F_TEST, 0)
                break
            except OSError:
                real_time.sleep(0.005)


def _has_ended(pid: int) -> bool:
    """Return True as soon as a process is gone or a zombie; False if it still runs after `_MAX_WAIT_S`."""
    import psutil

    until = real_time.monotonic() + _MAX_WAIT_S
    while real_time.monotonic() < until:
        try:
            if psutil.Process(pid).status() in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD):
                return True
        except psutil.NoSuchProcess:
            return True
        real_time.sleep(0.01)
    return False
