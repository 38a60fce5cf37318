"""`make lessons` saves outputs, and leaves a file alone where only figures of receipts would change."""

import copy

import lessons  # scripts/lessons.py
import nbformat
import pytest
from msgspec.structs import replace
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell, new_notebook, new_output

from jupyter_mlgpu.jupyter.cli.strip import strip_file
from jupyter_mlgpu.record.limit import Limit
from jupyter_mlgpu.record.sentence import Sentence
from jupyter_mlgpu.show.receipts.bundle import bundle
from jupyter_mlgpu.testing import example_record


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_MLGPU_RECEIPTS", "all")
    monkeypatch.setattr(lessons, "slowed_cells", lambda notebook: [])  # tests run beside other programs
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


def run_with(*limits):
    """Stands for runs of a notebook with one receipt each, limited by these kinds."""
    kinds = iter(limits)

    def run(source, path):
        notebook = copy.deepcopy(source)
        limit = Limit(next(kinds), "sure", Sentence("It was slow."))
        record = replace(example_record(), limit=limit)
        data = nbformat.from_dict(bundle(record, None))
        notebook.cells[1].outputs = [new_output("display_data", data=data)]
        return notebook

    return run


def test_a_run_that_other_programs_slowed_is_repeated_and_not_saved(tmp_path, monkeypatch):
    path = tmp_path / "small.ipynb"
    source = new_notebook(cells=[new_code_cell("1"), new_code_cell("2")])
    monkeypatch.setattr(lessons, "run", run_with("contention", "python"))
    assert lessons.save_run(source, path)
    assert lessons.slowed_cells(nbformat.read(path, 4)) == []

    monkeypatch.setattr(lessons, "run", run_with(*["contention"] * lessons.MOST_RUNS))
    before = path.read_bytes()
    with pytest.raises(lessons.LessonError, match="quiet machine"):
        lessons.save_run(source, path)
    assert path.read_bytes() == before


def test_a_saved_receipt_that_names_other_programs_is_made_anew(tmp_path, monkeypatch):
    path = tmp_path / "small.ipynb"
    source = new_notebook(cells=[new_code_cell("1"), new_code_cell("2")])
    nbformat.write(run_with("contention")(source, path), path)
    monkeypatch.setattr(lessons, "run", run_with("python"))
    assert lessons.save_run(source, path)
