"""Capturing native lines in a kernel: what it needs beside the tap itself.

ipykernel may have turned the descriptors 1 and 2 into pipes already, whose readers print into the
notebook. Then native lines go on to the same stream objects that `print` uses, and in the right order: what
was written before is passed on before anything is printed or flushed, and ipykernel flushes both streams
before it shows, clears, asks or ends anything. Only where the user's code has put streams of its own into
`sys` does it flush these; so messages are looked at, too.
"""

from __future__ import annotations

import functools
import os
import stat
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ipykernel.iostream import OutStream

from jupyter_mlgpu.jupyter.notebook.browser.channel import COMM
from jupyter_mlgpu.jupyter.notebook.capture.line_count import LineCount
from jupyter_mlgpu.jupyter.notebook.capture.stream_echo import StreamEcho
from jupyter_mlgpu.measure.capture.echo import Echo
from jupyter_mlgpu.measure.capture.losses import STREAM_CLOSED
from jupyter_mlgpu.measure.capture.stream import NAMES, plain_echo
from jupyter_mlgpu.measure.capture.tap import Tap
from jupyter_mlgpu.measure.handlers import OurFailures, is_of_a_handler
from jupyter_mlgpu.measure.user_objects import is_a
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.native import StreamLines

#: A print is several writes of one instruction: texts, blanks between them and the end of its line. Within
#: one nobody looks for native lines, or a child's would stand in the middle of it. Its writes follow each
#: other within a few microseconds, and the same print in a loop looks alike: what comes after more than these
#: seconds counts as another one, before which native lines may have been written. Beside a child that writes
#: a line every millisecond, 6 of 2,500 prints were cut so, plainly 6 as well (with 5e-6 16, with 3e-6 261).
AT_ONCE = 10e-6
#: The texts that `print` adds: between its arguments, and at the end.
_BETWEEN, _END = " ", "\n"
_BY_PRINT = (_BETWEEN, _END)

#: Messages that show something, or end a cell: what was written before comes before them.
_DISPLAY_MESSAGES = frozenset(
    {
        "display_data",
        "update_display_data",
        "execute_result",
        "error",
        "clear_output",
        "input_request",
        "status",
    }
)
#: Messages of widgets, and others that have a comm; ours run no code of the user's.
_TO_COMMS = frozenset({"comm_open", "comm_msg", "comm_close"})
#: The message that says what is about to run.
_A_REQUEST = "execute_input"


class KernelEnvironment:
    """ipykernel, with its own capture of the descriptors on or off."""

    def __init__(self) -> None:
        #: A terminal stays one: it is for who reads it that programs ask whether they write to one.
        self.descriptors: Sequence[int] = () if _is_terminal(1) or _is_terminal(2) else (1, 2)
        self._streams = {1: sys.stdout, 2: sys.stderr}
        self._echoes: list[StreamEcho] = []
        self._counts = {1: LineCount(), 2: LineCount()}
        self._classes: list[tuple[OutStream, type[OutStream]]] = []
        self._covered: list[tuple[Any, Any, bool]] = []
        self._sending: tuple[Any, Any] | None = None
        #: The thread that handles a request that is no cell; None: no one does.
        self._beside: int | None = None

    def make_echo(self, descriptor: int, before: int) -> Echo | None:
        """Into the notebook where ipykernel would have shown it there, else to where it went before.

        None where the user's code has put a file there, in which it may look for what it has just written.
        """
        stream = self._streams[descriptor]
        terminal = _captured_by_ipykernel(stream, descriptor)
        if terminal is None or not _leads_to_ipykernel(stream, before):
            is_users_file = terminal is not None and stat.S_ISREG(os.fstat(before).st_mode)
            return None if is_users_file else plain_echo(descriptor, before)
        echo = StreamEcho(stream, terminal, self._counts[descriptor])
        self._echoes.append(echo)
        return echo

    def attach(self, tap: Tap, request_begins: Callable[[], None]) -> None:
        """Put in what shows native lines in their order."""
        own = [stream for stream in self._streams.values() if is_a(stream, OutStream)]
        self._classes = [(stream, type(stream)) for stream in own]

        def pass_on() -> None:
            """What was written up to now is shown before what comes next."""
            tap.flush()
            tap.catch_up()
            # What the reading thread has passed on meanwhile waits in the stream, too.
            for echo in self._echoes:
                echo.flush()

        for stream in own:
            stream.__class__ = _in_order(type(stream), pass_on, lambda: tap.give_up(STREAM_CLOSED))
        if own:
            self._look_before_messages(own[0].session, tap, pass_on, request_begins)

    def _end_beside(self, tap: Tap) -> None:
        self._beside = None
        self.cell_ended(tap)
        for echo in self._echoes:
            echo.belong_to_the_last_cell()

    def cell_begins(self, tap: Tap) -> None:
        """What is printed from now on belongs to this cell."""
        if self._beside is not None:  # a subshell goes on
            self._end_beside(tap)
        for echo in self._echoes:
            echo.belong_to_this_cell()
        for count in self._counts.values():
            count.begin()
        self._cover(tap)

    def _cover(self, tap: Tap) -> None:
        for descriptor, stream in self._streams.items():
            if is_a(stream, OutStream):
                count = self._counts[descriptor]
                self._pump_before_writes(stream, tap.behind_in(descriptor), tap.catch_up, count)

    def cell_ended(self, tap: Tap) -> None:
        """Put back what covered its streams."""
        for echo in self._echoes:
            echo.finish()
        while self._covered:
            stream, ours, was_covered = self._covered.pop()
            if stream.write is not ours:
                continue  # somebody has covered it since, and calls us: we only look at the files then
            if was_covered:
                stream.write = ours.__wrapped__
            else:
                del stream.write

    def shown_lines(self) -> Mapping[str, StreamLines]:
        """Which lines of the last cell's output are native."""
        found = {NAMES[descriptor]: count.lines() for descriptor, count in self._counts.items()}
        return {name: lines for name, lines in found.items() if lines is not None}

    def detach(self, tap: Tap) -> None:
        """Put everything back as it was found."""
        self.cell_ended(tap)
        for stream, before in self._classes:
            stream.__class__ = before
        self._classes.clear()
        if self._sending is not None:
            session, ours = self._sending
            if vars(session).get("send") is ours:  # else somebody has covered it since, and calls us
                del session.send
            self._sending = None
        self._echoes.clear()
        self._beside = None

    def after_fork_in_child(self, tap: Tap) -> None:
        """A child prints as without us."""
        self.detach(tap)

    def _pump_before_writes(
        self, stream: Any, behind: Callable[[], bool], catch_up: Callable[[], None], count: LineCount
    ) -> None:
        """A native line written before a print is shown before it.

        Each stream looks for its own lines alone: ipykernel sends one stream after the other, so there is no
        order between them. Done cell by cell, and not by the stream's class: IPython covers the method,
        too, for one cell at a time, and leaves what it found on the stream.
        """
        original, now, printed = stream.write, real_time.perf_counter, count.printed
        frame_of = sys._getframe
        caller, instruction, last, ended = 0, 0, _END, 0.0

        @functools.wraps(original)
        def write(text: str) -> Any:
            nonlocal caller, instruction, last, ended
            frame = frame_of(1)
            if (
                last != _END
                and (text in _BY_PRINT or last == _BETWEEN)
                and frame.f_lasti == instruction
                and id(frame) == caller
                and now() - ended < AT_ONCE
            ):
                written = original(text)
                printed(text)
                last, ended = text, now()
                return written
            try:
                if behind():
                    catch_up()
            except Exception as error:  # the print comes first
                if is_of_a_handler(error):
                    raise
            written = original(text)
            printed(text)
            caller, instruction, last, ended = id(frame), frame.f_lasti, text, now()
            return written

        self._covered.append((stream, write, "write" in vars(stream)))
        stream.write = write

    def _look_before_messages(
        self, session: Any, tap: Tap, pass_on: Callable[[], None], request_begins: Callable[[], None]
    ) -> None:
        original = session.send

        def state_changes(content: Mapping[str, Any], request: Mapping[str, Any] | None) -> None:
            """Show what a widget's callback or a silent request writes under that request."""
            here = threading.get_ident()  # a subshell has a thread of its own
            if content.get("execution_state") == "busy" and request and _runs_code_beside_cells(request):
                if not self._covered:  # no cell runs at the same time
                    for echo in self._echoes:
                        echo.belong_to_this_request()
                    self._cover(tap)
                    self._beside = here
            elif content.get("execution_state") == "idle" and self._beside == here:
                self._end_beside(tap)

        @functools.wraps(original)
        def send(stream: Any, message: Any, *arguments: Any, **named: Any) -> Any:
            with OurFailures():
                kind = message if is_a(message, str) else message["header"]["msg_type"]
                if kind in _DISPLAY_MESSAGES:
                    pass_on()
                if kind == _A_REQUEST:
                    pass_on()
                    request_begins()
                    for echo in self._echoes:
                        echo.belong_to_this_cell()
                if kind == "clear_output":
                    for count in self._counts.values():
                        count.forget()
                if kind == "status" and arguments:
                    state_changes(arguments[0], named.get("parent"))
            return original(stream, message, *arguments, **named)

        session.send = send
        self._sending = session, send


def _in_order(kind: Any, pass_on: Callable[[], None], give_up: Callable[[], None]) -> type[OutStream]:
    """A stream of ipykernel's that shows what was written natively before, when it is flushed.

    To close it, it needs its own descriptor: it wakes the thread that reads from it by writing to it.
    """
    flush, close = kind.flush, kind.close

    class InOrder(kind):  # type: ignore[misc]
        def flush(self) -> None:
            with OurFailures():
                pass_on()
            flush(self)

        def close(self) -> None:
            with OurFailures():
                give_up()
            close(self)

    # By these programs, click among them, know that they print into a notebook.
    InOrder.__name__ = InOrder.__qualname__ = kind.__name__
    InOrder.__module__ = kind.__module__
    return InOrder


def _runs_code_beside_cells(request: Mapping[str, Any]) -> bool:
    """Return whether a request runs the user's code outside a cell: a widget's message, or a silent request.

    Others, completions among them, come at any time, and nobody shows what is printed under them.
    """
    kind, content = request["header"]["msg_type"], request["content"]
    if kind == "execute_request":
        return content.get("silent") is True
    return kind in _TO_COMMS and content.get("comm_id") != COMM


def _is_terminal(descriptor: int) -> bool:
    try:
        return os.isatty(descriptor)
    except OSError:  # closed
        return False


def _leads_to_ipykernel(stream: Any, before: int) -> bool:
    """Whether a descriptor led to the pipe that ipykernel reads: the user may have put a file there."""
    try:
        if not stat.S_ISFIFO(os.fstat(before).st_mode):
            return False
        # Both ends of a pipe are one file on Linux, and two on a Mac.
        ends = vars(stream).get("_fid")  # since ipykernel 6.0
        return ends is None or sys.platform == "darwin" or os.path.sameopenfile(before, ends)
    except OSError:  # closed
        return False


def _captured_by_ipykernel(stream: Any, descriptor: int) -> int | None:
    """The terminal's own descriptor, where ipykernel has turned `descriptor` into a pipe of its own."""
    if not is_a(stream, OutStream):
        return None
    try:
        terminal: int = stream.fileno()  # type: ignore[no-untyped-call]
    except (OSError, ValueError):  # its capture is off
        return None
    return terminal if terminal != descriptor else None
