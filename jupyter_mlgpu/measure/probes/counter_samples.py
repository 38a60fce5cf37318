"""The values of the live counters while a cell ran, kept for the page of its record and for its timeline.

The samples of a cell are plain data:

    {"series": [{"device": "GPU 0 (...)", "quantity": "power", "unit": "W", "source": ..., ...}, ...],
     "interval": 0.5, "samples": [[0.2, [312.5, ...]], ...]}

Times are in seconds from the cell's start. There is a value for each series, None if it had a reason instead.
The counters keep five minutes, so the samples of a longer cell are those of its last five minutes.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

Key = tuple[str, int]
CounterSamples = dict[str, Any]

#: Values of all cells together: 7 hours of samples on a machine with one GPU, some 13 MB.
VALUES = 400_000

#: A curve needs two points.
FEWEST = 2


class CounterSampleStore:
    """Samples of the newest cells by the key of their record. Safe to call from several threads."""

    def __init__(self, limit: int = VALUES) -> None:
        self._limit = limit
        self._samples: dict[Key, CounterSamples] = {}
        self._dropped: set[Key] = set()
        self._lock = threading.Lock()

    def add(self, key: Key, counters: Mapping[str, Any], begun: float, wall: float) -> None:
        """Keep the samples of a cell that began at `begun` and took `wall`: seconds of the counters' clock.

        `counters` has the series, the interval and the history of (time, values). A cell with fewer than two
        samples is not kept.
        """
        series = counters["series"]
        samples = [
            [round(at - begun, 3), values]
            for at, values in counters["history"]
            if begun <= at <= begun + wall and len(values) == len(series)
        ]
        if len(samples) < FEWEST:
            return
        with self._lock:
            self._samples[key] = {"series": series, "interval": counters["interval"], "samples": samples}
            while len(self._samples) > 1 and sum(map(_values, self._samples.values())) > self._limit:
                oldest = next(iter(self._samples))
                self._dropped.add(oldest)
                del self._samples[oldest]

    def get(self, key: Key) -> CounterSamples | None:
        """Return the samples of a cell, None if the counters were off or the samples were dropped."""
        with self._lock:
            return self._samples.get(key)

    def was_dropped(self, key: Key) -> bool:
        """Return True if a cell's samples were kept once and dropped later for want of room."""
        with self._lock:
            return key in self._dropped

    def clear(self) -> None:
        """Drop all samples."""
        with self._lock:
            self._dropped.update(self._samples)
            self._samples.clear()


def _values(samples: CounterSamples) -> int:
    return len(samples["samples"]) * len(samples["series"])
