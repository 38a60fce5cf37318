"""What receipts say of a PyTorch learner's cells on a Mac's GPU, here an emulated one."""

from __future__ import annotations

import pytest

from tests.support import learner_cells

pytestmark = pytest.mark.slow

#: What the device has worked so far, by its own count. Without PyTorch there is no device yet.
GPU_NS = "__import__('emulated_mps').gpu_nanoseconds()"

#: Cells that fail, and what they say.
FAIL = {
    "20": "RuntimeError: Invalid buffer size: ",
    "21": "RuntimeError: mat1 and mat2 shapes cannot be multiplied (3x4 and 3x4)",
    "23": "RuntimeError: Input type (torch.FloatTensor) and weight type (MPSFloatType) should be the same",
    "24": "TypeError: Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support",
    "31": "RuntimeError: Expected a 'mps' device type for generator but found 'cpu'",
}


@pytest.fixture(scope="module")
def told(start_on_mps):
    results = learner_cells.run(start_on_mps(OMP_NUM_THREADS="1"), "torch_on_mps.py", GPU_NS)
    print(learner_cells.table(results))
    return results


def titles(results):
    return [one.cell.title for one in results]


def used_gpu(results):
    return [one for one in results if one.gpu_ns]


def test_cells_fail_as_on_a_mac_and_no_other(told):
    failed = {one.cell.number: one.result.error for one in told if one.result.status == "error"}
    assert failed.keys() == FAIL.keys(), failed
    assert all(failed[number].startswith(said) for number, said in FAIL.items()), failed


def test_most_cells_use_the_gpu_and_some_do_not(told):
    unused = {one.cell.number for one in told if not one.gpu_ns}
    assert unused == {"20", "23", "24", "28", "29", "32"}


def test_gpu_time_is_that_of_the_device_from_the_cell_on_that_follows_the_import(told):
    for one in used_gpu(told[1:]):
        found = [r for r in one.result.receipt["readings"] if r["quantity"] == "device_time" and r["value"]]
        assert [r["device"] for r in found] == ["gpu:0"], one.cell.title
        assert found[0]["value"] <= one.gpu_ns / 1e9 + 1e-6, one.cell.title


def test_no_cell_that_used_the_gpu_says_that_its_device_is_not_known(told):
    assert titles(one for one in used_gpu(told) if one.places is None) == []


def test_each_cell_that_used_the_gpu_names_it(told):
    assert titles(one for one in used_gpu(told) if "gpu:0" not in (one.places or ())) == []
