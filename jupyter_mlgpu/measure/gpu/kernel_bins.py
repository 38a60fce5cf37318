"""Adds up how long each kernel ran in each bin of time; bins become wider as the cell goes on."""

from __future__ import annotations

from typing import Any

import numpy as np

#: Bins, twice as many as a lane has, since these may begin elsewhere; ticks (ns) of a bin at first.
_BINS, _NARROWEST = 512, 1 << 19
#: Kernels that are kept: the memory of a cell stays under 2 MiB a GPU.
_MOST = 256


class KernelBins:
    """Of one GPU and one cell; times are ticks."""

    def __init__(self) -> None:
        self._width = _NARROWEST
        self._begin: int | None = None
        self._bins: dict[int, Any] = {}

    def add(self, names: Any, which: Any, start: Any, end: Any) -> None:
        """Add kernels: their names' addresses, and for each its place in `names`, its start and its end."""
        if self._begin is None:
            self._begin = int(start.min())
        begins, ends = np.maximum(start - self._begin, 0), np.maximum(end - self._begin, 0)
        while int(ends.max()) >= self._width * _BINS:
            self._widen()
        for name, of_name in zip(names.tolist(), self._sums(len(names), which, begins, ends), strict=True):
            if name in self._bins:
                self._bins[name] += of_name
            elif len(self._bins) < _MOST:
                self._bins[name] = of_name.copy()

    def most_between(self, edges: Any) -> list[int | None]:
        """Return the kernel that ran most between each of these moments and the next one, or None."""
        names = list(self._bins)
        if self._begin is None or not names:
            return [None] * (len(edges) - 1)
        own = self._begin + self._width * np.arange(_BINS + 1)
        grown = np.concatenate([np.zeros((len(names), 1)), np.cumsum([*self._bins.values()], axis=1)], axis=1)
        between = np.diff([np.interp(edges, own, one) for one in grown], axis=1)
        most = between.argmax(axis=0)
        return [
            names[one] if ticks > 0 else None
            for one, ticks in zip(most.tolist(), between.max(axis=0).tolist(), strict=True)
        ]

    def _sums(self, count: int, which: Any, begins: Any, ends: Any) -> Any:
        """Ticks of so many kernels in each bin; a long one lies in several."""
        first, last = begins // self._width, ends // self._width

        def summed(bins: Any, weights: Any) -> Any:
            found = np.bincount(which * (_BINS + 1) + bins, weights, count * (_BINS + 1))
            return found.reshape(count, _BINS + 1)

        # A kernel fills the bins between its first and its last one; these two it may fill in part.
        filled = np.cumsum(summed(first, np.full(len(first), self._width)), axis=1)
        filled -= np.cumsum(summed(last, np.full(len(last), self._width)), axis=1)
        parts = summed(last, ends - last * self._width) - summed(first, begins - first * self._width)
        return (filled + parts)[:, :_BINS]

    def _widen(self) -> None:
        self._width *= 2
        for name, one in self._bins.items():
            self._bins[name] = np.concatenate([one[::2] + one[1::2], np.zeros(_BINS // 2)])
