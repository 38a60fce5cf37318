"""Keeps the kernel's flight recorder, and reports why the previous kernel ended."""

from __future__ import annotations

import atexit
import functools
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from jupyter_mlgpu.jupyter.exits.connection import Connection
from jupyter_mlgpu.jupyter.notebook.cell.named_numbers import whole_numbers
from jupyter_mlgpu.measure.capture.capture import Capture
from jupyter_mlgpu.measure.flight_recorder import FlightRecorder, Streams, is_alive
from jupyter_mlgpu.measure.runtime import Runtime
from jupyter_mlgpu.record.flight import flight_files
from jupyter_mlgpu.record.flight.exit_report import ExitReport
from jupyter_mlgpu.record.flight.flight_record import FlightRecord
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import Sentence

_SHUTDOWN = "shutdown_request"


class PostMortem:
    """Runs the flight recorder from `start` to `stop`, in a kernel with a connection file."""

    def __init__(self, shell: Any, runtime: Runtime, capture: Capture) -> None:
        self._shell = shell
        self._kernel = getattr(shell, "kernel", None)
        self._runtime = runtime
        self._capture = capture
        self._recorder: FlightRecorder | None = None
        self._connection: Connection | None = None
        self._before: tuple[FlightRecord, ExitReport] | None = None
        self._covered: list[tuple[dict[str, Any], Any, Any]] = []

    def start(self) -> None:
        """Start the flight recorder. A failure affects nothing else."""
        path = _path(self._kernel)
        if path is None:
            return
        if path.exists() and not self._take_over(path):
            return
        self._connection = Connection(path.name)
        self._connection.open()
        try:
            self._recorder = FlightRecorder(
                path,
                self._runtime.recorder.run,
                sampler=self._runtime.sampler,
                gpus=self._runtime.gpus,
                streams=Streams(self._capture.offsets, self._capture.tails),
                remove_old_files=functools.partial(
                    _remove_old_files, path.parent, self._runtime.recorder.run.host_digest
                ),
                numbers_in=lambda code: whole_numbers(code, self._shell.user_ns),
            )
        except OSError:  # no write permission or a full disk: exits are then reported without it
            self._recorder = None
        self._connection.tell(self._capture.files())
        self._capture.on_files = self._connection.tell
        atexit.register(self._at_exit)
        self._wrap_shutdown_handlers()

    def stop(self) -> None:
        """Stop, and remove the flight record."""
        atexit.unregister(self._at_exit)
        self._capture.on_files = lambda files: None
        while self._covered:
            handlers, original, ours = self._covered.pop()
            if handlers.get(_SHUTDOWN) is ours:
                handlers[_SHUTDOWN] = original
        self._close()

    def cell_begins(self, info: Any, *, nested: bool) -> None:
        """Record the start of a cell; a cell inside another is part of that one."""
        if self._recorder is not None and not nested:
            # IPython's `execution_count` may already be one higher, depending on its version.
            count = len(self._shell.history_manager.input_hist_raw) if info.store_history else None
            self._recorder.cell_begins(info.raw_cell, count)

    def cell_ended(self, *, nested: bool) -> None:
        """Record the end of a cell."""
        if self._recorder is not None and not nested:
            self._recorder.cell_ended()

    def record_made(self, record: Record) -> None:
        """Record the figures of the cell that has just run."""
        if self._recorder is not None:
            with suppress(Exception):  # then this cell's memory use is missing
                self._recorder.record_made(record)

    def before(self) -> Sentence | None:
        """Return, once, what ended the previous kernel; None if it did not die, or if its cell shows it."""
        if self._before is None:
            return None
        (flight_record, exit_report), self._before = self._before, None
        # Imported only if there is something to report.
        from jupyter_mlgpu.explain.exits.kernel_exit import post_mortem
        from jupyter_mlgpu.measure.probes import systemlog

        if exit_report.status is None:
            named = systemlog.named_for(flight_record.state.pid, flight_record.latest, None)
            exit_report = replace(exit_report, named=named)
        kernel_exit = post_mortem(flight_record, exit_report)
        return None if kernel_exit is None else kernel_exit.note

    def _take_over(self, path: Path) -> bool:
        """Read what the previous kernel has left; return True if its file can be replaced."""
        flight_record = flight_files.read(path)
        if flight_record is not None and flight_record.state.pid != os.getpid():
            alive = is_alive(flight_record, self._runtime.recorder.run.host_digest)
            if alive:
                return False
            if alive is False and flight_record.at.phase != "ended":
                exit_report = _exit_report(path, flight_record.state.pid)
                self._before = None if exit_report.shown else (flight_record, exit_report)
        flight_files.remove(path)
        return True

    def _wrap_shutdown_handlers(self) -> None:
        """Wrap the handlers of shutdown requests: an exit after such a request is not reported as a death."""
        for name in ("control_handlers", "shell_handlers"):
            handlers = getattr(self._kernel, name, None)
            original = handlers.get(_SHUTDOWN) if isinstance(handlers, dict) else None
            if handlers is not None and original is not None:
                ours = self._recording_shutdown(original)
                handlers[_SHUTDOWN] = ours
                self._covered.append((handlers, original, ours))

    def _recording_shutdown(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def handle(*arguments: Any, **named: Any) -> Any:
            if self._recorder is not None:
                self._recorder.process_ends("ended")
            return original(*arguments, **named)

        return handle

    def _at_exit(self) -> None:
        if self._recorder is None or self._recorder.is_shutting_down:
            self._close()
        else:  # the kernel's own code ended it: `exit`, or the end of its event loop
            self._recorder.process_ends("exited")
            self._recorder.close(remove=False)

    def _close(self) -> None:
        if self._recorder is not None:
            self._recorder.close()
            self._recorder = None
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _path(kernel: Any) -> Path | None:
    """Return the path of a kernel's flight record; None unless it is a kernel with its own process."""
    if kernel is None or getattr(kernel, "engine_id", None) is not None:
        return None
    file = getattr(getattr(kernel, "parent", None), "connection_file", None)
    name = flight_files.name_for(file) if isinstance(file, str) and file else None
    return None if name is None else flight_files.folder() / name


def _exit_report(path: Path, pid: int) -> ExitReport:
    """Return how the previous kernel ended, as the server recorded it, or what can be measured now."""
    report = flight_files.read_exit_report(path)
    if report is not None and report.pid == pid:
        return report
    from jupyter_mlgpu.measure.probes import oom

    return ExitReport(pid=pid, oom_kills=oom.counters().read())


def _remove_old_files(folder: Path, host_digest: str) -> None:
    flight_files.remove_old(folder, lambda flight_record: is_alive(flight_record, host_digest))
