"""Adds up how long each kernel ran in each bin of time. Bins become wider as the cell goes on."""

from __future__ import annotations

from typing import Any

import numpy as np

#: Number of bins, twice that of a lane since these may begin elsewhere, and their initial ticks (ns).
_BINS, _NARROWEST = 512, 1 << 19
#: Number of kernels that are kept: the memory of a cell stays under 2 MiB for each GPU.
_MOST = 256


class KernelBins:
    """The bins of one GPU and one cell. Times are ticks."""

    def __init__(self) -> None:
        self._width = _NARROWEST
        self._begin: int | None = None
        self._bins: dict[int, Any] = {}

    def add(self, names: Any, which: Any, start: Any, end: Any) -> None:
        """Add kernels: the addresses of names, and for each kernel its index in `names`, start and end."""
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
        """Return the kernel that ran most between each of these times and the next one, or None."""
        names = list(self._bins)
        if self._begin is None or not names:
            return [None] * (len(edges) - 1)
        own = self._begin + self._width * np.arange(_BINS + 1)
        grown = np.concatenate([np.zeros((len(names), 1)), np.cumsum([*self._bins.values()], axis=1)], axis=1)
        between = np.diff([np.interp(edges, own, growth) for growth in grown], axis=1)
        most = between.argmax(axis=0)
        return [
            names[place] if ticks > 0 else None
            for place, ticks in zip(most.tolist(), between.max(axis=0).tolist(), strict=True)
        ]

    def _sums(self, count: int, which: Any, begins: Any, ends: Any) -> Any:
        """Return the ticks of each of `count` kernels in each bin. A long kernel lies in several bins."""
        first, last = begins // self._width, ends // self._width

        def sum_in(bins: Any, weights: Any) -> Any:
            sums = np.bincount(which * (_BINS + 1) + bins, weights, count * (_BINS + 1))
            return sums.reshape(count, _BINS + 1)

        # A kernel fills the bins between its first and its last one, and parts of these two.
        filled = np.cumsum(sum_in(first, np.full(len(first), self._width)), axis=1)
        filled -= np.cumsum(sum_in(last, np.full(len(last), self._width)), axis=1)
        parts = sum_in(last, ends - last * self._width) - sum_in(first, begins - first * self._width)
        return (filled + parts)[:, :_BINS]

    def _widen(self) -> None:
        self._width *= 2
        for name, ticks in self._bins.items():
            self._bins[name] = np.concatenate([ticks[::2] + ticks[1::2], np.zeros(_BINS // 2)])
