"""The kernel under the pointer of a strip, on a real CUDA GPU."""

from __future__ import annotations

import pytest

from jupyter_mlgpu.record.strip import BINS


def test_each_part_of_a_strip_names_the_kernel_that_ran_there(torch, runtime):
    big = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
    big @ big
    torch.cuda.synchronize()
    measured = runtime.recorder.start("products, then additions")
    for _ in range(150):
        big @ big
    torch.cuda.synchronize()
    for _ in range(1_500):
        big.add_(1)
    torch.cuda.synchronize()
    (work,) = measured.stop().gpu_work
    products = next(place for place, one in enumerate(work.kernels) if one.count == 150)
    additions = next(place for place, one in enumerate(work.kernels) if one.count == 1_500)
    longest = work.lane.longest
    assert len(longest) == BINS
    both = longest.replace(" ", "")
    assert set(both) == {str(products), str(additions)}
    middle = both.index(str(additions))
    assert both == str(products) * middle + str(additions) * (len(both) - middle)
    part = middle * work.lane.seconds
    assert part == pytest.approx(work.kernels[products].seconds, rel=0.05)
