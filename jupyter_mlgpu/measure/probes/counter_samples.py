"""What the live counters showed while a cell ran, kept for the page of its record and for its timeline.

The looks of a cell are plain data:

    {"series": [{"device": "GPU 0 (...)", "quantity": "power", "unit": "W", "source": ..., ...}, ...],
     "interval": 0.5, "looks": [[0.2, [312.5, ...]], ...]}

with the times in seconds from the cell's start and a value for each series, None where it had a reason. The
counters remember five minutes, so of a longer cell it is the last five.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

Key = tuple[str, int]
CounterSamples = dict[str, Any]

#: Values of all cells together: 7 hours of looks at the series of a machine with one GPU, some 13 MB.
VALUES = 400_000

#: A curve has two points.
FEWEST = 2


class CounterSampleStore:
    """Looks by the key of their record, those of the newest cells. Safe to call from several threads."""

    def __init__(self, limit: int = VALUES) -> None:
        self._limit = limit
        self._samples: dict[Key, CounterSamples] = {}
        self._let_go: set[Key] = set()
        self._lock = threading.Lock()

    def add(self, key: Key, counters: Mapping[str, Any], begun: float, wall: float) -> None:
        """Keep what falls into a cell that began at `begun` and took `wall`: seconds of the counters' clock.

        `counters` are their series, interval and history of (moment, values). A cell with fewer than two
        looks has none.
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
                self._let_go.add(oldest)
                del self._samples[oldest]

    def get(self, key: Key) -> CounterSamples | None:
        """The looks of a cell; None where nobody watched, or they were let go."""
        with self._lock:
            return self._samples.get(key)

    def let_go(self, key: Key) -> bool:
        """Whether a cell's looks were kept once, and had to make room."""
        with self._lock:
            return key in self._let_go

    def clear(self) -> None:
        """Let all of them go."""
        with self._lock:
            self._let_go.update(self._samples)
            self._samples.clear()


def _values(samples: CounterSamples) -> int:
    return len(samples["samples"]) * len(samples["series"])
