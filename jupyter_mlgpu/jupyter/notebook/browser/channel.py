"""Tell every open browser what happens, also while a cell runs.

Two ways, both tried on ipykernel 6.31 and 7.4 (docs/adr/0003-transport.md says why not comms):

* push: a `comm_msg` on iopub reaches all tabs at once, once anybody has asked to hear of us (`audience.py`).
  Its parent is a request that no client has sent: it belongs to no cell, and whoever waits for messages of
  his own passes over it. Each carries `seq` and `prev`, so a tab that missed one knows it and asks. At most
  twenty a second are sent: what happens within `INTERVAL` of the first event is sent together, because
  jupyter_server drops output of a kernel that sends a thousand a second. So a short cell has been answered
  before its events are made into messages, by iopub's thread. A message is of `SIZE` bytes at most, because
  a browser stands still while it reads one; what is left waits for the next. Where `MOST` events wait, they
  are let go, and a number with them: then browsers ask.
* ask: a request on the control channel is answered while a cell runs. The handler table of ipykernel is
  not documented; this module alone touches it. There are two: for a snapshot, asked for with the `language`
  of the notebook's metadata where there is one, and for what a browser tells
  (`{"type": "watch"}`, see `live_counters.py`).

The presence of the extension is announced as an entry among the kernel's comms, which the standard
`comm_info_request` lists, so that a browser never asks a kernel that would not understand.
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
REPLY = "jupyter_mlgpu_snapshot_reply"
TELL = "jupyter_mlgpu_request"
REPLY = "jupyter_mlgpu_reply"
PROTOCOL = 1
INTERVAL = 0.05
#: Bytes of JSON; an event that is larger is sent alone.
SIZE = 200_000
#: Events that wait; at the rate above, those of a few minutes.
MOST = 20_000

#: What is pushed, with values of our own types in it, or what makes it: then that happens when it is sent, in
#: the thread that sends, and it is JSON-ready already.
Event = Mapping[str, Any] | Callable[[], dict[str, Any]]


@dataclass(eq=False, repr=False)
class KernelChannel:
    """The channel of an ipykernel. Sending never raises into the caller and never waits.

    `answers` are what browsers are answered, by what they ask for; each gets the whole message, which is not
    trusted.
    """

    kernel: Any
    run: str
    snapshot: Callable[[], dict[str, Any]]
    answers: Mapping[str, Callable[[Mapping[str, Any]], Mapping[str, Any]]]
    audience: Audience

    def __post_init__(self) -> None:
        #: The header of the request that pushes answer; made with the first of them.
        self._parent: dict[str, Any] | None = None
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._waiting: list[Event] = []
        self._timer_set = False
        self._closed = False
        self._widget_pages = WidgetPages(self.kernel)
        self._sequence = 0
        self._pid = os.getpid()
        #: Hear of every event when it is pushed, in the thread that does: they raise nothing (`widgets.py`).
        self.listeners: list[Callable[[Event], None]] = []

    def open(self) -> None:
        """Announce the extension to the browsers, those here now and those to come."""
        self.kernel.comm_manager.comms[COMM] = _Announcement()
        self.kernel.control_handlers[REQUEST] = self._answer
        self.kernel.control_handlers[TELL] = self._hear
        self._widget_pages.open()
        self.push({"type": "hello"})

    def close(self) -> None:
        """Say goodbye and take everything back."""
        with self._lock:
            self._waiting = []  # a browser forgets all of it when it hears the goodbye
        self.push({"type": "goodbye"})
        self._closed = True  # what a task of the cell that unloaded us still finds would say that we are back
        self._flush()
        self.kernel.comm_manager.comms.pop(COMM, None)
        self.kernel.control_handlers.pop(REQUEST, None)
        self.kernel.control_handlers.pop(TELL, None)
        self._widget_pages.close()

    def push(self, event: Event) -> None:
        """Send an event, with those of the next `INTERVAL` seconds; none after the channel was closed."""
        if self._closed or os.getpid() != self._pid:  # a forked child has no thread that would send
            return
        for hear in tuple(self.listeners):
            hear(event)
        if not self.audience.asked:  # whoever asks gets the whole state, this in it
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
        # One at a time, so that deltas leave in the order of their numbers; nobody who pushes waits for it.
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
                made = _first(events)
                rest = events[len(made) :]
                delta = {
                    "protocol": PROTOCOL,
                    "run": self.run,
                    "seq": number,
                    "prev": number - 1,
                    "events": made,
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
                    # What a browser learns by asking meanwhile it hears once more: that changes nothing.
                    self._waiting = rest + self._waiting
                    self._timer_set = bool(self._waiting)
                    if self._timer_set:
                        self._flush_soon()

    async def _answer(self, stream: Any, ident: Any, parent: Any) -> None:
        self.audience.ask()  # before the state is read: what happens from here on is pushed
        language.hear_from_page(parent["content"].get("language"))
        try:
            with self._lock:  # no event may slip between the state and its number
                content = {
                    "status": "ok",
                    "protocol": PROTOCOL,
                    "run": self.run,
                    "seq": self._sequence,
                }
                content |= to_json(self.snapshot())
        except Exception as error:
            content = {"status": "error", "ename": type(error).__name__, "evalue": str(error)}
        self.kernel.session.send(stream, REPLY, content, parent, ident)

    async def _hear(self, stream: Any, ident: Any, parent: Any) -> None:
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
            told = self.answers[kind](content)
            answer = {"status": "ok", "protocol": PROTOCOL, "run": self.run, **to_json(told)}
        except Exception as error:
            answer = {"status": "error", "ename": type(error).__name__, "evalue": to_json(of_error(error))}
        self.kernel.session.send(stream, REPLY, answer, parent, ident)


def _first(events: list[Event]) -> list[dict[str, Any]]:
    """Those that fit into one message, made; at least one."""
    made: list[dict[str, Any]] = []
    size = 0
    for event in events:
        # A record is JSON when it is made: walking through it again would take as long as making it.
        one = event() if callable(event) else to_json(event)
        size += len(json.dumps(one)) if len(events) > 1 else 0
        if made and size > SIZE:
            break
        made.append(one)
    return made


class NoChannel:
    """Where there is no browser: a terminal."""

    def open(self) -> None:
        """Nobody listens."""

    def close(self) -> None:
        """Nobody listens."""

    def push(self, event: Event) -> None:
        """Nobody listens."""


Channel = KernelChannel | NoChannel


class _Announcement:
    """An entry among the kernel's comms, so that `comm_info_request` lists us; it carries no messages."""

    comm_id = COMM
    target_name = COMM

    def handle_msg(self, msg: Any) -> None:
        """A front end has nothing to send here."""

    def handle_close(self, msg: Any) -> None:
        """Closing it in one browser changes nothing for the others."""
