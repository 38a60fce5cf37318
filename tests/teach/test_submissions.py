"""Records saved in a notebook that was handed in: read without running, and doubted where they do not fit."""

import copy
import hashlib
import json

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.record import language
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE, bundle
from jupyter_mlgpu.teach.lessons import assert_gpu_used, submitted
from jupyter_mlgpu.teach.lessons.labs import Submitted
from jupyter_mlgpu.teach.submissions import find_inconsistencies, read
from jupyter_mlgpu.teach.submissions.inconsistencies import find_shared_records
from jupyter_mlgpu.testing import example_record


def code_cell(name, number, *, wall=0.5, code=None, outcome="ok", **run):
    """A cell as Jupyter saves it, with the receipt of its run; each began a second after the one before."""
    source = code or f"work({number})"
    one = example_record()
    cell = replace(
        one.cell,
        sequence=number,
        id=None,
        execution_count=number,
        source_digest=hashlib.sha256(source.encode()).hexdigest()[:16],
    )
    readings = tuple(
        Reading("wall_time", wall, "s", "cell", "simulated", 1, detail="fake clock")
        if each.quantity == "wall_time"
        else each
        for each in one.readings
    )
    record = replace(
        one,
        run=replace(one.run, **run),
        cell=cell,
        readings=readings,
        outcome=outcome,
        started_at=f"2026-01-01T00:00:{number:02d}.000000Z",
        started_monotonic_ns=number * 1_000_000_000,
    )
    data = json.loads(json.dumps(bundle(record)))
    return {
        "cell_type": "code",
        "id": name,
        "metadata": {"nbgrader": {"grade_id": name}},
        "execution_count": number,
        "source": source.splitlines(keepends=True),
        "outputs": [{"output_type": "display_data", "metadata": {}, "data": data}],
    }


def notebook(path, *cells):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    return path


def record_of(cell):
    return cell["outputs"][0]["data"][MIME_TYPE]


def against(path, name):
    submission = read(path)
    return " ".join(find_inconsistencies(submission, submission.cell(name)))


@pytest.fixture
def three():
    return [code_cell(name, number) for number, name in enumerate(("first", "second", "third"), start=1)]


def test_an_honest_notebook_gives_its_records_and_no_doubts(tmp_path, three):
    submission = read(notebook(tmp_path / "lab.ipynb", *three))
    assert [one.cell.sequence for one in submission.records] == [1, 2, 3]
    assert [find_inconsistencies(submission, cell) for cell in submission.cells] == [[], [], []]


def test_figures_edited_by_hand_no_longer_say_what_the_text_beside_them_says(tmp_path, three):
    for reading in record_of(three[1])["readings"]:
        if reading["quantity"] == "wall_time":
            reading["value"] = 0.001
    assert "does not match the text saved beside it" in against(
        notebook(tmp_path / "l.ipynb", *three), "second"
    )


def test_receipts_that_were_drawn_in_another_language_are_as_honest(tmp_path, monkeypatch):
    monkeypatch.setattr(language, "_language", "zh")
    cells = [code_cell("first", 1), code_cell("second", 2)]
    monkeypatch.setattr(language, "_language", None)
    path = notebook(tmp_path / "lab.ipynb", *cells)
    assert "峰值内存" in cells[1]["outputs"][0]["data"]["text/html"]
    assert against(path, "second") == ""
    cells[1]["outputs"][0]["data"]["text/plain"] += "0"
    assert "does not match the text saved beside it" in against(
        notebook(tmp_path / "lab.ipynb", *cells), "second"
    )


def test_a_device_edited_by_hand_is_noticed_too(tmp_path, three):
    for place in record_of(three[1])["device"]["ran_on"]:
        place["device"] = "gpu:7"
    assert "it was edited" in against(notebook(tmp_path / "l.ipynb", *three), "second")


def test_a_record_that_is_not_of_this_code_is_noticed_whether_code_or_record_was_changed(tmp_path, three):
    three[1]["source"] = ["work(2)  # changed later"]
    assert "the code was changed after its run" in against(notebook(tmp_path / "l.ipynb", *three), "second")


def test_a_record_copied_from_another_cell_is_noticed_although_its_code_is_the_same(tmp_path):
    cells = [code_cell("first", 1, code="same()"), code_cell("second", 2, code="same()")]
    cells[1]["outputs"] = cells[0]["outputs"]
    said = against(notebook(tmp_path / "l.ipynb", *cells), "second")
    assert "is in the notebook twice" in said
    assert "the execution count 1, but the cell has 2" in said


def test_a_time_that_reaches_into_the_next_cell_is_noticed(tmp_path, three):
    three[1] = code_cell("second", 2, wall=1.5)
    path = notebook(tmp_path / "l.ipynb", *three)
    assert "contradict each other" in against(path, "second")
    assert against(path, "first") == ""


def test_a_run_on_two_machines_is_noticed(tmp_path, three):
    three[1] = code_cell("second", 2, host_digest="ab" * 6)
    assert "names several machines" in against(notebook(tmp_path / "l.ipynb", *three), "second")


def test_shares_that_are_not_those_of_the_operations_counted_are_noticed(tmp_path, three):
    record_of(three[0])["device"]["ran_on"][0]["share"] = 0.01
    assert "the shares of the devices do not match" in against(
        notebook(tmp_path / "l.ipynb", *three), "first"
    )


def test_a_replayed_record_is_no_measurement_of_the_students(tmp_path, three):
    record_of(three[0])["origin"] = "replayed"
    assert "is replayed" in against(notebook(tmp_path / "l.ipynb", *three), "first")


def test_a_record_that_cannot_be_read_is_told_and_costs_no_other(tmp_path, three):
    record_of(three[1])["outcome"] = 5
    submission = read(notebook(tmp_path / "l.ipynb", *three))
    assert len(submission.records) == 2
    assert submission.problems[0].startswith("A record of cell number 2 cannot be read")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b'{"cells": [', "not JSON"),
        (b"\xff\xfe", "not UTF-8"),
        (b"[]", "no list of cells"),
        (b" " * 20_000_001, r"^broken.ipynb cannot be read as a notebook, for it has more than 20 MB"),
        (b"[" + b"{}," * 500_000 + b"0]", "holds more than 500,000 lists and objects"),
    ],
)
def test_a_broken_file_says_why(tmp_path, data, why):
    path = tmp_path / "broken.ipynb"
    path.write_bytes(data)
    with pytest.raises(UsageError, match=why):
        read(path)


def test_a_link_is_read_only_where_it_may_be_one(tmp_path, three):
    path = notebook(tmp_path / "lab.ipynb", *three)
    (tmp_path / "link.ipynb").symlink_to(path)
    assert len(read(tmp_path / "link.ipynb").records) == 3
    with pytest.raises(UsageError, match=r"^link.ipynb cannot be read as a notebook, for it is a link"):
        read(tmp_path / "link.ipynb", follow=False)


def test_two_notebooks_with_records_of_one_run_are_told_apart_from_two_runs(tmp_path, three):
    ada, bob = (read(notebook(tmp_path / f"{one}.ipynb", *three)) for one in ("ada", "bob"))
    own = [code_cell("first", 1, id="another run")]
    eve = read(notebook(tmp_path / "eve.ipynb", *own))
    assert find_shared_records([("ada", ada), ("bob", bob), ("eve", eve)]) == [("ada", "bob", 3)]


def test_while_nbgrader_grades_the_notebook_is_the_one_that_was_submitted(tmp_path, three, monkeypatch):
    notebook(tmp_path / "submitted" / "ada" / "lab" / "lab.ipynb", *three)
    without = [{**cell, "outputs": []} for cell in three]
    without[2]["source"] = "as_the_lab_has_it()"
    copy = notebook(tmp_path / "autograded" / "ada" / "lab" / "lab.ipynb", *without)
    monkeypatch.chdir(copy.parent)
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert submitted("lab.ipynb").runs("second")[0].cell.sequence == 2
    with pytest.raises(AssertionError, match="The code of cell 'third' differs from the lab's"):
        submitted("lab.ipynb").runs("third")


def test_time_and_memory_are_those_that_were_saved(tmp_path, three, monkeypatch):
    notebook(tmp_path / "lab.ipynb", *three)
    monkeypatch.chdir(tmp_path)
    mine = submitted("lab.ipynb")
    assert mine.seconds("first") == 0.5
    assert mine.peak("first") == example_record().reading("peak_memory_process").value


def test_a_cell_that_failed_has_no_timing(tmp_path, monkeypatch):
    failed = code_cell("first", 1, outcome="error")
    notebook(tmp_path / "lab.ipynb", failed)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AssertionError, match="No timing is saved under cell 'first'"):
        submitted("lab.ipynb").seconds("first")


def test_elsewhere_it_is_the_one_beside_the_kernel_and_a_missing_record_says_what_to_do(
    tmp_path, three, monkeypatch
):
    three[0]["outputs"] = []
    notebook(tmp_path / "lab.ipynb", *three)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    mine = submitted("lab.ipynb")
    with pytest.raises(AssertionError, match="No record is saved under cell 'first'"):
        mine.runs("first")
    with pytest.raises(AssertionError, match="has no code cell 'fourth'"):
        mine.runs("fourth")
    with pytest.raises(AssertionError, match=r"other\.ipynb cannot be read"):
        submitted("other.ipynb")
    with pytest.raises(AssertionError, match="ran on cpu:0, not on a GPU"):
        assert_gpu_used(mine.runs("second"))


def test_what_is_not_saved_yet_is_a_state_for_the_student_and_an_error_for_whoever_grades(
    tmp_path, three, monkeypatch, capsys
):
    handed_in = copy.deepcopy(three)
    three[0]["outputs"] = []
    notebook(tmp_path / "lab.ipynb", *three)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    assert not submitted("lab.ipynb").ready("first", "second")
    assert "○ Not saved yet: run all cells, save the notebook" in capsys.readouterr().out
    assert submitted("lab.ipynb").ready("second", "third")
    assert capsys.readouterr().out == ""

    saved = read(tmp_path / "lab.ipynb")
    with pytest.raises(AssertionError, match="No record is saved under cell 'first'"):
        Submitted(saved, given=saved).ready("first", "second")
    notebook(tmp_path / "lab.ipynb", *handed_in)
    complete = read(tmp_path / "lab.ipynb")
    assert Submitted(complete, given=complete).ready("first", "second")


def test_a_forged_record_fails_the_cell_that_asks_for_it(tmp_path, three, monkeypatch):
    record_of(three[0])["readings"][0]["value"] = 0.001
    notebook(tmp_path / "lab.ipynb", *three)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AssertionError, match="it was edited"):
        submitted("lab.ipynb").runs("first")


def test_cells_of_two_runs_do_not_compare(tmp_path, three, monkeypatch):
    three[2] = code_cell("third", 3, id="another run")
    notebook(tmp_path / "lab.ipynb", *three)
    monkeypatch.chdir(tmp_path)
    submitted("lab.ipynb").same_machine("first", "second")
    with pytest.raises(AssertionError, match="not all run by the same kernel"):
        submitted("lab.ipynb").same_machine("first", "third")
