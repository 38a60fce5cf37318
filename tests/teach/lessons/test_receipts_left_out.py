"""nbval overlooks our receipts, which never repeat, and nothing else."""

import copy
import re

import lessons  # scripts/lessons.py, which saves the outputs
import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

CHECKED = {"tags": ["nbval-check-output"]}


@pytest.fixture(scope="module")
def first_run(tmp_path_factory):
    """A small notebook with the outputs of a run, receipts among them."""
    cells = ["%load_ext jupyter_mlgpu", "6 * 7", "print('about', 355 / 113)", "'gone'", "'kept'"]
    notebook = new_notebook(cells=[new_code_cell(code, metadata=CHECKED) for code in cells])
    return lessons.run(notebook, tmp_path_factory.mktemp("saved") / "small.ipynb")


@pytest.fixture
def saved(first_run):
    """A copy of it, for a test to change."""
    return copy.deepcopy(first_run)


def test_a_notebook_whose_numbers_repeat_passes_though_its_receipts_do_not(saved, under_nbval):
    assert under_nbval(saved) == (0, set())


@pytest.mark.slow
def test_without_what_leaves_receipts_out_it_fails(saved, under_nbval):
    status, failed = under_nbval(saved, conftest=False)
    assert (status, failed) == (1, {1, 2, 3, 4})


@pytest.mark.slow
def test_a_changed_result_a_changed_print_and_a_lost_output_each_still_fail(saved, under_nbval):
    _, result, printed, lost, _ = saved.cells
    result.outputs[0].data["text/plain"] = "43"
    printed.outputs[0].text = printed.outputs[0].text.replace("3.14159", "3.14158")
    lost.outputs = lost.outputs[1:]
    assert under_nbval(saved) == (1, {1, 2, 3})


@pytest.mark.slow
def test_a_changed_number_in_lesson_01_fails_in_the_cell_it_stands_in(first_lesson, under_nbval):
    lesson = nbformat.read(first_lesson, 4)
    changed = set()
    for number, cell in enumerate(cell for cell in lesson.cells if cell.cell_type == "code"):
        if "nbval-check-output" in cell.metadata.get("tags", []) and change_a_number(cell.outputs[0]):
            changed.add(number)
    assert len(changed) >= 7
    assert under_nbval(lesson) == (1, changed)


def change_a_number(output) -> bool:
    """Make the last digit of what was printed or returned another one; False where there is none."""
    text = output.get("text") or output.data["text/plain"]
    last = re.search(r"\d(?=\D*$)", text)
    if last is None:
        return False
    text = text[: last.start()] + str((int(last[0]) + 1) % 10) + text[last.end() :]
    if "text" in output:
        output.text = text
    else:
        output.data["text/plain"] = text
    return True
