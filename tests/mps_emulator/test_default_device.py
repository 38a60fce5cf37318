"""`%mlc_device mps` gives new tensors to the GPU, and what needs PyTorch's CPU still works."""

from __future__ import annotations

import pytest

DRAWS = """
import torch
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler, random_split
def seeded():
    return torch.Generator().manual_seed(7)
def draws():
    data = TensorDataset(torch.arange(9.0), torch.arange(9))
    return [
        [[one.tolist() for one in batch] for batch in DataLoader(data, 4, shuffle=True, generator=seeded())],
        [one.indices for one in random_split(range(9), [6, 3], generator=seeded())],
        list(WeightedRandomSampler([0.1, 0.9], 5, generator=seeded())),
        torch.randn(3, generator=seeded()).tolist(),
        torch.empty(3).normal_(generator=seeded()).tolist(),
    ]
on_cpu = draws()
"""

FLOATS = """
import numpy as np
doubles = [torch.zeros(2, dtype=torch.float64), torch.tensor(np.ones(2))]
singles = [torch.zeros(2), torch.tensor(np.ones(2), dtype=torch.float32)]
"""


@pytest.fixture(scope="module")
def on_mps(start_on_mps):
    notebook = start_on_mps()
    assert notebook.run(DRAWS).status == "ok"
    chosen = notebook.run("%mlc_device mps")
    assert "Cells run on gpu:0 (PyTorch) from now on." in chosen.text
    assert "`device='cpu'`" in chosen.text
    return notebook


def test_new_tensors_are_on_the_gpu_and_the_record_has_its_short_name(on_mps):
    made = on_mps.run("x = torch.ones(3)")
    assert made.receipt["device"]["requested"] == {"*": "gpu:0"}
    assert on_mps.evaluate("x.device.type") == "mps"
    assert on_mps.evaluate("torch.get_default_device().type") == "cpu"  # between cells, nothing is set


def test_loaders_samplers_and_generators_draw_what_they_draw_on_the_cpu(on_mps):
    assert on_mps.run("on_gpu = draws()").error is None
    assert on_mps.evaluate("on_gpu == on_cpu") is True


def test_64_bit_floats_stay_on_the_cpu(on_mps):
    assert on_mps.run(FLOATS).error is None
    assert on_mps.evaluate("{one.device.type for one in doubles}") == {"cpu"}
    assert on_mps.evaluate("{one.device.type for one in singles}") == {"mps"}


def test_a_function_is_compiled_once_and_runs_there(on_mps):
    cell = "f = torch.compile(lambda x: x * 2 + torch.ones(3), backend='eager', fullgraph=True)\ny = f(f(x))"
    assert on_mps.run(cell).error is None
    assert on_mps.evaluate("y.device.type") == "mps"


def test_a_gpu_of_another_kind_is_refused_with_the_word_that_works(on_mps):
    refused = on_mps.run("%mlc_device cuda")
    assert "This machine's GPU is Metal's: use `gpu`. Nothing was changed." in refused.text + str(
        refused.error
    )
    assert "Requested device: gpu:0." in on_mps.run("%mlc_device").text


def test_the_word_holds_for_one_cell_too(on_mps):
    on_mps.run("%mlc_device cpu")
    alone = on_mps.run("%%mlc_device MPS:0\ny = torch.ones(3)")
    assert "This cell runs on gpu:0 (PyTorch)." in alone.text
    assert on_mps.evaluate("y.device.type") == "mps"
    on_mps.run("z = torch.ones(3)")
    assert on_mps.evaluate("z.device.type") == "cpu"


def test_what_stays_on_the_cpu_is_told_with_a_line_that_works(on_mps):
    on_mps.run("d = torch.zeros(2, dtype=torch.float64)")
    told = on_mps.run("%%mlc_device mps\ns = d.sum()").receipt["notes"]
    (line,) = [note.split("`")[3] for note in told if "`d`" in note]
    assert on_mps.run(line).error is None
    assert on_mps.evaluate("str(d.device.type), str(d.dtype)") == ("mps", "torch.float32")


def test_a_default_device_of_the_users_own_has_its_error_explained(on_mps):
    on_mps.run("%mlc_device auto")
    failed = on_mps.run("torch.set_default_device('mps')\nlist(DataLoader(range(4), shuffle=True))")
    (line,) = failed.receipt["logs"]
    assert line["id"] == "torch-generator-device"
    assert "generator=torch.Generator(device='mps')" in line["advice"]
    on_mps.run("torch.set_default_device(None)")
