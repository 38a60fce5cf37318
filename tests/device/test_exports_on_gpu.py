"""Exports and forecasts with a real CUDA GPU and PyTorch. On a machine with one:

    python -m pytest -c tests/device/pytest.ini --rootdir=. tests/device/test_exports_on_gpu.py -s

Needs psutil beside PyTorch; where one is missing, the tests are skipped and say so.
"""

from __future__ import annotations

import json

import pytest

from jupyter_mlgpu import fits
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.runtime import current
from jupyter_mlgpu.show.exporting import chrome, timeline
from jupyter_mlgpu.teach.lessons import assert_gpu_used, faster_than

MILLISECOND_NS = 1_000_000
GIB = 1024**3

pytest.importorskip("psutil", reason="psutil is not installed here")


@pytest.fixture(scope="module")
def torch():
    module = pytest.importorskip("torch", reason="PyTorch is not installed here")
    if registry.backend("torch").devices()[-1].kind != "cuda":
        pytest.skip("PyTorch finds no CUDA GPU here")
    module.ones(1, device="cuda")  # makes the context, which takes time and memory of its own
    return module


def measured(name, work, *, ops=False):
    measurement = current().recorder.start(name, ops=ops)
    work()
    record = measurement.stop()
    current().store.add(record)
    return record


def test_kernels_stand_inside_their_cell_on_the_timeline_and_behind_what_launched_them(torch, tmp_path):
    x = torch.ones(2048, 2048, device="cuda")
    torch.sin(x @ x)

    def work():
        for _ in range(20):
            torch.sin(x @ x)

    record = measured("twenty products", work, ops=True)
    path = tmp_path / "trace.json"
    chrome.write(path, timeline.items([record], current().profiles.get), {})
    slices = [one for one in json.loads(path.read_text())["traceEvents"] if one["ph"] == "X"]
    (cell,) = [one for one in slices if one["cat"] == "block"]
    kernels = [one for one in slices if one["cat"] == "torch device"]
    launches = [one for one in slices if one["name"].startswith("cudaLaunchKernel")]
    on_device = [row for row in record.ops if row.plane == "device"]
    assert len(kernels) == sum(row.count for row in on_device) >= 40
    end = cell["ts"] + cell["dur"]
    before = min(one["ts"] for one in kernels) - cell["ts"]
    after = end - max(one["ts"] + one["dur"] for one in kernels)
    first = min(one["ts"] for one in kernels) - min((one["ts"] for one in launches), default=cell["ts"])
    print(
        f"first kernel {before:.1f} us after the cell's start, last one ended {after:.1f} us before its end, "
        f"first launch to first kernel {first:.1f} us"
    )
    # The profiler matches the clocks of host and device to some microseconds.
    assert before > -100
    assert after > -100
    assert first > -100


def test_the_allocators_peak_at_a_third_batch_is_within_15_percent_of_the_forecast(torch):
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 32, 3),
        torch.nn.ReLU(),
        torch.nn.Conv2d(32, 32, 3),
        torch.nn.ReLU(),
        torch.nn.AdaptiveAvgPool2d(1),
        torch.nn.Flatten(),
        torch.nn.Linear(32, 10),
    ).cuda()
    optimizer = torch.optim.Adam(model.parameters())

    def train(batch):
        images = torch.randn(batch, 3, 128, 128, device="cuda")
        model(images).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()

    train(8)
    small, large = (measured(f"batch {batch}", lambda batch=batch: train(batch)) for batch in (32, 64))
    told = fits(192, {32: small, 64: large})
    print(told)
    assert told.quantity == "peak_memory_allocator"
    third = measured("batch 192", lambda: train(192)).reading("peak_memory_allocator").value
    print(f"forecast {told.needed / GIB:.3f} GiB, needed {third / GIB:.3f} GiB")
    assert told.needed == pytest.approx(third, rel=0.15)
    assert told.fits in (True, None)  # None without nvidia-ml-py: then the GPU's memory is not known
    assert fits(192, {32: small, 64: large}, limit=2 * told.needed).fits is True
    assert fits(192, {32: small, 64: large}, limit=told.needed).fits is False


def test_a_lab_sees_that_the_gpu_was_used_and_which_work_is_faster(torch):
    x = torch.ones(4096, 4096, device="cuda")
    judged = assert_gpu_used(measured("a product", lambda: x @ x))
    print(judged)
    assert judged.state in ("holds", "cannot judge")
    profiled = assert_gpu_used(measured("a profiled product", lambda: x @ x, ops=True))
    assert profiled.state == "holds"
    small = torch.ones(64, 64, device="cuda")
    quick = [measured("one small product", lambda: small @ small) for _ in range(6)]
    slow = [measured("many products", lambda: [x @ x for _ in range(50)]) for _ in range(6)]
    judged = faster_than(quick, slow, times=2)
    print(judged)
    assert judged.state == "holds"
