"""`make lessons` saves outputs, and leaves a file alone where only figures of receipts would change."""

import lessons  # scripts/lessons.py
import nbformat
import pytest
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell, new_notebook

from jupyter_mlgpu.jupyter.cli.strip import strip_file


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_MLGPU_RECEIPTS", "all")
    path = tmp_path / "small.ipynb"
    cells = ["%load_ext jupyter_mlgpu", "import sys; print('out'); print('err', file=sys.stderr)\n6 * 7"]
    nbformat.write(new_notebook(cells=[new_code_cell(code) for code in cells]), path)
    return path


def test_outputs_are_saved_with_receipts_and_without_standard_error(path):
    assert lessons.refresh(path)
    saved = nbformat.read(path, 4).cells[1].outputs
    assert [output.output_type for output in saved] == ["stream", "execute_result", "display_data"]
    assert saved[0].text == "out\n"


@pytest.mark.slow
def test_a_second_run_leaves_the_file_as_it_was_until_its_receipts_are_removed(path):
    lessons.refresh(path)
    first = path.read_bytes()
    assert not lessons.refresh(path)
    assert path.read_bytes() == first
    strip_file(path)
    assert lessons.refresh(path)
    assert path.read_bytes() != first


def test_a_cell_that_gives_something_else_is_saved_again(path):
    lessons.refresh(path)
    changed = nbformat.read(path, 4)
    changed.cells[1].source = "6 * 8"
    nbformat.write(changed, path)
    assert lessons.refresh(path)
    assert nbformat.read(path, 4).cells[1].outputs[0].data["text/plain"] == "48"


def test_a_cell_that_fails_stops_the_run_and_leaves_the_file_as_it_was(path):
    broken = nbformat.read(path, 4)
    broken.cells[1].source = "1 / 0"
    nbformat.write(broken, path)
    before = path.read_bytes()
    with pytest.raises(CellExecutionError, match="ZeroDivisionError"):
        lessons.refresh(path)
    assert path.read_bytes() == before
