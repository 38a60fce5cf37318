"""Sends events to every open browser, and answers browsers' requests, even while a cell runs.

Both directions are tested with ipykernel 6.31 and 7.4. docs/adr/0003-transport.md says why requests do not
use comms.

Events are sent as `comm_msg` messages on iopub, which reach all tabs at once. Before a page has asked for a
snapshot, only the one that announces the extension is sent (`audience.py`). The parent header of these
messages is that of a request which no client has sent. So they belong to no cell, and a client that waits for
the replies to its own requests ignores them. Each message has its number in `seq`, and the number of the
message before it in `prev`. A tab that missed a message notices the gap and requests a snapshot.

At most twenty messages a second are sent, because jupyter_server drops output of a kernel that sends a
thousand a second: events within `SEND_INTERVAL` of the first are sent together. A short cell's reply is
therefore sent before the iopub thread spends time on turning the cell's events into messages. A message has
at most `MAX_MESSAGE_BYTES`, because a browser freezes while it parses one; the remaining events are sent in
the next message. If `MAX_WAITING` events wait, they are dropped and a number is skipped. Browsers notice this
gap, too, and request a snapshot.

Requests are sent to the control channel, which ipykernel reads while a cell runs. Its table of handlers is
not documented; this module adds its two handlers there, and `post_mortem.py` wraps the one for shutdown
requests. A `jupyter_mlgpu_snapshot_request` asks for a snapshot. It has the `language` of the notebook's
metadata if there is one. A `jupyter_mlgpu_request` is used for everything else. Its `type`, such as `watch`,
selects the function that answers it (`page_requests.py`).

The extension adds an entry to the kernel's comms, which the standard `comm_info_request` lists. A browser
looks for this entry first, so it never sends a request to a kernel that would not understand it.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from jupyter_mlgpu.jupyter.notebook.browser.audience import Audience
from jupyter_mlgpu.jupyter.notebook.browser.widget_pages import WidgetPages
from jupyter_mlgpu.record import language
from jupyter_mlgpu.record.decoding import to_json
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.sentence import of_error, say

COMM = "jupyter_mlgpu"
SNAPSHOT_REQUEST = "jupyter_mlgpu_snapshot_request"
SNAPSHOT_REPLY = "jupyter_mlgpu_snapshot_reply"
PAGE_REQUEST = "jupyter_mlgpu_request"
PAGE_REPLY = "jupyter_mlgpu_reply"
PROTOCOL = 1
#: Seconds between the first of the events that wait and the message with all of them.
SEND_INTERVAL = 0.05
#: Maximum size of a message's events as JSON. A larger event is sent in a message of its own.
MAX_MESSAGE_BYTES = 200_000
#: Maximum number of events that wait to be sent.
MAX_WAITING = 20_000

#: An event: a mapping that may contain objects of this package, which `to_json` converts, or a function that
#: returns a mapping of JSON values only. The function is called in the thread that sends the event, just
#: before it is sent.
Event = Mapping[str, Any] | Callable[[], dict[str, Any]]


@dataclass(eq=False, repr=False)
class KernelChannel:
    """The channel of an ipykernel. Sending never raises into the caller and never waits.

    `answers` maps the type of a browser's request to the function that answers it. The function is called
    with the whole content of the request, which it must not trust: any client can send one.
    """

    kernel: Any
    run: str
    snapshot: Callable[[], dict[str, Any]]
    answers: Mapping[str, Callable[[Mapping[str, Any]], Mapping[str, Any]]]
    audience: Audience

    def __post_init__(self) -> None:
        #: Parent header of all messages with events; made with the first of them.
        self._parent: dict[str, Any] | None = None
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._waiting: list[Event] = []
        self._timer_set = False
        self._closed = False
        self._widget_pages = WidgetPages(self.kernel)
        self._sequence = 0
        self._pid = os.getpid()
        #: Functions that are called with every event, in the thread that pushes it. They must not raise.
        #: `widgets.py` adds them.
        self.listeners: list[Callable[[Event], None]] = []

    def open(self) -> None:
        """Announce the extension to current and future browsers."""
        self.kernel.comm_manager.comms[COMM] = _Announcement()
        self.kernel.control_handlers[SNAPSHOT_REQUEST] = self._send_snapshot
        self.kernel.control_handlers[PAGE_REQUEST] = self._handle_request
        self._widget_pages.open()
        self._announce("hello")

    def close(self) -> None:
        """Send an event of type `goodbye`, and unregister everything."""
        with self._lock:
            self._waiting = []  # a browser drops its whole state when it gets the goodbye
        self._announce("goodbye")
        # The cell that unloads the extension may push further events. They would look like a new start.
        self._closed = True
        self._flush()
        self.kernel.comm_manager.comms.pop(COMM, None)
        self.kernel.control_handlers.pop(SNAPSHOT_REQUEST, None)
        self.kernel.control_handlers.pop(PAGE_REQUEST, None)
        self._widget_pages.close()

    def push(self, event: Event) -> None:
        """Send an event, with those of the next `SEND_INTERVAL` seconds; do nothing after `close`.

        Nothing is sent before a page has asked for a snapshot. That includes all events before it.
        """
        if self._closed or os.getpid() != self._pid:  # a forked child has no iopub thread to send from
            return
        for listener in tuple(self.listeners):
            listener(event)
        if self.audience.known_to_a_client:
            self._queue(event)

    @property
    def is_heard(self) -> bool:
        """True if a page or a widget gets the events."""
        return self.audience.known_to_a_client or bool(self.listeners)

    def _announce(self, kind: str) -> None:
        """Send an event that pages wait for before they ask for a snapshot."""
        event = {"type": kind}
        for listener in tuple(self.listeners):
            listener(event)
        if self.audience.output_requested:
            self._queue(event)

    def _queue(self, event: Event) -> None:
        with self._lock:
            if len(self._waiting) >= MAX_WAITING:
                self._waiting = []
                self._sequence += 1
            self._waiting.append(event)
            if self._timer_set:
                return
            self._timer_set = True
        self._flush_soon()

    def call_later(self, seconds: float, function: Callable[[], None]) -> None:
        """Call a function in the iopub thread."""
        thread = self.kernel.iopub_thread
        # A timer belongs to the event loop of its thread: set it from there.
        thread.schedule(lambda: thread.io_loop.call_later(seconds, function))

    def _flush_soon(self) -> None:
        self.call_later(SEND_INTERVAL, self._flush)

    def _flush(self) -> None:
        # One message at a time, so that messages are sent in the order of their numbers. A thread that calls
        # `push` never waits for this lock.
        with self._sending:
            with self._lock:
                events, self._waiting = self._waiting, []
                # A forked child must not write to its parent's socket.
                if not events or os.getpid() != self._pid:
                    self._timer_set = False
                    return
                self._sequence += 1
                number = self._sequence
            remaining: list[Event] = []
            try:
                converted = _events_for_message(events)
                remaining = events[len(converted) :]
                data = {
                    "protocol": PROTOCOL,
                    "run": self.run,
                    "seq": number,
                    "prev": number - 1,
                    "events": converted,
                }
                session = self.kernel.session
                self._parent = self._parent or session.msg_header(PAGE_REQUEST)
                session.send(
                    self.kernel.iopub_socket,
                    "comm_msg",
                    {"comm_id": COMM, "data": data},
                    parent=self._parent,
                )
            finally:
                with self._lock:
                    # A browser that requested a snapshot during this call gets the remaining events twice,
                    # which is harmless.
                    self._waiting = remaining + self._waiting
                    self._timer_set = bool(self._waiting)
                    if self._timer_set:
                        self._flush_soon()

    async def _send_snapshot(self, stream: Any, ident: Any, parent: Any) -> None:
        self.audience.ask()  # before the state is read, so that every later event is pushed
        language.hear_from_page(parent["content"].get("language"))
        try:
            with self._lock:  # no message may be numbered between reading the number and reading the state
                content = {
                    "status": "ok",
                    "protocol": PROTOCOL,
                    "run": self.run,
                    "seq": self._sequence,
                }
                content |= to_json(self.snapshot())
        except Exception as error:
            content = {"status": "error", "ename": type(error).__name__, "evalue": str(error)}
        self.kernel.session.send(stream, SNAPSHOT_REPLY, content, parent, ident)

    async def _handle_request(self, stream: Any, ident: Any, parent: Any) -> None:
        self.audience.ask()
        content = parent["content"]
        kind = content.get("type")
        try:
            if kind not in self.answers:
                raise UsageError(
                    say(
                        "Unknown request type {type}. This kernel answers requests of these types: {known}.",
                        type=f"{kind!r:.40}",
                        known=", ".join(self.answers),
                    )
                )
            reply = self.answers[kind](content)
            answer = {"status": "ok", "protocol": PROTOCOL, "run": self.run, **to_json(reply)}
        except Exception as error:
            answer = {"status": "error", "ename": type(error).__name__, "evalue": to_json(of_error(error))}
        self.kernel.session.send(stream, PAGE_REPLY, answer, parent, ident)


def _events_for_message(events: list[Event]) -> list[dict[str, Any]]:
    """Convert the first events to JSON values, as many as fit into one message, but at least one."""
    converted: list[dict[str, Any]] = []
    size = 0
    for event in events:
        # A function returns JSON values, such as a whole record. Converting those again with `to_json` would
        # take as long as it took to make them.
        data = event() if callable(event) else to_json(event)
        size += len(json.dumps(data)) if len(events) > 1 else 0
        if converted and size > MAX_MESSAGE_BYTES:
            break
        converted.append(data)
    return converted


class NoChannel:
    """The channel of a terminal, which has no browser."""

    is_heard = False

    def open(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""

    def push(self, event: Event) -> None:
        """Do nothing."""


Channel = KernelChannel | NoChannel


class _Announcement:
    """An entry among the kernel's comms, which makes `comm_info_request` list the extension."""

    comm_id = COMM
    target_name = COMM

    def handle_msg(self, msg: Any) -> None:
        """Ignore a message; no browser sends one to this comm."""

    def handle_close(self, msg: Any) -> None:
        """Ignore that one browser has closed the comm, because the others still use it."""
