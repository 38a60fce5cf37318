"""Live counters for the sidebar: looked at only while a browser says that somebody can see them.

The protocol, beside that of `channel.py`. On the control channel, so also while a cell runs:

    jupyter_mlgpu_request   {"type": "watch"}
    jupyter_mlgpu_reply     {"status": "ok", "protocol": 1, "run": ..., "watching": true, "seconds": 15,
                             "interval": 0.5, "why_missing": null}

A browser asks again before `seconds` are over for as long as its view is visible; nobody needs to say that it
is closed. `watching` is false, with the reason in `why_missing`, where the counters rest: they do so after
ten minutes without a cell, for a server that stops idle kernels takes each broadcast for a sign of life. A
cell that begins wakes them.

Meanwhile every `interval` seconds there is one event among those of a delta:

    {"type": "counters", "time": "2026-11-21T15:00:00.000000Z", "t": 812.43, "values": [0.31, ...],
     "strip": {"sequence": 3, "seconds": 12.3, "host": {...}, "gpus": [{"device": "gpu:0", "lane": {...}}]},
     "series": [{"device": "GPU 0 (NVIDIA H200)", "quantity": "power", "unit": "W", "source": ...,
                 "limit": null, "why_missing": null}, ...]}

`t` is in seconds on the kernel's own monotonic clock; differences alone mean something. `values` are in the
order of `series`, null where a series has a reason in `why_missing`. `series` stands in an event only when it
differs from the one sent before. `strip` is what the running cell has done so far (`StripSoFar`), null where
none runs or it is too short. A snapshot holds under "counters" what a view needs after a reload, or null:

    {"series": [...], "interval": 0.5, "watching": true, "t": 812.6, "history": [[812.43, [0.31, ...]], ...]}

with the looks of the last five minutes, oldest first, and `t` the moment of the snapshot on the same clock.
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
#: Seconds for which a browser's word holds.
HOLDS = 15.0
#: Seconds without a cell after which the counters rest.
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
    """The live counters, loaded when a browser first watches."""

    def __init__(self, gpus: Lazy[Gpus]) -> None:
        self._gpus = gpus

    @cached_property
    def _live(self) -> CounterReader:
        from jupyter_mlgpu.measure.probes.live import CounterReader

        return CounterReader(self._gpus)

    def sample(self) -> tuple[list[CounterSeries], list[float | None]]:
        """What there is to look at, and what it shows now."""
        return self._live.sample()


@dataclass(eq=False, repr=False)
class LiveCounters:
    """Hears of browsers on the control thread, of cells on the main one, and looks on the sampler's."""

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
        """A browser shows the counters for the next `HOLDS` seconds; the answer to its request."""
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
        """A cell is a sign of life: what rests goes on, if somebody watches; `info` is IPython's."""
        with self._lock:
            self._running = True
            self._last_cell = self.now()
            self._begin()

    def cell_ended(self, result: object = None) -> None:
        """The time without a cell begins; `result` is IPython's."""
        with self._lock:
            self._running = False
            self._last_cell = self.now()

    def state(self) -> CountersHistoryData | None:
        """What a snapshot holds; None before anybody has watched."""
        with self._lock:
            if self._series is None:
                return None
            now = self.now()
            history: Any = [[at, values] for at, values in self._history if at >= now - HISTORY]
            return {
                "series": _plain(self._series),
                "interval": INTERVAL,
                "watching": self._end is not None,
                "t": now,
                "history": history,
            }

    def stop(self) -> None:
        """Look no more."""
        with self._lock:
            self._until = float("-inf")
            self._finish()

    def _begin(self) -> None:
        if self._end is None and self.now() < self._until and not self._resting():
            self._last_series = None  # whoever comes now has heard of no series
            self._end = self.sampler.add(self._sample, INTERVAL)

    def _finish(self) -> None:
        if self._end is not None:
            self._end()
            self._end = None

    def _resting(self) -> bool:
        return not self._running and self.now() - self._last_cell > REST_AFTER

    def _sample(self) -> None:
        """On the sampler's thread. What fails ends the looking until a browser speaks again."""
        try:
            self._sample_once()
        except Exception:
            with self._lock:
                self._end = None
            raise

    def _sample_once(self) -> None:
        with self._lock:
            if self.now() >= self._until or self._resting():
                self._finish()
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
            told: Any = None if strip is None else to_json(strip)
            event: CountersEventData = {
                "type": "counters",
                "time": self.utc(),
                "t": at,
                "values": values,
                "strip": told,
            }
            if series != self._last_series:
                event["series"] = _plain(series)
                self._last_series = series
        self.push(event)


def _plain(series: list[CounterSeries]) -> Any:
    return [asdict(one) for one in series]


def _rounded(series: CounterSeries, value: float | None) -> float | None:
    """No more digits than the gauge is good for: there are many of them in a history."""
    if value is None:
        return None
    return round(value) if series.unit == "bytes" else round(value, 3)
