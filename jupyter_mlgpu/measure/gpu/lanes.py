"""When a GPU worked for a cell, as a lane of the cell's strip."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jupyter_mlgpu.measure.gpu.gpu_totals import GpuTotals
from jupyter_mlgpu.record.strip import BINS, GpuLane

_FULL = 9


def lane(totals: GpuTotals, begun: int, last_end: int, seconds: Callable[[int], float]) -> GpuLane:
    """The lane of a cell that began and ended at these ticks; `seconds` turns ticks into seconds."""
    edges = np.linspace(begun, last_end, BINS + 1)
    every, kernels = totals.all.in_bins(edges), totals.but_copies.in_bins(edges)
    width = (last_end - begun) / BINS
    kernel_ticks = totals.but_copies.length()
    return GpuLane(
        seconds(last_end - begun) / BINS,
        _digits(kernels / width),
        _digits((every - kernels) / width),
        seconds(kernel_ticks),
        seconds(totals.all.length() - kernel_ticks),
    )


def _digits(parts: Any) -> str:
    """A digit for each part from 0 to 1: 0 for next to nothing alone, so that what is short is seen."""
    levels = np.clip(np.ceil(parts * _FULL - 1e-6), 0, _FULL).astype(int)
    return "".join(map(str, levels.tolist()))
