"""Measures cells and makes their records, driven by IPython's cell events.

Our handlers run before and after every cell, also those that a cell runs inside itself (`run_cell`). Only the
outermost is measured. A failure here is reported in one sentence, and the user's cell runs all the same.
"""

from __future__ import annotations

import asyncio
import errno
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from jupyter_mlgpu.jupyter.notebook.cell.after_reply import AfterReply
from jupyter_mlgpu.jupyter.notebook.cell.cell_code import has_rejected_options, only_steers_package, title
from jupyter_mlgpu.jupyter.notebook.cell.cell_lines import in_cells
from jupyter_mlgpu.jupyter.notebook.cell.record_stages import EndedCell
from jupyter_mlgpu.jupyter.notebook.cell.tracebacks import Tracebacks
from jupyter_mlgpu.jupyter.notebook.magics.magic_ownership import magic_ownership
from jupyter_mlgpu.jupyter.notebook.magics.ops_command import (
    FIRST_LINE,
    TRACE_CELL,
    OperationsRequest,
    code_below,
    is_below_time_magic,
    is_last,
    request_over_cell,
)
from jupyter_mlgpu.measure.capture.capture import Capture
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.base import Device
from jupyter_mlgpu.measure.guarded import words
from jupyter_mlgpu.measure.recorder import Measurement
from jupyter_mlgpu.measure.runtime import Runtime
from jupyter_mlgpu.measure.user_objects import is_a
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.record import Outcome, Record, Repeat
from jupyter_mlgpu.record.stderr import say_on_stderr

if TYPE_CHECKING:
    from jupyter_mlgpu.jupyter.notebook.cell.checked_cell import CheckedCell


class _Running(Struct):
    """A cell between its begin and end events; `message` is the id of the front end's request."""

    info: Any
    message: str | None
    measurement: Measurement | None = None
    entered: bool = False
    capture_begun_here: bool = False
    repeats: bool = False
    items: int | None = None
    tracebacks: Tracebacks | None = None
    check: CheckedCell | None = None


@dataclass(eq=False, repr=False)
class CellEvents:
    """Measures the cells of one shell, and calls `on_start` and `on_record` for each measured cell.

    `on_record` is called after the cell's reply.
    """

    shell: Any
    runtime: Runtime
    capture: Capture
    after_reply: AfterReply
    _: KW_ONLY
    on_start: Callable[[Measurement, OperationsRequest], None]
    on_record: Callable[[Record, EndedCell], None]

    def __post_init__(self) -> None:
        self.tracing = True
        self._ours = magic_ownership(self.shell)
        self._here = _ThisThread()
        self._thread = threading.get_ident()
        self._pid = os.getpid()

    def start(self) -> None:
        """Start to capture native lines."""
        self._start_capture()

    def stop(self) -> None:
        """Stop; cells that are running are not measured."""
        for running in reversed(self._here.running):
            self._close(running)
        self._here.running.clear()
        self.capture.stop()

    def set_tracing(self, on: bool) -> None:
        """Turn measuring on or off from the next cell on; native lines are captured only while it is on."""
        self.tracing = on
        if on:
            self._start_capture()
        else:
            self._pause()

    @contextmanager
    def each_run(self, request: OperationsRequest) -> Iterator[list[Record]]:
        """Measure the cell run inside this context for a cell that repeats; yield the list of its records.

        Raises UsageError if no repeating cell is running.
        """
        stack = self._here.running
        if len(stack) != 1 or not stack[0].repeats:
            raise UsageError(FIRST_LINE)
        self._here.operations, self._here.records = request, []
        try:
            yield self._here.records
        finally:
            self._here.operations = None

    @property
    def inside_a_cell(self) -> bool:
        """True if another cell, around the one that has just ended, is still running in this thread."""
        return bool(self._here.running)

    @property
    def nested(self) -> bool:
        """True if the cell that has just begun runs inside another one, or not in the thread of the cells."""
        return len(self._here.running) > 1 or self.in_another_thread

    @property
    def in_another_thread(self) -> bool:
        """True if this is not the thread in which the notebook's cells run."""
        return self._thread != threading.get_ident()

    def cell_id(self) -> str | None:
        """Return the front end's id of the outermost running cell."""
        stack = self._here.running
        return getattr(stack[0].info, "cell_id", None) if stack else None

    def cell_begins(self, info: Any) -> None:
        """Start to measure a cell that is about to run. Raises only KeyboardInterrupt."""
        _reporting("could not begin to trace this cell", lambda: self._begin(info))

    def cell_ended(self, result: Any) -> None:
        """Finish the measurement of a cell that has run. Raises only KeyboardInterrupt."""
        _reporting("could not make this cell's receipt", lambda: self._end(result))

    def _begin(self, info: Any) -> None:
        if os.getpid() != self._pid:
            return
        message = self._message()
        stack = self._here.running
        if stack and stack[0].message != message:
            # An interrupt between a cell's end and its event can suppress the event.
            for stale in reversed(stack):
                self._close(stale)
            stack.clear()
        running = _Running(info, message)
        stack.append(running)
        problem: Exception | None = None
        try:
            self.runtime.selection.enter()
            running.entered = True
        except Exception as error:
            problem = error
        code = info.raw_cell
        request = (
            None if has_rejected_options(code, self._ours) else self._request_for(running, len(stack), code)
        )
        if request is not None and request.check:
            # Imported here because it is seldom needed: it brings the tables of known faults.
            from jupyter_mlgpu.jupyter.notebook.cell.checked_cell import CheckedCell

            running.check = CheckedCell.begin()
        if request is not None:
            running.items = request.items
            if not self.capture.active:
                running.capture_begun_here = True
                self._start_capture()
            self.capture.begin_cell()
            running.measurement = self.runtime.recorder.start(
                partial(title, code, self._ours),
                source=code_below(code),
                cell_id=getattr(info, "cell_id", None),
                ops=request.ops,
                shapes=request.shapes,
                waits=len(stack) > 1,  # a run of a repeating cell, which is compared with the others
                checked=running.check is not None,
            )
            running.tracebacks = Tracebacks(self.shell, running.measurement)
            self.on_start(running.measurement, request)
        elif len(stack) == 1:
            self.capture.begin_command()
        if problem is not None:
            raise problem

    def set_items(self, items: int | None) -> None:
        """Set the number of items that the innermost running cell processes."""
        if self._here.running:
            self._here.running[-1].items = items

    def _end(self, result: Any) -> None:
        if os.getpid() != self._pid:
            return
        stack = self._here.running
        # IPython gives no result for an interrupted await: then the innermost cell has ended.
        if result is not None and not any(_is_of(result, running) for running in stack):
            return  # the cell that loaded the extension, or one that IPython did not announce
        while stack:
            running = stack.pop()
            matches = result is None or _is_of(result, running)
            if running.check is not None:
                running.check.end()
            error, code_ended = _error(result), None
            if running.tracebacks is not None:
                error = running.tracebacks.display_error() if result is None else error
                error, code_ended = running.tracebacks.end(error)
            requested = self.runtime.selection.requested()  # a cell may have a device of its own
            devices = self.runtime.selection.devices()
            notes = self.runtime.selection.leave() if running.entered else []
            if running.measurement is not None:
                running.measurement.end(code_ended)
                _reporting("could not show this cell's check", partial(self._show_check, running, result))
                outcome = "interrupted" if result is None and error is None else _outcome(error)
                if outcome == "error" and running.tracebacks is not None and registry.loaded():
                    self.capture.failed(running.tracebacks.words(error))
                make_record = partial(
                    running.measurement.record,
                    outcome,
                    requested=requested,
                    execution_count=self._execution_count(running, result),
                    notes=notes,
                )
                self._complete_after_reply(running, running.measurement, make_record, devices)
            if running.capture_begun_here and not self.tracing:
                self._pause()
            if matches:
                return

    def _show_check(self, running: _Running, result: Any) -> None:
        """Show the answer of a check under the cell, and note it for the record."""
        if running.check is not None and running.measurement is not None:
            count = self._execution_count(running, result)
            running.measurement.notes.append(running.check.show(running.info.raw_cell, count, self.shell))

    def _complete_after_reply(
        self,
        running: _Running,
        measurement: Measurement,
        make_record: Callable[[], Record],
        devices: Sequence[Device],
    ) -> None:
        """Make the record of a cell after the reply, and pass it to `on_record`.

        Each run of a cell that repeats gets its record at once, because the cell itself needs it.
        """
        # Lines that the devices' libraries wrote while the measurement ended belong to the cell, too.
        output = self.capture.end_cell(measurement.sequence)
        is_a_run = bool(self._here.running) and self._here.operations is not None

        def complete() -> None:
            record, code = make_record(), running.info.raw_cell
            if is_a_run and self._here.operations is not None:
                record = _as_a_run(record, self._here.operations.turn)
                self._here.records.append(record)
            ended = EndedCell(
                code,
                devices,
                running.items,
                measurement.left_out_s,
                in_cells(measurement.activity, code, record.cell.execution_count, self.shell),
                output,
                measurement.when_gpu_done,
                measurement.observed,
            )
            self.on_record(record, ended)

        if is_a_run:
            complete()
        else:
            self.after_reply.run(partial(_reporting, "could not make this cell's receipt", complete))

    def _close(self, running: _Running) -> None:
        if running.check is not None:
            running.check.end()
        if running.tracebacks is not None:
            running.tracebacks.end()
        if running.measurement is not None:
            running.measurement.abandon()
            self.capture.abandon_cell()
        if running.entered:
            self.runtime.selection.leave()

    def _start_capture(self) -> None:
        try:
            self.capture.start()
        except OSError as error:
            _complain("could not begin to capture native lines", error)

    def _pause(self) -> None:
        self.capture.stop()
        self.runtime.release()

    def _request_for(self, running: _Running, depth: int, code: str) -> OperationsRequest | None:
        """Return how to measure a cell that begins, or None for one that is not measured."""
        if depth == 2 and self._here.operations is not None:
            return self._here.operations
        if depth != 1:
            return None
        if code.split(maxsplit=1)[:1] == [TRACE_CELL] and self._ours(TRACE_CELL):
            request = request_over_cell(code) or OperationsRequest()
            running.repeats = request.repeat is not None
            return None if running.repeats else request  # each of its runs is measured instead
        if is_below_time_magic(code):
            say_on_stderr(FIRST_LINE)
        return OperationsRequest() if self.tracing and not only_steers_package(code, self._ours) else None

    def _execution_count(self, running: _Running, result: Any) -> int | None:
        outer = self._here.running[0] if self._here.running else running
        if not outer.info.store_history:
            return None
        if outer is not running:
            # The front end shows the number of the repeating cell: that of IPython's newest input. IPython's
            # `execution_count` may already be one higher, depending on its version.
            return len(self.shell.history_manager.input_hist_raw) - 1
        count: int | None = getattr(result, "execution_count", None)
        if count is None and result is not None:  # a result that IPython created again has none
            count = self.shell.execution_count - 1
        return count

    def _message(self) -> str | None:
        try:
            return str(self.shell.parent_header["msg_id"])
        except (AttributeError, KeyError, TypeError, LookupError):  # a terminal has no messages
            return None


class _ThisThread(threading.local):
    def __init__(self) -> None:
        self.running: list[_Running] = []
        self.operations: OperationsRequest | None = None
        self.records: list[Record] = []


def _as_a_run(record: Record, turn: Repeat | None) -> Record:
    """Return the record of one run of a repeating cell; only the last lists the earlier wall times."""
    if turn is not None and not is_last(turn, record):
        turn = replace(turn, walls=())
    return replace(record, repeat=turn)


def _is_of(result: Any, running: _Running) -> bool:
    """Return True if a result belongs to a running cell.

    IPython makes a new `info` if its own code around the cell failed.
    """
    return result.info is running.info or result.info.raw_cell is running.info.raw_cell


def _error(result: Any) -> BaseException | None:
    if result is None:
        return None
    # Compared by identity: an exception of the user's may be falsy.
    error: BaseException | None = result.error_before_exec
    return result.error_in_exec if error is None else error


def _outcome(error: BaseException | None) -> Outcome:
    if error is None:
        return "ok"
    return "interrupted" if is_a(error, KeyboardInterrupt, asyncio.CancelledError) else "error"


def _reporting(what: str, do: Callable[[], None]) -> None:
    """Call a function and report its failure. Raises only KeyboardInterrupt."""
    try:
        do()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        _complain(what, error)


def _complain(what: str, error: BaseException) -> None:
    if type(error) is OSError and error.errno in (errno.EMFILE, errno.ENFILE):
        return  # the user's code has used up the file descriptors; its next `open` reports that
    say_on_stderr(f"jupyter_mlgpu {what} ({words(error)}). The cell itself runs as usual.")
