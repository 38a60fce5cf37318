"""Receipts of PyTorch's cells that run on a Mac's GPU, here an emulated one."""

from __future__ import annotations

import pytest

IMPORT = """
import torch
a = torch.ones(300, 300, device='mps')
"""

#: Each kernel takes 20 ms of the device's queue, far behind the host.
SLOW = {"MPS_EMULATOR_KERNEL_US": "20000"}

TRAIN = """
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1)).to('mps')
opt = torch.optim.Adam(net.parameters(), lr=0.01)
x = torch.rand(256, 8, device='mps')
losses = []
for _ in range(30):
    loss = ((net(x) - x.sum(1, keepdim=True)) ** 2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    losses.append(loss.detach())
"""


@pytest.fixture(scope="module")
def mps(start_on_mps):
    notebook = start_on_mps()
    assert notebook.run(IMPORT).status == "ok"
    return notebook


@pytest.fixture(scope="module")
def slow(start_on_mps):
    notebook = start_on_mps(**SLOW)
    assert notebook.run(IMPORT).status == "ok"
    return notebook


def gpu_time(result):
    return next(r for r in result.receipt["readings"] if r["quantity"] == "device_time")


def places(result):
    return {one["device"]: one["kind"] for one in result.receipt["device"]["ran_on"] or ()}


def test_the_gpu_is_listed_as_metal_and_as_emulated(mps):
    listed = str(mps.run("%mlc_device list").outputs)
    assert "gpu:0   metal" in listed
    assert "run on an emulated device" in listed


def test_a_model_trains_there_and_its_receipt_names_the_gpu(mps):
    told = mps.run(TRAIN)
    assert told.status == "ok", told.error
    assert places(told) == {"gpu:0": "metal"}
    first, last = mps.evaluate("[losses[0].item(), losses[-1].item()]")
    assert last < first


def test_gpu_time_comes_from_macos_count(mps):
    told = gpu_time(mps.run("for _ in range(20): b = a @ a"))
    assert told["device"] == "gpu:0"
    assert told["value"] > 0
    assert "IORegistry" in told["detail"]


def test_a_cell_that_uses_nothing_names_no_gpu(mps):
    told = mps.run("q = 1")
    assert places(told) == {}
    assert gpu_time(told)["value"] is None


def test_wall_time_and_gpu_time_cover_the_queue_of_the_device(slow):
    told = slow.run("b = a\nfor _ in range(10):\n    b = b @ a")
    assert told.value("wall_time") >= 0.2
    assert gpu_time(told)["value"] >= 0.2


def test_what_the_device_holds_is_told(mps):
    told = mps.run("%mlc_device status").text
    usable, held = sorted(line for line in told.splitlines() if line.startswith("PyTorch gpu:0"))
    assert "KiB" in held
    assert "allocator" in held
    assert "macOS recommends" in usable


def test_the_device_is_switched_without_a_restart(mps):
    try:
        assert mps.run("%mlc_device gpu").status == "ok"
        mps.run("c = torch.ones(3)")
        assert mps.evaluate("str(c.device)") == "mps:0"
        assert mps.run("%mlc_device cpu").status == "ok"
        mps.run("c = torch.ones(3)")
        assert mps.evaluate("str(c.device)") == "cpu"
    finally:
        mps.run("%mlc_device auto")


def test_float64_is_explained(mps):
    told = mps.run("d = torch.zeros(3, dtype=torch.float64).to('mps')")
    assert told.status == "error"
    assert any("float()" in (one["advice"] or "") for one in told.receipt["logs"])


def test_item_in_a_loop_is_limited_by_the_gpu(slow):
    told = slow.run("total = 0.0\nfor i in range(20):\n    total += a[0, i].item()")
    assert told.value("wall_time") >= 0.4
    assert told.receipt["limit"]["kind"] == "device"
