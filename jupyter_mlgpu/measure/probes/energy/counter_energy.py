"""Energy between two moments, from a counter that is sampled and moves in steps.

A counter that is refreshed every R seconds shows a value of some moment in the last R seconds. So each value
is taken as that of R/2 ago, and the missing or surplus stretch at both ends is filled with the power around
it. The uncertainty comes from the unknown age (R/2 either way) and the stretches without samples:

    energy = last - first + P_end * (ended - (t_last - R/2)) + P_begin * ((t_first - R/2) - begun)
    uncertainty = P * (R/2 + t_first - begun) + P * (R/2 + ended - t_last)

P_begin and P_end in watts are from the counter itself over about `SPAN` seconds, or, before the cell, from a
gauge if there is one. P is the largest known power at that end, or the cell's mean power if that is larger.
Both terms vanish against a cell that is long compared with R. The error of the sensor is not included.
"""

from __future__ import annotations

import threading
from collections import deque

from msgspec import Struct

from jupyter_mlgpu.record.sentence import Sentence, say

#: Seconds over which the power at either end is computed: several refreshes of the slowest counter.
SPAN = 0.5
#: The largest uncertainty that is shown, as a part of the energy.
BOUND = 0.10
#: No CPU package or GPU draws more, in watts: a counter that moves faster was set, not counted.
MOST_WATTS = 5_000.0

BACKWARDS = say("The energy counter went backwards while the cell ran, as when its driver restarts.")
JUMPED = say("While the cell ran, the energy counter jumped by more than any chip can draw.")


class Energy(Struct, frozen=True):
    """Joules with the half width of their interval, and the number of samples behind them."""

    joules: float
    uncertainty: float
    samples: int


class _Sample(Struct, frozen=True):
    at: float
    joules: float


class CounterEnergy:
    """The energy of one cell from one counter. `add` may be called from another thread than the rest.

    `refresh` is the time between two steps of the counter, in seconds. `wraps_at` is the value in joules at
    which it restarts from 0, None if it does not. Memory use does not grow with the cell.
    """

    def __init__(self, refresh: float, wraps_at: float | None = None) -> None:
        self._refresh = refresh
        self._wraps_at = wraps_at
        self._lock = threading.Lock()
        self._closed = False
        self._wrapped = 0.0
        self._head: list[_Sample] = []
        self._tail: deque[_Sample] = deque()
        self._moved_at = 0.0
        self._samples = 0
        self._broken: Sentence | None = None
        #: Watts before the cell, if a gauge reports them.
        self.before: float | None = None

    def add(self, at: float, joules: float, *, last: bool = False) -> None:
        """Add a sample: the counter showed `joules` at the time `at` (s). `last` ends the sampling."""
        with self._lock:
            if self._closed or self._broken is not None:
                return
            self._closed = last
            joules += self._wrapped
            if self._tail and joules < self._tail[-1].joules:
                if self._wraps_at is None:
                    self._broken = BACKWARDS
                    return
                self._wrapped += self._wraps_at
                joules += self._wraps_at
            sample = _Sample(at, joules)
            if self._tail and self._too_fast(self._tail[-1], sample):
                self._broken = JUMPED
                return
            self._take(sample)

    def fail(self, why: Sentence) -> None:
        """Note that the counter can no longer be read."""
        with self._lock:
            if not self._closed:
                self._broken = self._broken or why

    def between(self, begun: float, ended: float) -> Energy | Sentence:
        """Return the energy between two moments, or a sentence why it is unknown."""
        with self._lock:
            self._closed = True
            if self._broken is not None:
                return self._broken
            if self._samples < 2 or self._tail[-1].at <= self._head[0].at:
                return self._too_short()
            return self._between(begun, ended)

    def _between(self, begun: float, ended: float) -> Energy | Sentence:
        first, last, half = self._head[0], self._tail[-1], self._refresh / 2
        mean = _watts(first, last)
        first_watts, last_watts = _watts(first, self._head[-1]), _watts(self._tail[0], last)
        # The first value is from before the cell, unless it was read late.
        before = self.before if self.before is not None and first.at - half < begun else first_watts
        joules = (
            last.joules
            - first.joules
            + last_watts * (ended - (last.at - half))
            + before * (first.at - half - begun)
        )
        uncertainty = (
            max(before, first_watts, mean) * half
            + max(first_watts, mean) * max(0.0, first.at - begun)
            + max(last_watts, mean) * (half + max(0.0, ended - last.at))
        )
        if joules <= 0 or (ended - begun < self._refresh / BOUND and uncertainty > BOUND * joules):
            return self._too_short()
        if uncertainty > BOUND * joules:  # for example, much more power was drawn just before
            return say(
                "Too uncertain to show (± {share}): a longer cell is more certain.",
                share=f"{uncertainty / joules:.0%}",
            )
        return Energy(joules, uncertainty, self._samples)

    def _too_fast(self, before: _Sample, now: _Sample) -> bool:
        return now.joules - before.joules > MOST_WATTS * (now.at - before.at + self._refresh)

    def _take(self, sample: _Sample) -> None:
        self._samples += 1
        if not self._tail or sample.joules != self._tail[-1].joules:
            self._moved_at = sample.at
        else:  # it did not move for longer than `refresh`: then that is the time between its steps
            self._refresh = max(self._refresh, sample.at - self._moved_at)
        if not self._head or self._head[-1].at - self._head[0].at < SPAN:
            self._head.append(sample)
        self._tail.append(sample)
        while len(self._tail) > 2 and self._tail[1].at <= sample.at - SPAN:
            self._tail.popleft()

    def _too_short(self) -> Sentence:
        # This is in the receipts of most cells on a GPU, so it is short.
        return say(
            "Too short to measure: a cell should take at least {time} s.", time=f"{self._refresh / BOUND:.2g}"
        )


def _watts(first: _Sample, last: _Sample) -> float:
    return (last.joules - first.joules) / (last.at - first.at) if last.at > first.at else 0.0
