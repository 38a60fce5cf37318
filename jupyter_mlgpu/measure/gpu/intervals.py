"""The union of intervals that come in any order, and its length in each bin, in constant memory."""

from __future__ import annotations

from typing import Any

import numpy as np

#: Intervals are merged when there are so many new ones; so many are kept after that, 16 bytes each.
_MERGE_AT, _KEEP = 200_000, 400_000
#: Number of points kept of how the length grew before those; between them it is taken to have grown evenly.
_POINTS = 16_384


class Intervals:
    """A union of intervals. Times are ticks."""

    def __init__(self) -> None:
        #: Ticks left out of `length`: they came too late to know if they overlap others.
        self.late = 0
        self._merged = np.empty((2, 0), np.int64)
        self._new: list[Any] = []
        self._count_new = 0
        # Times, and the length before each, of the intervals that are merged for good.
        self._closed = np.zeros((2, 0), np.int64)
        self._closed_until = 0

    def add(self, start: Any, end: Any) -> None:
        """Add intervals, given as columns."""
        self._new.append(np.stack([start, end]))
        self._count_new += len(start)
        if self._count_new >= _MERGE_AT:
            self._merge()

    def length(self) -> int:
        """Return the ticks that lie in at least one interval."""
        self._merge()
        return self._closed_length() + int((self._merged[1] - self._merged[0]).sum())

    def in_bins(self, edges: Any) -> Any:
        """Return the ticks of the union between each of these times and the next one."""
        self._merge()
        moments, lengths = np.concatenate([self._closed, self._grown(self._merged)], axis=1)
        if not len(moments):
            return np.zeros(len(edges) - 1)
        return np.diff(np.interp(edges, moments, lengths))

    def _closed_length(self) -> int:
        return int(self._closed[1][-1]) if self._closed.shape[1] else 0

    def _grown(self, parts: Any) -> Any:
        """Return the ends of consecutive intervals, and the total length up to each."""
        ends = np.cumsum(parts[1] - parts[0]) + self._closed_length()
        begins = ends - (parts[1] - parts[0])
        return np.stack([parts.T.ravel(), np.stack([begins, ends], axis=1).ravel()])

    def _merge(self) -> None:
        parts = np.concatenate([self._merged, *self._new], axis=1)
        self._new, self._count_new = [], 0
        before = parts[0] < self._closed_until
        if before.any():  # this time may have been counted, so it is left out
            self.late += int((np.minimum(parts[1], self._closed_until) - parts[0])[before].sum())
            parts[0] = np.maximum(parts[0], self._closed_until)
        parts = parts[:, parts[1] > parts[0]]
        parts = parts[:, np.argsort(parts[0], kind="stable")]
        if parts.shape[1]:
            reach = np.maximum.accumulate(parts[1])
            begins = np.concatenate([[True], parts[0][1:] > reach[:-1]])
            ends = np.concatenate([begins[1:], [True]])
            parts = np.stack([parts[0][begins], reach[ends]])
        if parts.shape[1] > _KEEP:
            done, parts = parts[:, :-_KEEP], parts[:, -_KEEP:]
            closed = np.concatenate([self._closed, self._grown(done)], axis=1)
            step = -(-closed.shape[1] // _POINTS)
            self._closed = np.concatenate([closed[:, :-1:step], closed[:, -1:]], axis=1)
            self._closed_until = int(done[1][-1])
        self._merged = parts
