"""Makes the lane of a GPU in a cell's strip from the GPU's totals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from typing import Any

import numpy as np
from msgspec.structs import replace

from jupyter_mlgpu.measure.gpu.gpu_totals import GpuTotals
from jupyter_mlgpu.measure.gpu.kernel_bins import KernelBins
from jupyter_mlgpu.record.strip import BINS, PLACES, GpuLane

_FULL = 9


def lane(
    totals: GpuTotals,
    begun: int,
    last_end: int,
    seconds: Callable[[int], float],
    listed: Sequence[int] = (),
) -> GpuLane:
    """Return the lane of a cell that began and ended at these ticks; `seconds` converts ticks.

    `listed` are the kernels, by the address of their name, to which the lane's `longest` refers.
    """
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
        _longest(totals.kernel_bins, edges, listed),
    )


def known_part(lane: GpuLane, part: float) -> GpuLane:
    """Return this part of the lane of a running cell: what the GPU did later is not known yet."""
    known = ceil(part * len(lane.kernels) - 1e-6)
    return replace(lane, kernels=lane.kernels[:known], copies=lane.copies[:known])


def _longest(bins: KernelBins, edges: Any, listed: Sequence[int]) -> str:
    """Return for each bin the place in the list of the kernel that ran most in it."""
    names = bins.most_between(edges)
    places = dict(zip(listed, PLACES, strict=False))
    found = "".join(places.get(name, " ") if name else " " for name in names)
    return found if found.strip() else ""


def _digits(parts: Any) -> str:
    """Return a digit for each part from 0 to 1. Only parts near zero become 0, so short work is visible."""
    levels = np.clip(np.ceil(parts * _FULL - 1e-6), 0, _FULL).astype(int)
    return "".join(map(str, levels.tolist()))
