"""Native lines are captured under the programs that run notebooks, and disturb none of them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.later import Later
from tests.support.reading import receipt_as_read

pytestmark = pytest.mark.kernel

nbformat = Later("nbformat")
nbclient = Later("nbclient")

ROOT = Path(__file__).parents[2]
MIME_TYPE = "application/vnd.jupyter-mlgpu.record+json"
CELLS = [
    "%load_ext jupyter_mlgpu",
    'import os\nprint("a print")\n_ = os.write(2, b"native line\\n")',
    "1 + 1",
]


@pytest.fixture
def notebook():
    cells = [nbformat.v4.new_code_cell(code) for code in CELLS]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return nbformat.v4.new_notebook(cells=cells, metadata=metadata)


def logs(cell):
    (record,) = [
        receipt_as_read(output.data[MIME_TYPE])
        for output in cell.outputs
        if MIME_TYPE in output.get("data", {})
    ]
    return [line["text"] for line in record["logs"]]


def test_nbclient_which_papermill_uses_gets_each_line_in_its_cell(notebook, tmp_path, monkeypatch):
    monkeypatch.delenv("PYTEST_CURRENT_TEST")  # ipykernel turns its own capture off under pytest
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("JUPYTER_MLGPU_RECEIPTS", "all")
    nbclient.NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert logs(notebook.cells[1]) == ["native line"]
    assert logs(notebook.cells[2]) == []
    shown = {
        output.name: output.text for output in notebook.cells[1].outputs if output.output_type == "stream"
    }
    assert shown == {"stdout": "a print\n", "stderr": "native line\n"}


@pytest.mark.slow
def test_nbval_compares_the_cells_output_as_if_nothing_were_captured(notebook, tmp_path):
    saved = notebook.cells[1]
    saved.outputs = [nbformat.v4.new_output("stream", name="stdout", text="a print\n")]
    notebook.cells[2].outputs = [
        nbformat.v4.new_output("execute_result", data={"text/plain": "2"}, execution_count=1)
    ]
    for cell in notebook.cells:
        cell.execution_count = 1
    # Receipts are left out of the comparison as they are for the lessons.
    shutil.copy(ROOT / "notebooks" / "conftest.py", tmp_path)
    nbformat.write(notebook, tmp_path / "lines.ipynb")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--nbval", "--nbval-current-env", "-q", "lines.ipynb"],
        cwd=tmp_path,
        env={**os.environ, "IPYTHONDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout
