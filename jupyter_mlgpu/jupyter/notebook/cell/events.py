"""From IPython's cell events to records.

We are called before and after every cell, also those that a cell runs inside itself (`run_cell`): only the
outermost is measured. Whatever fails here is said in one sentence; the user's
cell runs all the same.
"""

from __future__ import annotations

import asyncio
import errno
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from typing import Any

from msgspec.structs import replace

from jupyter_mlgpu.jupyter.notebook.cell.cell_code import only_ours, refused, title
from jupyter_mlgpu.jupyter.notebook.cell.cell_lines import in_cells
from jupyter_mlgpu.jupyter.notebook.cell.record_stages import EndedCell
from jupyter_mlgpu.jupyter.notebook.cell.tracebacks import Tracebacks
from jupyter_mlgpu.jupyter.notebook.magics.magic_ownership import magic_ownership
from jupyter_mlgpu.jupyter.notebook.magics.ops_command import (
    FIRST_LINE,
    TRACE_CELL,
    OperationsRequest,
    asked_over,
    code_below,
    is_last,
)
from jupyter_mlgpu.measure.capture.capture import Capture
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.guarded import words
from jupyter_mlgpu.measure.recorder import Measurement
from jupyter_mlgpu.measure.runtime import Runtime
from jupyter_mlgpu.measure.user_objects import is_a
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.record import Outcome, Record, Repeat
from jupyter_mlgpu.record.stderr import say_on_stderr


@dataclass(slots=True)
class _Running:
    """A cell between `before` and `after`; `message` is the front end's request it belongs to."""

    info: Any
    message: str | None
    measurement: Measurement | None = None
    entered: bool = False
    capture_begun_here: bool = False
    repeats: bool = False
    items: int | None = None
    tracebacks: Tracebacks | None = None


@dataclass(eq=False, repr=False)
class CellEvents:
    """Listens to one shell. `on_start` and `on_record` are told of cells that are measured."""

    shell: Any
    runtime: Runtime
    capture: Capture
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
        """Begin to listen; native lines are captured from this moment on."""
        self._start_capture()

    def stop(self) -> None:
        """Stop listening; cells that are running are left unmeasured."""
        for running in reversed(self._here.running):
            self._close(running)
        self._here.running.clear()
        self.capture.stop()

    def set_tracing(self, on: bool) -> None:
        """Measure cells from the next one on, or no more; native lines are captured as long as it is on."""
        self.tracing = on
        if on:
            self._start_capture()
        else:
            self._rest()

    @contextmanager
    def each_run(self, wanted: OperationsRequest) -> Iterator[list[Record]]:
        """Measure the one cell that is run inside, on behalf of a cell that repeats; gives what was measured.

        Raises UsageError where no such cell is running.
        """
        stack = self._here.running
        if len(stack) != 1 or not stack[0].repeats:
            raise UsageError(FIRST_LINE)
        self._here.operations, self._here.records = wanted, []
        try:
            yield self._here.records
        finally:
            self._here.operations = None

    @property
    def inside_a_cell(self) -> bool:
        """Whether a cell is still running in this thread, around the one that has just ended."""
        return bool(self._here.running)

    @property
    def nested(self) -> bool:
        """Whether the cell that has just begun runs inside another one, or not in the thread of cells."""
        return len(self._here.running) > 1 or self.in_another_thread

    @property
    def in_another_thread(self) -> bool:
        """Whether this is not the thread in which the notebook's cells run."""
        return self._thread != threading.get_ident()

    def cell_id(self) -> str | None:
        """The front end's id of the outermost cell that is running."""
        stack = self._here.running
        return getattr(stack[0].info, "cell_id", None) if stack else None

    def cell_begins(self, info: Any) -> None:
        """A cell is about to run; raises KeyboardInterrupt alone."""
        try:
            self._begin(info)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            _complain("could not begin to trace this cell", error)

    def cell_ended(self, result: Any) -> None:
        """A cell has run; raises KeyboardInterrupt alone."""
        try:
            self._end(result)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            _complain("could not make this cell's receipt", error)

    def _begin(self, info: Any) -> None:
        if os.getpid() != self._pid:
            return
        message = self._message()
        stack = self._here.running
        if stack and stack[0].message != message:
            # An interrupt between a cell's end and its event can swallow the event.
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
        wanted = None if refused(code, self._ours) else self._wanted(running, len(stack), code)
        if wanted is not None:
            running.items = wanted.items
            if not self.capture.active:
                running.capture_begun_here = True
                self._start_capture()
            self.capture.begin_cell()
            running.measurement = self.runtime.recorder.start(
                title(code, self._ours),
                source=code_below(code),
                cell_id=getattr(info, "cell_id", None),
                ops=wanted.ops,
                shapes=wanted.shapes,
                waits=len(stack) > 1,  # runs that are to be compared with each other
            )
            running.tracebacks = Tracebacks(self.shell, running.measurement)
            self.on_start(running.measurement, wanted)
        elif len(stack) == 1:
            self.capture.begin_command()
        if problem is not None:
            raise problem

    def works_on(self, items: int | None) -> None:
        """How many items the innermost cell that runs works on."""
        if self._here.running:
            self._here.running[-1].items = items

    def _end(self, result: Any) -> None:
        if os.getpid() != self._pid:
            return
        stack = self._here.running
        # IPython gives no result for an await that was interrupted: then it is the innermost cell's.
        if result is not None and not any(_is_of(result, running) for running in stack):
            return  # the cell that loaded the extension, or one that IPython did not announce
        while stack:
            running = stack.pop()
            mine = result is None or _is_of(result, running)
            error, code_ended = _error(result), None
            if running.tracebacks is not None:
                error = running.tracebacks.escaped() if result is None else error
                error, code_ended = running.tracebacks.end(error)
            requested = self.runtime.selection.requested()  # a cell may have a device of its own
            devices = self.runtime.selection.devices()
            notes = self.runtime.selection.leave() if running.entered else []
            if running.measurement is not None:
                record = running.measurement.stop(
                    "interrupted" if result is None and error is None else _outcome(error),
                    requested=requested,
                    execution_count=self._execution_count(running, result),
                    notes=notes,
                    code_ended=code_ended,
                )
                if record.outcome == "error" and running.tracebacks is not None and registry.loaded():
                    self.capture.failed(running.tracebacks.words())
                if stack and self._here.operations is not None:  # one run of a cell that repeats
                    record = _as_a_run(record, self._here.operations.turn)
                    self._here.records.append(record)
                measured, code = running.measurement, running.info.raw_cell
                ended = EndedCell(
                    code,
                    devices,
                    running.items,
                    measured.left_out_s,
                    in_cells(measured.activity, code, record.cell.execution_count, self.shell),
                    measured.when_gpu_done,
                )
                self.on_record(record, ended)
            if running.capture_begun_here and not self.tracing:
                self._rest()
            if mine:
                return

    def _close(self, running: _Running) -> None:
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

    def _rest(self) -> None:
        self.capture.stop()
        self.runtime.release()

    def _wanted(self, running: _Running, depth: int, code: str) -> OperationsRequest | None:
        """How to measure a cell that begins; None for one that is not measured."""
        if depth == 2 and self._here.operations is not None:
            return self._here.operations
        if depth != 1:
            return None
        if code.split(maxsplit=1)[:1] == [TRACE_CELL] and self._ours(TRACE_CELL):
            wanted = asked_over(code) or OperationsRequest()
            running.repeats = wanted.repeat is not None
            return None if running.repeats else wanted  # each of its runs is measured instead
        return OperationsRequest() if self.tracing and not only_ours(code, self._ours) else None

    def _execution_count(self, running: _Running, result: Any) -> int | None:
        outer = self._here.running[0] if self._here.running else running
        if not outer.info.store_history:
            return None
        if outer is not running:
            # The front end shows the number of the cell that repeats: that of IPython's newest input. Its
            # `execution_count` may be one further by now, which differs between its versions.
            return len(self.shell.history_manager.input_hist_raw) - 1
        count: int | None = getattr(result, "execution_count", None)
        if count is None and result is not None:  # the result that IPython made anew has none
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
    """The record of one run of a cell that repeats; the last one says how long those before it took."""
    if turn is not None and not is_last(turn, record):
        turn = replace(turn, walls=())
    return replace(record, repeat=turn)


def _is_of(result: Any, running: _Running) -> bool:
    """Whether a result is that of a cell; IPython makes a new `info` where its own code failed around it."""
    return result.info is running.info or result.info.raw_cell is running.info.raw_cell


def _error(result: Any) -> BaseException | None:
    if result is None:
        return None
    # By identity: an exception of the user's may say that it is false.
    error: BaseException | None = result.error_before_exec
    return result.error_in_exec if error is None else error


def _outcome(error: BaseException | None) -> Outcome:
    if error is None:
        return "ok"
    return "interrupted" if is_a(error, KeyboardInterrupt, asyncio.CancelledError) else "error"


def _complain(what: str, error: BaseException) -> None:
    if type(error) is OSError and error.errno in (errno.EMFILE, errno.ENFILE):
        return  # the user's code has opened all files that it may, and hears of it where it opens one more
    say_on_stderr(f"jupyter_mlgpu {what} ({words(error)}). The cell itself runs as usual.")
