"""Cells of learners of PyTorch and JAX in real kernels: where they ran, by receipts and CUPTI."""

from __future__ import annotations

import pytest

from tests.support import learner_cells
from tests.support.kernels import Notebook

LOAD = "%load_ext jupyter_mlgpu"


@pytest.fixture
def notebook(tmp_path):
    found = Notebook(tmp_path, {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"})
    found.connect()
    found.run(LOAD)
    yield found
    found.close()


def launches(one):
    return sum(work["launches"] for work in one.result.receipt.get("gpu_work", ()))


def used_gpu(results):
    return [one for one in results if launches(one)]


def places(results):
    return {one.cell.title: one.text.partition("\n")[0] for one in results}


@pytest.mark.parametrize(("framework", "name"), [("torch", "torch_on_mps.py"), ("jax", "jax.py")])
def test_no_cell_that_used_the_gpu_says_that_its_device_is_not_known(notebook, request, framework, name):
    request.getfixturevalue(framework)
    results = learner_cells.run(notebook, name, on="cuda")
    print(learner_cells.table(results))
    used = used_gpu(results)
    assert used
    assert [title for title, told in places(used).items() if "gpu:0" not in told] == []


def test_cells_of_the_cpu_on_a_machine_with_a_gpu_name_the_cpu(notebook, torch):
    results = learner_cells.run(notebook, "torch.py")
    print(learner_cells.table(results))
    assert used_gpu(results) == []
    ran = [one for one in results if one.result.status == "ok" and "not known" in one.text.partition("\n")[0]]
    assert [one.cell.title for one in ran] == []
