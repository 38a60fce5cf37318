"""Cells of learners of PyTorch and JAX in real kernels: where they ran, by receipts and CUPTI."""

from __future__ import annotations

import pytest

from tests.support import learner_cells
from tests.support.kernels import Notebook
from tests.support.waiting import until

LOAD = "%load_ext jupyter_mlgpu"


@pytest.fixture
def notebook(tmp_path):
    found = Notebook(tmp_path, {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"})
    found.connect()
    found.run(LOAD)
    yield found
    found.close()


#: The place and the launches of each cell by its number, once the GPU's records have come.
FINAL = (
    "{one.cell.execution_count: "
    "(str(_head.where(one)), sum(work.launches for work in one.gpu_work), _head.of(one).line) "
    "for one in jupyter_mlgpu.records()}"
)
PREPARE = "import jupyter_mlgpu; from jupyter_mlgpu.show.receipts import head as _head"
UNFINISHED = "sum(one.unfinished for one in jupyter_mlgpu.records())"


def final(notebook, results):
    """Each cell's title with its place, its launches and its line, as they are in the end; and print them."""
    until(lambda: notebook.evaluate(UNFINISHED, PREPARE) == 0)
    told = notebook.evaluate(FINAL, PREPARE)
    found = {}
    for one in results:
        found[one.cell.title] = told[one.result.execution_count]
        print(f"{one.cell.title:40.40} {one.result.status:6} {found[one.cell.title][2]}")
    return found


@pytest.mark.parametrize(("framework", "name"), [("torch", "torch_on_mps.py"), ("jax", "jax.py")])
def test_each_cell_that_used_the_gpu_names_it(notebook, request, framework, name):
    request.getfixturevalue(framework)
    found = final(notebook, learner_cells.run(notebook, name, on="cuda"))
    used = {title: place for title, (place, launches, _) in found.items() if launches}
    assert used
    assert [title for title, place in used.items() if "gpu:0" not in place] == []


def test_cells_of_the_cpu_on_a_machine_with_a_gpu_name_no_gpu(notebook, torch):
    found = final(notebook, learner_cells.run(notebook, "torch.py"))
    assert {place for place, _, _ in found.values()} <= {
        "used cpu:0",
        "ran on cpu:0",
        "PyTorch: cpu:0 only",
        "",
    }
    assert found["03 CNN trained"][0] in ("used cpu:0", "ran on cpu:0")
