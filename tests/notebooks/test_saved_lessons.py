"""What the lessons' files hold: every cell was run, and nothing in them tells of whoever ran it."""

import json
import re
import socket

import nbformat

from jupyter_mlgpu.record import Record
from jupyter_mlgpu.redact import redact
from jupyter_mlgpu.render.bundle import MIME_TYPE, bundle


def code_cells(lesson):
    return [cell for cell in lesson.cells if cell.cell_type == "code"]


def outputs(lesson):
    return [output for cell in code_cells(lesson) for output in cell.outputs]


def is_measured(cell):
    """A cell with nothing but the kit's own words leaves no receipt."""
    return not all(line.startswith(("%mlc_", "%load_ext jupyter_mlgpu")) for line in cell.source.splitlines())


def saved_receipts(lesson):
    return [receipts(cell)[0] for cell in code_cells(lesson) if is_measured(cell)]


def receipts(cell):
    return [output.data for output in cell.outputs if MIME_TYPE in output.get("data", {})]


def test_every_code_cell_was_run_in_this_order(lesson):
    counts = [cell.execution_count for cell in code_cells(lesson)]
    assert counts == list(range(1, len(counts) + 1))


def test_the_first_code_cell_loads_the_extension_and_every_other_has_one_receipt(lesson):
    first, *others = code_cells(lesson)
    assert first.source == "%load_ext jupyter_mlgpu"
    assert [len(receipts(cell)) for cell in others] == [int(is_measured(cell)) for cell in others]


def test_all_receipts_are_of_one_run_and_look_as_they_would_today(lesson):
    saved = saved_receipts(lesson)
    records = [Record.from_json(data[MIME_TYPE]) for data in saved]
    assert len({record.run.id for record in records}) == 1
    assert [bundle(record) for record in records] == saved


def test_no_cell_failed_and_nothing_was_written_to_stderr(lesson):
    kinds = {(output.output_type, output.get("name")) for output in outputs(lesson)}
    assert kinds <= {("stream", "stdout"), ("execute_result", None), ("display_data", None)}


def test_no_output_names_a_home_a_user_or_a_machine(lesson):
    text = json.dumps(outputs(lesson), ensure_ascii=False)
    assert redact(text) == text
    assert not re.search(r"/(home|Users|root|tmp|var|private)/|[A-Z]:\\\\", text)
    names = {socket.gethostname(), socket.getfqdn()} - {"localhost"}
    assert not [name for name in names if re.search(rf"\b{re.escape(name)}\b", text)]


def test_a_receipt_names_its_notebook_without_its_folder(lesson, lesson_path):
    runs = [receipt[MIME_TYPE]["run"] for receipt in saved_receipts(lesson)]
    assert {run["notebook"] for run in runs} == {lesson_path.name}


def test_the_file_is_as_make_lessons_writes_it(lesson):
    nbformat.validate(lesson)
    assert lesson.metadata == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", cell.id) for cell in lesson.cells)


def test_a_blank_takes_no_more_than_ten_lines(lesson):
    blanks = [cell for cell in code_cells(lesson) if "exercise" in cell.metadata.get("tags", [])]
    assert blanks
    assert all("..." in cell.source and len(cell.source.splitlines()) <= 10 for cell in blanks)
