"""The kernel's part in telling of deaths: it keeps its account, and says what ended the kernel before it."""

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
    """Keeps an account from `start` to `stop`, in a kernel with a connection file; elsewhere it rests."""

    def __init__(self, shell: Any, runtime: Runtime, capture: Capture) -> None:
        self._shell = shell
        self._kernel = getattr(shell, "kernel", None)
        self._runtime = runtime
        self._capture = capture
        self._account: FlightRecorder | None = None
        self._connection: Connection | None = None
        self._before: tuple[FlightRecord, ExitReport] | None = None
        self._covered: list[tuple[dict[str, Any], Any, Any]] = []

    def start(self) -> None:
        """Begin. What fails costs the account alone."""
        path = _path(self._kernel)
        if path is None:
            return
        if path.exists() and not self._take_over(path):
            return
        self._connection = Connection(path.name)
        self._connection.open()
        try:
            self._account = FlightRecorder(
                path,
                self._runtime.recorder.run,
                sampler=self._runtime.sampler,
                gpus=self._runtime.gpus,
                streams=Streams(self._capture.offsets, self._capture.tails),
                tidy=functools.partial(_tidy, path.parent, self._runtime.recorder.run.host_digest),
                named=lambda code: whole_numbers(code, self._shell.user_ns),
            )
        except OSError:  # a folder that may not be written, a full disk: a death is then told without it
            self._account = None
        self._connection.tell(self._capture.files())
        self._capture.on_files = self._connection.tell
        atexit.register(self._at_exit)
        self._hear_of_shutdown()

    def stop(self) -> None:
        """End, and leave nothing behind."""
        atexit.unregister(self._at_exit)
        self._capture.on_files = lambda files: None
        while self._covered:
            handlers, original, ours = self._covered.pop()
            if handlers.get(_SHUTDOWN) is ours:
                handlers[_SHUTDOWN] = original
        self._close()

    def cell_begins(self, info: Any, *, nested: bool) -> None:
        """A cell is about to run; one inside another is part of that one."""
        if self._account is not None and not nested:
            # Its `execution_count` may be one further by now, which differs between IPython's versions.
            count = len(self._shell.history_manager.input_hist_raw) if info.store_history else None
            self._account.cell_begins(info.raw_cell, count)

    def cell_ended(self, *, nested: bool) -> None:
        """A cell has ended."""
        if self._account is not None and not nested:
            self._account.cell_ended()

    def record_made(self, record: Record) -> None:
        """The record of the cell that has just run."""
        if self._account is not None:
            with suppress(Exception):  # then this cell's size is not remembered
                self._account.record_made(record)

    def before(self) -> Sentence | None:
        """What ended the kernel before this one, said once; None where it did not die."""
        if self._before is None:
            return None
        (flight_record, exit_report), self._before = self._before, None
        # Loaded where there is something to tell.
        from jupyter_mlgpu.explain.exits.kernel_exit import post_mortem
        from jupyter_mlgpu.measure.probes import systemlog

        if exit_report.status is None:
            named = systemlog.named_for(flight_record.state.pid, flight_record.latest, None)
            exit_report = replace(exit_report, named=named)
        kernel_exit = post_mortem(flight_record, exit_report)
        return None if kernel_exit is None else kernel_exit.note

    def _take_over(self, path: Path) -> bool:
        """Read what the kernel before this one has left; whether the place is free now."""
        flight_record = flight_files.read(path)
        if flight_record is not None and flight_record.state.pid != os.getpid():
            alive = is_alive(flight_record, self._runtime.recorder.run.host_digest)
            if alive:
                return False
            if alive is False and flight_record.at.phase != "ended":
                self._before = flight_record, _exit_report(path, flight_record.state.pid)
        flight_files.remove(path)
        return True

    def _hear_of_shutdown(self) -> None:
        """Somebody who has the kernel shut down means it: whatever ends it then is no death."""
        for name in ("control_handlers", "shell_handlers"):
            handlers = getattr(self._kernel, name, None)
            original = handlers.get(_SHUTDOWN) if isinstance(handlers, dict) else None
            if handlers is not None and original is not None:
                ours = self._telling(original)
                handlers[_SHUTDOWN] = ours
                self._covered.append((handlers, original, ours))

    def _telling(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def heard(*arguments: Any, **named: Any) -> Any:
            if self._account is not None:
                self._account.begins_to_end("ended")
            return original(*arguments, **named)

        return heard

    def _at_exit(self) -> None:
        if self._account is None or self._account.has_ended:
            self._close()
        else:  # its code ended it: `exit`, or the end of its event loop
            self._account.begins_to_end("exited")
            self._account.close(remove=False)

    def _close(self) -> None:
        if self._account is not None:
            self._account.close()
            self._account = None
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _path(kernel: Any) -> Path | None:
    """Where the account of a kernel lies; None for what is no kernel of its own process."""
    if kernel is None or getattr(kernel, "engine_id", None) is not None:
        return None
    file = getattr(getattr(kernel, "parent", None), "connection_file", None)
    name = flight_files.name_for(file) if isinstance(file, str) and file else None
    return None if name is None else flight_files.folder() / name


def _exit_report(path: Path, pid: int) -> ExitReport:
    """How the kernel before this one ended: as the server saw it, or what can be seen now."""
    seen = flight_files.read_exit_report(path)
    if seen is not None and seen.pid == pid:
        return seen
    from jupyter_mlgpu.measure.probes import oom

    return ExitReport(pid=pid, oom_kills=oom.counters().read())


def _tidy(folder: Path, host_digest: str) -> None:
    flight_files.remove_old(folder, lambda flight_record: is_alive(flight_record, host_digest))
