"""Live counters for the sidebar, sampled only while a browser reports that they are visible.

The protocol, in addition to that of `channel.py`. On the control channel, so also while a cell runs:

    jupyter_mlgpu_request   {"type": "watch"}
    jupyter_mlgpu_reply     {"status": "ok", "protocol": 1, "run": ..., "watching": true, "seconds": 15,
                             "interval": 0.5, "why_missing": null}

A browser repeats the request within `seconds` for as long as its view is visible; no message reports its end.
`watching` is false, with the reason in `why_missing`, while the counters are paused. They pause after ten
minutes without a cell, because a server that stops idle kernels takes each broadcast for activity. They
resume when a cell begins.

While they are sampled, a delta contains one event every `interval` seconds:

    {"type": "counters", "time": "2026-11-21T15:00:00.000000Z", "t": 812.43, "values": [0.31, ...],
     "strip": {"sequence": 3, "seconds": 12.3, "host": {...}, "gpus": [{"device": "gpu:0", "lane": {...}}]},
     "series": [{"device": "GPU 0 (NVIDIA H200)", "quantity": "power", "unit": "W", "source": ...,
                 "limit": null, "why_missing": null}, ...]}

`t` is in seconds on the kernel's own monotonic clock; only differences are meaningful. `values` are in the
order of `series`, null where a series has a reason in `why_missing`. `series` is in an event only if it
differs from the one sent before. `strip` is the running cell's work so far (`StripSoFar`), null if no cell
runs or it is too short. A snapshot holds under "counters" the state for a view after a reload, or null:

    {"series": [...], "interval": 0.5, "watching": true, "t": 812.6, "history": [[812.43, [0.31, ...]], ...]}

with the samples of the last five minutes, oldest first, and `t` the time of the snapshot on the same clock.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from jupyter_mlgpu.measure.probes.sampler import Stop
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.decoding import to_json
from jupyter_mlgpu.record.sentence import say

if TYPE_CHECKING:
    from jupyter_mlgpu.jupyter.notebook.browser.messages import (
        CountersEventData,
        CountersHistoryData,
        WatchData,
    )
    from jupyter_mlgpu.measure.probes.gpus import Gpus
    from jupyter_mlgpu.measure.probes.lazy import Lazy
    from jupyter_mlgpu.measure.probes.live import CounterReader, CounterSeries
    from jupyter_mlgpu.record.strip import StripSoFar

INTERVAL = 0.5
#: Seconds for which a browser's request holds.
HOLDS = 15.0
#: Seconds without a cell after which the counters pause.
REST_AFTER = 600.0
#: Seconds of history.
HISTORY = 300.0

RESTING = say(
    "No cell has run for {minutes} minutes, so the counters are paused; otherwise a server "
    "that stops idle kernels would consider this kernel busy. They resume with the next cell.",
    minutes=f"{REST_AFTER / 60:.0f}",
)

Event = Mapping[str, Any]


class _Counters(Protocol):
    def sample(self) -> tuple[list[CounterSeries], list[float | None]]: ...


class _Thread(Protocol):
    def add(self, sample: Callable[[], None], every: float) -> Stop: ...


class LazyCounterReader:
    """The live counters; their module is imported when a browser first requests them."""

    def __init__(self, gpus: Lazy[Gpus]) -> None:
        self._gpus = gpus

    @cached_property
    def _live(self) -> CounterReader:
        from jupyter_mlgpu.measure.probes.live import CounterReader

        return CounterReader(self._gpus)

    def sample(self) -> tuple[list[CounterSeries], list[float | None]]:
        """Return the available series and their current values."""
        return self._live.sample()


@dataclass(eq=False, repr=False)
class LiveCounters:
    """Samples counters on the sampler's thread while a browser shows them.

    Browsers' requests come on the control thread, cell events on the main thread.
    """

    sampler: _Thread
    live: _Counters
    push: Callable[[Event], None]
    _: KW_ONLY
    utc: Callable[[], str]
    strip: Callable[[], StripSoFar | None] = lambda: None
    now: Callable[[], float] = real_time.monotonic

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._until = float("-inf")
        self._last_cell = self.now()
        self._running = False
        self._end: Stop | None = None
        self._last_series: list[CounterSeries] | None = None
        self._series: list[CounterSeries] | None = None
        self._history: deque[tuple[float, list[float | None]]] = deque(maxlen=round(HISTORY / INTERVAL))

    def renew(self) -> WatchData:
        """Keep sampling for the next `HOLDS` seconds; return the answer to the browser's request."""
        with self._lock:
            self._until = self.now() + HOLDS
            self._begin()
            watching = self._end is not None
        return {
            "watching": watching,
            "seconds": HOLDS,
            "interval": INTERVAL,
            "why_missing": None if watching else RESTING,
        }

    def cell_begins(self, info: object = None) -> None:
        """Resume paused counters if a browser shows them; `info` is IPython's."""
        with self._lock:
            self._running = True
            self._last_cell = self.now()
            self._begin()

    def cell_ended(self, result: object = None) -> None:
        """Start the time without a cell; `result` is IPython's."""
        with self._lock:
            self._running = False
            self._last_cell = self.now()

    def state(self) -> CountersHistoryData | None:
        """Return the counters' part of a snapshot, or None before the first sample."""
        with self._lock:
            if self._series is None:
                return None
            now = self.now()
            history: Any = [[at, values] for at, values in self._history if at >= now - HISTORY]
            return {
                "series": _series_data(self._series),
                "interval": INTERVAL,
                "watching": self._end is not None,
                "t": now,
                "history": history,
            }

    def stop(self) -> None:
        """Stop sampling."""
        with self._lock:
            self._until = float("-inf")
            self._finish()

    def _begin(self) -> None:
        if self._end is None and self.now() < self._until and not self._paused():
            self._last_series = None  # a browser that comes now has no series yet
            self._end = self.sampler.add(self._sample, INTERVAL)

    def _finish(self) -> None:
        if self._end is not None:
            self._end()
            self._end = None

    def _paused(self) -> bool:
        return not self._running and self.now() - self._last_cell > REST_AFTER

    def _sample(self) -> None:
        """Take a sample on the sampler's thread; a failure ends sampling until the next request."""
        try:
            self._sample_once()
        except Exception:
            with self._lock:
                self._end = None
            raise

    def _sample_once(self) -> None:
        with self._lock:
            if self.now() >= self._until or self._paused():
                self._finish()
                return
            # The sampler takes a late sample and the next one at once; a rate between the two would be noise.
            if self._history and self.now() - self._history[-1][0] < INTERVAL / 2:
                return
        strip = self.strip()
        series, exact = self.live.sample()
        values = [_rounded(one, value) for one, value in zip(series, exact, strict=True)]
        with self._lock:
            if self._end is None:
                return
            at = round(self.now(), 3)
            self._series = series
            self._history.append((at, values))
            strip_data: Any = None if strip is None else to_json(strip)
            event: CountersEventData = {
                "type": "counters",
                "time": self.utc(),
                "t": at,
                "values": values,
                "strip": strip_data,
            }
            if series != self._last_series:
                event["series"] = _series_data(series)
                self._last_series = series
        self.push(event)


def _series_data(series: list[CounterSeries]) -> Any:
    return [asdict(one) for one in series]


def _rounded(series: CounterSeries, value: float | None) -> float | None:
    """Return the value with no more digits than its series has; a history holds many values."""
    if value is None:
        return None
    return round(value) if series.unit == "bytes" else round(value, 3)
