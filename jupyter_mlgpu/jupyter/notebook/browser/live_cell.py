"""Sends the running cell to a TraceView: its time, and the newest live counters.

They go as anywidget's custom messages and change no trait, so they may be sent in any thread:

    {"live": {"running": {"cell": {...}, "elapsed_s": 12.3, ...},
              "counters": {"series": [{"device": "process", "quantity": "utilisation", "unit": "cores"}, ...],
                           "values": [2.0, ...]}}}

`running` is that of a snapshot (`messages.RunningData`), with the seconds at which the message was made.
`counters` is null in a message that comes before the first sample. It has only what the page's line shows
(livewords.ts), and no series without a value, so a message stays small. `{"live": null}` says that no cell
runs any more; after it, nothing is sent until the next cell, and nobody asks for the counters, which
therefore stop.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.decoding import to_json

if TYPE_CHECKING:
    from jupyter_mlgpu.jupyter.notebook.browser.channel import Event
    from jupyter_mlgpu.jupyter.notebook.browser.messages import CountersHistoryData, RunningData, WatchData

#: Least seconds between two messages of one cell.
EVERY = 1.0
#: Seconds from a cell's beginning to its first message. The iopub thread makes it: in the main thread, it
#: would be part of the measured time. Shorter cells send no message and sample no counters.
AFTER = 0.1

_OF_PROCESS = ("utilisation", "memory")
#: Quantities of a GPU; a later one is sent only if the earlier ones are not known.
_OF_GPU = ("utilisation", "power")


class _Updates(Protocol):
    def running(self) -> RunningData | None: ...


class _LiveCounters(Protocol):
    def renew(self) -> WatchData: ...

    def state(self) -> CountersHistoryData | None: ...


class LiveCell:
    """The live line of one TraceView.

    `send` sends a message to its pages. `call_later` calls a function after some seconds, in another thread.
    """

    def __init__(
        self,
        updates: _Updates,
        counters: _LiveCounters,
        send: Callable[[dict[str, Any]], None],
        call_later: Callable[[float, Callable[[], None]], object],
        now: Callable[[], float] = real_time.monotonic,
    ) -> None:
        self._updates = updates
        self._counters = counters
        self._send = send
        self._call_later = call_later
        self._now = now
        # A message must not follow the one that says that its cell has ended. The lock is reentrant because a
        # user's `__del__`, which may run anywhere, can make a record.
        self._lock = threading.RLock()
        self._stopped = False
        self._timer_set = False
        self._sent_at = float("-inf")
        #: Number of the cell that the pages show; None if they show none.
        self._shown: int | None = None
        self._series: list[dict[str, Any]] | None = None

    def hear(self, event: Event) -> None:
        """Handle an event of the channel, in any thread. May raise."""
        if callable(event):  # a record: perhaps that of the running cell, which has ended
            self._end_if_idle()
        elif event["type"] == "running":
            if not self._timer_set:
                self._timer_set = True
                self._call_later(AFTER, self._tell_first)
        elif event["type"] == "counters":
            self._hear_counters(event)

    def stop(self) -> None:
        """Send nothing any more."""
        self._stopped = True

    def _tell_first(self) -> None:
        self._timer_set = False
        with suppress(Exception):
            if self._updates.running() is not None and not self._stopped:
                self._counters.renew()
                self._tell(None)

    def _hear_counters(self, event: Any) -> None:
        if "series" in event:
            self._series = event["series"]
        elif self._series is None and (state := self._counters.state()) is not None:
            # A sidebar was there earlier, and got the series.
            self._series = to_json(state["series"])
        if self._updates.running() is None:
            self._end_if_idle()
        else:
            self._counters.renew()
            self._tell(_shown_counters(self._series or [], event["values"]))

    def _tell(self, counters: dict[str, Any] | None) -> None:
        with self._lock:
            running = self._updates.running()
            if running is None:
                return
            now, sequence = self._now(), running["cell"].sequence
            if sequence == self._shown and now - self._sent_at < EVERY:
                return
            self._sent_at, self._shown = now, sequence
            self._send({"live": {"running": to_json(running), "counters": counters}})

    def _end_if_idle(self) -> None:
        with self._lock:
            if self._shown is not None and self._updates.running() is None:
                self._shown = None
                self._send({"live": None})


def _shown_counters(series: list[dict[str, Any]], values: list[float | None]) -> dict[str, Any]:
    """Return the series that the line shows, and their values."""
    known = [(one, value) for one, value in zip(series, values, strict=False) if value is not None]
    has = {(one["device"], one["quantity"]) for one, _ in known}

    def is_shown(device: str, quantity: str) -> bool:
        if device == "process":
            return quantity in _OF_PROCESS
        if not device.startswith("GPU") or quantity not in _OF_GPU:
            return False
        return not any((device, better) in has for better in _OF_GPU[: _OF_GPU.index(quantity)])

    shown = [(one, value) for one, value in known if is_shown(one["device"], one["quantity"])]
    return {
        "series": [{name: one[name] for name in ("device", "quantity", "unit")} for one, _ in shown],
        "values": [value for _, value in shown],
    }
