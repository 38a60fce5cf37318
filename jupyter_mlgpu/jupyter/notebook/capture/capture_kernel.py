"""Captures native lines in a kernel: the parts that the tap itself does not have.

ipykernel may have turned the descriptors 1 and 2 into pipes already, whose readers print into the notebook.
Then native lines are written to the same stream objects that `print` uses, and in order: lines written
earlier are passed on before anything is printed or flushed, and ipykernel flushes both streams before it
shows, clears, requests or ends anything. If the user's code has replaced the streams in `sys`, ipykernel
flushes those instead, so outgoing messages are intercepted, too.
"""

from __future__ import annotations

import functools
import logging
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

#: Where pyzmq logs errors of ipykernel's thread.
_LOG = logging.getLogger("tornado.general")

#: Seconds between two writes after which they count as different prints. A print is several writes by one
#: instruction: its texts, the separators and the line end. Native lines are not inserted within a print, so a
#: child process's line does not split it. The writes of a print follow each other within a few microseconds,
#: but those of the same print in a loop look alike. Measured beside a child that wrote a line every
#: millisecond: 6 of 2,500 prints were split, as many as without capture (16 with 5e-6, 261 with 3e-6).
AT_ONCE = 10e-6
#: Texts that `print` adds between its arguments and at the end.
_BETWEEN, _END = " ", "\n"
_BY_PRINT = (_BETWEEN, _END)

#: Messages that show something or end a cell. Lines written before are sent first.
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
#: Messages to comms, such as those of widgets; those to our comm run none of the user's code.
_TO_COMMS = frozenset({"comm_open", "comm_msg", "comm_close"})
#: The message that announces the code about to run.
_A_REQUEST = "execute_input"


class KernelEnvironment:
    """Captures native output under ipykernel, with ipykernel's own capture of the descriptors on or off."""

    def __init__(self) -> None:
        #: Empty if one is a terminal: programs adapt their output to terminals, so these are left alone.
        self.descriptors: Sequence[int] = () if _is_terminal(1) or _is_terminal(2) else (1, 2)
        self._streams = {1: sys.stdout, 2: sys.stderr}
        self._echoes: list[StreamEcho] = []
        self._counts = {1: LineCount(), 2: LineCount()}
        self._classes: list[tuple[OutStream, type[OutStream]]] = []
        self._covered: list[tuple[Any, Any, bool]] = []
        self._sending: tuple[Any, Any] | None = None
        #: Id of the thread that handles a request other than a cell; None if there is no such request.
        self._request_thread: int | None = None

    def make_echo(self, descriptor: int, before: int) -> Echo | None:
        """Return an echo to the notebook if ipykernel would have shown the output there, else to its target.

        Return None if the user's code has redirected the descriptor to a file, which it may read back at
        once.
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
        """Start to show native lines in order with printed output."""
        own = [stream for stream in self._streams.values() if is_a(stream, OutStream)]
        self._classes = [(stream, type(stream)) for stream in own]

        def pass_on() -> None:
            """Show everything written up to now before later output."""
            tap.flush()
            tap.catch_up()
            # Lines that the reading thread has passed on meanwhile wait in the stream, too.
            for echo in self._echoes:
                echo.flush()

        for stream in own:
            stream.__class__ = _stream_class_in_order(
                type(stream), pass_on, lambda: tap.give_up(STREAM_CLOSED)
            )
        if own:
            self._intercept_messages(own[0].session, tap, pass_on, request_begins)

    def _end_request(self, tap: Tap) -> None:
        self._request_thread = None
        self.cell_ended(tap)
        for echo in self._echoes:
            echo.belong_to_the_last_cell()

    def cell_begins(self, tap: Tap) -> None:
        """Show output under this cell from now on."""
        if self._request_thread is not None:  # a request in a subshell is still being handled
            self._end_request(tap)
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
        """Restore the streams' `write` methods."""
        for echo in self._echoes:
            echo.finish()
        while self._covered:
            stream, ours, was_covered = self._covered.pop()
            if stream.write is not ours:
                continue  # other code has wrapped it since and still calls ours, which then only catches up
            if was_covered:
                stream.write = ours.__wrapped__
            else:
                del stream.write

    def shown_lines(self) -> Mapping[str, StreamLines]:
        """Return which lines of the last cell's output are native, by stream name."""
        counted = {NAMES[descriptor]: count.lines() for descriptor, count in self._counts.items()}
        return {name: lines for name, lines in counted.items() if lines is not None}

    def detach(self, tap: Tap) -> None:
        """Restore everything that was replaced."""
        self.cell_ended(tap)
        for stream, before in self._classes:
            stream.__class__ = before
        self._classes.clear()
        if self._sending is not None:
            session, ours = self._sending
            if vars(session).get("send") is ours:  # else other code has wrapped it since and still calls ours
                del session.send
            self._sending = None
        self._echoes.clear()
        self._request_thread = None

    def after_fork_in_child(self, tap: Tap) -> None:
        """Detach in a forked child, which prints without capture."""
        self.detach(tap)

    def _pump_before_writes(
        self, stream: Any, behind: Callable[[], bool], catch_up: Callable[[], None], count: LineCount
    ) -> None:
        """Wrap a stream's `write`, so that a native line written before a print is shown before it.

        Each stream checks only its own lines: ipykernel sends one stream after the other, so their order is
        not kept anyway. The instance is wrapped for each cell, not the class: IPython also wraps the method
        for one cell at a time, and restores the method that it found on the stream.
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
            except Exception as error:  # the print must succeed in any case
                if is_of_a_handler(error):
                    raise
            written = original(text)
            printed(text)
            caller, instruction, last, ended = id(frame), frame.f_lasti, text, now()
            return written

        self._covered.append((stream, write, "write" in vars(stream)))
        stream.write = write

    def _intercept_messages(
        self, session: Any, tap: Tap, pass_on: Callable[[], None], request_begins: Callable[[], None]
    ) -> None:
        original = session.send

        def state_changes(content: Mapping[str, Any], request: Mapping[str, Any] | None) -> None:
            """Show the output of a widget's callback or a silent request under that request."""
            here = threading.get_ident()  # a subshell has a thread of its own
            if content.get("execution_state") == "busy" and request and _runs_code_outside_cells(request):
                if not self._covered:  # no cell runs at the same time
                    for echo in self._echoes:
                        echo.belong_to_this_request()
                    self._cover(tap)
                    self._request_thread = here
            elif content.get("execution_state") == "idle" and self._request_thread == here:
                self._end_request(tap)

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


def _stream_class_in_order(
    kind: Any, pass_on: Callable[[], None], give_up: Callable[[], None]
) -> type[OutStream]:
    """Return a subclass of an ipykernel stream whose flush first shows earlier native output.

    Closing the stream needs its own descriptor, because ipykernel wakes the thread that reads from it by
    writing to it. What ipykernel's own thread cannot send, such as half a character, is logged as ipykernel
    does. Raised there, the error makes ZeroMQ miss later events, and the kernel no longer answers.
    """
    flush, close, send = kind.flush, kind.close, kind._flush

    class InOrder(kind):  # type: ignore[misc]
        def flush(self) -> None:
            with OurFailures():
                pass_on()
            flush(self)

        def _flush(self) -> None:
            try:
                send(self)
            except Exception:
                if threading.current_thread() is not self.pub_thread.thread:
                    raise
                _LOG.error("Uncaught exception in ZMQStream callback", exc_info=True)

        def close(self) -> None:
            with OurFailures():
                give_up()
            close(self)

    # Programs such as click recognize a notebook by these names.
    InOrder.__name__ = InOrder.__qualname__ = kind.__name__
    InOrder.__module__ = kind.__module__
    return InOrder


def _runs_code_outside_cells(request: Mapping[str, Any]) -> bool:
    """Return True if a request runs user code outside a cell: a widget's message or a silent request.

    Other requests, such as completions, come at any time, and output printed under them is not shown.
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
    """Return True if a descriptor led to the pipe that ipykernel reads; the user may have redirected it."""
    try:
        if not stat.S_ISFIFO(os.fstat(before).st_mode):
            return False
        # Both ends of a pipe are one file on Linux, and two on a Mac.
        ends = vars(stream).get("_fid")  # since ipykernel 6.0
        return ends is None or sys.platform == "darwin" or os.path.sameopenfile(before, ends)
    except OSError:  # closed
        return False


def _captured_by_ipykernel(stream: Any, descriptor: int) -> int | None:
    """Return the terminal's own descriptor if ipykernel has turned `descriptor` into a pipe, else None."""
    if not is_a(stream, OutStream):
        return None
    try:
        terminal: int = stream.fileno()  # type: ignore[no-untyped-call]
    except (OSError, ValueError):  # its capture is off
        return None
    return terminal if terminal != descriptor else None
