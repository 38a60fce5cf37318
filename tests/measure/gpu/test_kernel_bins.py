"""Which kernel ran most between two moments."""

import numpy as np
import pytest

from jupyter_mlgpu.measure.gpu import kernel_bins
from jupyter_mlgpu.measure.gpu.kernel_bins import KernelBins

pytestmark = pytest.mark.needs("numpy")
MS = 1_000_000


def of(*kernels):
    """Kernels as name, begin and end in milliseconds."""
    found = KernelBins()
    for name, begin, end in kernels:
        found.add(np.array([name]), np.array([0]), np.array([begin * MS]), np.array([end * MS]))
    return found


def between(bins, *edges):
    return bins.most_between(np.array(edges) * MS)


def test_the_kernel_that_ran_longest_between_two_moments_is_named():
    bins = of((7, 100, 110), (8, 110, 113), (7, 120, 130), (8, 130, 170))
    assert between(bins, 100, 115, 130, 150, 170) == [7, 7, 8, 8]


def test_a_long_kernel_runs_in_every_bin_from_its_begin_to_its_end():
    assert between(of((7, 0, 200)), 0, 10, 100, 190, 199, 210, 220) == [7, 7, 7, 7, 7, None]


def test_where_nothing_ran_there_is_none():
    assert between(of((7, 0, 9), (8, 51, 60)), 0, 10, 20, 50, 60) == [7, None, None, 8]
    assert between(KernelBins(), 0, 10) == [None]


def test_a_cell_of_an_hour_keeps_what_ran_when_in_as_many_bins():
    hour = 3_600_000
    bins = of(*((7 if at < hour // 2 else 8, at, at + 500) for at in range(0, hour, 1_000)))
    assert between(bins, *range(0, hour + 1, hour // 8)) == [7] * 4 + [8] * 4


def test_several_kernels_of_a_buffer_are_told_apart():
    bins = KernelBins()
    begins = np.array([0, 10, 20, 30]) * MS
    bins.add(np.array([7, 9]), np.array([0, 1, 0, 1]), begins, begins + 8 * MS)
    assert between(bins, 0, 10, 20, 30, 40) == [7, 9, 7, 9]


def test_more_kernels_than_are_kept_take_no_more_memory(monkeypatch):
    monkeypatch.setattr(kernel_bins, "_MOST", 2)
    bins = of((7, 0, 9), (8, 11, 19), (9, 21, 30))
    assert between(bins, 0, 10, 20, 30) == [7, 8, None]


def test_a_kernel_that_came_late_and_ended_before_the_first_one_began_is_left_out():
    assert between(of((7, 100, 110), (8, 90, 95)), 80, 95, 100, 110) == [None, None, 7]
