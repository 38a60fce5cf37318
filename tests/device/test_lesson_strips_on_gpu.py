"""The cells that lessons replay, as they ran on a real CUDA GPU; JUPYTER_MLGPU_RECORD_LESSONS saves them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.kernels import Notebook
from tests.support.waiting import until

CELLS = sorted((Path(__file__).parent / "lesson_strips").glob("*.py"))
LOAD = "%load_ext jupyter_mlgpu"
PREPARE = "import jupyter_mlgpu; from jupyter_mlgpu.teach.lessons import replaying"
UNFINISHED = "sum(one.unfinished for one in jupyter_mlgpu.records())"
#: The name of the file whose cells need two GPUs.
OF_TWO = "14_shares"


@pytest.fixture
def notebook(tmp_path):
    found = Notebook(tmp_path, {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"})
    found.connect()
    yield found
    found.close()


@pytest.mark.parametrize("path", CELLS, ids=lambda path: path.stem)
def test_every_replayed_cell_used_the_gpu_and_has_a_strip(notebook, torch, path):
    if path.stem == OF_TWO and torch.cuda.device_count() < 2:
        pytest.skip("needs two GPUs")
    codes = {}
    for code in path.read_text().split("# %%\n"):
        code = code if codes else f"{LOAD}\n{code}"
        made = notebook.run(code)
        assert made.status == "ok", made.error
        codes[made.execution_count] = code
        until(lambda: notebook.evaluate(UNFINISHED, PREPARE) == 0)
    prepare = f"{PREPARE}; _cells = replaying.cells({codes!r})"
    print(notebook.evaluate("str(replaying.Replayed('', _cells))", prepare))
    notebook.evaluate(f"replaying.save({path.stem!r}, _cells)", prepare)
    lanes = notebook.evaluate(
        "[[bool(work.lane) for work in one.record.gpu_work] for one in _cells[1:]]", prepare
    )
    assert all(map(any, lanes)), lanes
