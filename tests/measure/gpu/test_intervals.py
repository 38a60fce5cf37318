"""The union of intervals, and how much of it lies in each bin."""

import numpy as np
import pytest

from jupyter_mlgpu.measure.gpu import intervals as intervals_module
from jupyter_mlgpu.measure.gpu.gpu_totals import GpuTotals
from jupyter_mlgpu.measure.gpu.intervals import Intervals
from jupyter_mlgpu.measure.gpu.lanes import lane

pytestmark = pytest.mark.needs("numpy")


def of(*pairs):
    found = Intervals()
    for start, end in pairs:
        found.add(np.array([start]), np.array([end]))
    return found


def test_each_bin_has_what_lies_in_it():
    found = of((5, 15), (12, 20), (30, 31))
    assert found.in_bins(np.array([0, 10, 20, 30, 40])).tolist() == [5, 10, 0, 1]
    assert found.length() == 16


def test_no_intervals_lie_in_no_bin():
    assert of().in_bins(np.array([0, 10, 20])).tolist() == [0, 0]


def test_bins_over_what_was_merged_for_good_add_up(monkeypatch):
    monkeypatch.setattr(intervals_module, "_MERGE_AT", 100)
    monkeypatch.setattr(intervals_module, "_KEEP", 200)
    monkeypatch.setattr(intervals_module, "_POINTS", 64)
    found = Intervals()
    for block in range(100):
        start = np.arange(block * 1_000, (block + 1) * 1_000, 10)
        found.add(start, start + 4)
    bins = found.in_bins(np.linspace(0, 100_000, 11))
    assert bins.sum() == found.length() == 40_000
    assert bins == pytest.approx(np.full(10, 4_000), rel=0.05)
    assert found._closed.shape[1] <= 66


def test_a_lane_shows_what_is_short_and_its_sums_are_exact():
    totals = GpuTotals()
    totals.all.add(np.array([0, 500]), np.array([1, 620]))
    totals.but_copies.add(np.array([0]), np.array([1]))
    found = lane(totals, 0, 1_000, lambda ticks: ticks / 1e9)
    assert found.kernels[0] == "3"
    assert found.kernels.count("0") == 239
    assert found.copies[120:148] == "9" * 28
    assert (found.kernel_seconds, found.copy_seconds) == (1e-9, 120e-9)
