"""Sends events to every open browser and answers their requests, also while a cell runs.

There are two ways, both tested with ipykernel 6.31 and 7.4 (docs/adr/0003-transport.md says why not comms).

Push: a `comm_msg` on iopub reaches all tabs at once, after any client has asked for our output
(`audience.py`). Its parent is a request that no client has sent, so it belongs to no cell, and a client that
waits for its own messages ignores it. Each carries `seq` and `prev`, so a tab that missed one detects this
and requests a snapshot. At most twenty messages a second are sent: events within `INTERVAL` of the first are
sent together, because jupyter_server drops output of a kernel that sends a thousand a second. So a short cell
has been answered before the iopub thread turns its events into messages. A message has at most `SIZE` bytes,
because a browser freezes while it parses one; further events wait for the next message. If `MOST` events
wait, they are dropped and a number is skipped, so browsers request a snapshot.

Requests: a request on the control channel is answered while a cell runs. ipykernel's table of handlers is not
documented, and only this module touches it. There are two request types. One is for a snapshot, with the
`language` of the notebook's metadata if it has one. The other is for the messages of a browser
(`{"type": "watch"}`, see `live_counters.py`).

The extension is announced as an entry among the kernel's comms, which the standard `comm_info_request` lists.
So a browser never sends a request to a kernel that would not understand it.
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
REQUEST = "jupyter_mlgpu_snapshot_request"
SNAPSHOT_REPLY = "jupyter_mlgpu_snapshot_reply"
TELL = "jupyter_mlgpu_request"
REPLY = "jupyter_mlgpu_reply"
PROTOCOL = 1
INTERVAL = 0.05
#: Bytes of JSON; an event that is larger is sent alone.
SIZE = 200_000
#: Most events that wait; at the rate above, those of a few minutes.
MOST = 20_000

#: An event: a mapping that may hold our own types, or a function that returns a JSON-ready one. The function
#: is called when the event is sent, in the sending thread.
Event = Mapping[str, Any] | Callable[[], dict[str, Any]]


@dataclass(eq=False, repr=False)
class KernelChannel:
    """The channel of an ipykernel. Sending never raises into the caller and never waits.

    `answers` maps the type of a browser's message to the function that answers it. The function gets the
    whole message, which is not trusted.
    """

    kernel: Any
    run: str
    snapshot: Callable[[], dict[str, Any]]
    answers: Mapping[str, Callable[[Mapping[str, Any]], Mapping[str, Any]]]
    audience: Audience

    def __post_init__(self) -> None:
        #: Header used as the parent of all pushed messages; made with the first of them.
        self._parent: dict[str, Any] | None = None
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._waiting: list[Event] = []
        self._timer_set = False
        self._closed = False
        self._widget_pages = WidgetPages(self.kernel)
        self._sequence = 0
        self._pid = os.getpid()
        #: Called with every event in the thread that pushes it; they must not raise (`widgets.py`).
        self.listeners: list[Callable[[Event], None]] = []

    def open(self) -> None:
        """Announce the extension to current and future browsers."""
        self.kernel.comm_manager.comms[COMM] = _Announcement()
        self.kernel.control_handlers[REQUEST] = self._send_snapshot
        self.kernel.control_handlers[TELL] = self._handle_request
        self._widget_pages.open()
        self.push({"type": "hello"})

    def close(self) -> None:
        """Send a goodbye and unregister everything."""
        with self._lock:
            self._waiting = []  # a browser drops its state at the goodbye
        self.push({"type": "goodbye"})
        self._closed = True  # a later event of the cell that unloads us would look like a new start
        self._flush()
        self.kernel.comm_manager.comms.pop(COMM, None)
        self.kernel.control_handlers.pop(REQUEST, None)
        self.kernel.control_handlers.pop(TELL, None)
        self._widget_pages.close()

    def push(self, event: Event) -> None:
        """Send an event, together with those of the next `INTERVAL` seconds; do nothing after `close`."""
        if self._closed or os.getpid() != self._pid:  # a forked child has no thread that would send
            return
        for listener in tuple(self.listeners):
            listener(event)
        if not self.audience.asked:  # a client that asks gets the whole state, with this event in it
            return
        with self._lock:
            if len(self._waiting) >= MOST:
                self._waiting = []
                self._sequence += 1
            self._waiting.append(event)
            if self._timer_set:
                return
            self._timer_set = True
        self._flush_soon()

    def _flush_soon(self) -> None:
        thread = self.kernel.iopub_thread
        # A timer belongs to the event loop of its thread: set it from there.
        thread.schedule(lambda: thread.io_loop.call_later(INTERVAL, self._flush))

    def _flush(self) -> None:
        # One at a time, so deltas are sent in the order of their numbers. A thread that pushes never waits.
        with self._sending:
            with self._lock:
                events, self._waiting = self._waiting, []
                if (
                    not events or os.getpid() != self._pid
                ):  # a forked child must not write to the parent's socket
                    self._timer_set = False
                    return
                self._sequence += 1
                number = self._sequence
            rest: list[Event] = []
            try:
                sending = _fitting(events)
                rest = events[len(sending) :]
                delta = {
                    "protocol": PROTOCOL,
                    "run": self.run,
                    "seq": number,
                    "prev": number - 1,
                    "events": sending,
                }
                session = self.kernel.session
                self._parent = self._parent or session.msg_header(TELL)
                session.send(
                    self.kernel.iopub_socket,
                    "comm_msg",
                    {"comm_id": COMM, "data": delta},
                    parent=self._parent,
                )
            finally:
                with self._lock:
                    # A browser that requests a snapshot meanwhile gets these events twice, which is harmless.
                    self._waiting = rest + self._waiting
                    self._timer_set = bool(self._waiting)
                    if self._timer_set:
                        self._flush_soon()

    async def _send_snapshot(self, stream: Any, ident: Any, parent: Any) -> None:
        self.audience.ask()  # before the state is read: what happens from here on is pushed
        language.hear_from_page(parent["content"].get("language"))
        try:
            with self._lock:  # no event may come between the state and its number
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
                        "This kernel understands {known}, not {type}.",
                        known=", ".join(self.answers),
                        type=f"{kind!r:.40}",
                    )
                )
            reply = self.answers[kind](content)
            answer = {"status": "ok", "protocol": PROTOCOL, "run": self.run, **to_json(reply)}
        except Exception as error:
            answer = {"status": "error", "ename": type(error).__name__, "evalue": to_json(of_error(error))}
        self.kernel.session.send(stream, REPLY, answer, parent, ident)


def _fitting(events: list[Event]) -> list[dict[str, Any]]:
    """Return the first events, JSON-ready, that fit into one message; at least one."""
    ready: list[dict[str, Any]] = []
    size = 0
    for event in events:
        # A record is JSON-ready when it is made; converting it again would take as long as making it.
        data = event() if callable(event) else to_json(event)
        size += len(json.dumps(data)) if len(events) > 1 else 0
        if ready and size > SIZE:
            break
        ready.append(data)
    return ready


class NoChannel:
    """The channel of a terminal, which has no browser."""

    def open(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""

    def push(self, event: Event) -> None:
        """Do nothing."""


Channel = KernelChannel | NoChannel


class _Announcement:
    """An entry among the kernel's comms that makes `comm_info_request` list us; it carries no messages."""

    comm_id = COMM
    target_name = COMM

    def handle_msg(self, msg: Any) -> None:
        """Ignore a message; a front end has none to send here."""

    def handle_close(self, msg: Any) -> None:
        """Ignore the end of the comm in one browser; the others still use it."""
