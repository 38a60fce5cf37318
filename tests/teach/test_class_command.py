"""`jupyter mlgpu class`: what was handed in is sorted, and the report survives what students hand in."""

import importlib.util
import json
import os
import threading

import pytest

from jupyter_mlgpu.jupyter.cli import main
from jupyter_mlgpu.show.receipts.bundle import bundle
from jupyter_mlgpu.testing import example_record

LAB = "lab_1"


def notebook_with(*cells):
    return json.dumps({"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def receipt(name="measure"):
    return {
        "cell_type": "code",
        "id": name,
        "metadata": {},
        "execution_count": 1,
        "source": "work()",
        "outputs": [{"output_type": "display_data", "metadata": {}, "data": bundle(example_record())}],
    }


def put(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def course(tmp_path):
    put(tmp_path / "course" / "source" / LAB / "lab_1.ipynb", notebook_with())
    return tmp_path / "course"


@pytest.fixture
def inbox(tmp_path):
    return tmp_path / "inbox"


def collect(course, inbox, *words):
    return main(["class", "collect", str(course), "--from", str(inbox), "--lab", LAB, *words])


def collected(course):
    return sorted(str(path.relative_to(course / "submitted")) for path in course.glob("submitted/*/*/*"))


def test_folders_and_files_as_people_get_them_become_nbgraders_layout(course, inbox, capsys):
    put(inbox / "ada" / "lab_1.ipynb", notebook_with())
    put(inbox / "Bob Stone_4711_assignsubmission_file" / "lab_1 (2).ipynb", notebook_with())
    put(inbox / "eve_lab_1.ipynb", notebook_with())
    put(inbox / "mia" / "my homework.ipynb", notebook_with())
    assert collect(course, inbox) == 0
    assert collected(course) == [f"{one}/lab_1/lab_1.ipynb" for one in ("Bob-Stone", "ada", "eve", "mia")]
    said = capsys.readouterr().out
    assert "4 students in" in said
    assert "ada: lab_1.ipynb\n" in said
    assert "mia: lab_1.ipynb, from my homework.ipynb\n" in said


def test_what_a_student_handed_in_beside_the_notebook_is_named_and_not_collected(course, inbox, capsys):
    put(inbox / "ada" / "lab_1.ipynb", notebook_with())
    put(inbox / "ada" / "lab_1 (1).ipynb", notebook_with())
    put(inbox / "ada" / "lab_1.zip", "an archive")
    assert collect(course, inbox) == 0
    said = capsys.readouterr().out
    for name in ("lab_1 (1).ipynb", "lab_1.zip"):
        assert f"ada/{name} was not collected, only the notebook beside it." in said
    assert collected(course) == ["ada/lab_1/lab_1.ipynb"]


def test_what_cannot_be_collected_is_told_and_stops_nobody(course, inbox, capsys):
    put(inbox / "ada" / "lab_1.ipynb", notebook_with())
    put(inbox / "bob" / "notes.txt", "no notebook")
    put(inbox / "eve.zip", "an archive")
    put(inbox / "lab_1.ipynb", notebook_with())
    put(inbox / "mia" / "a.ipynb", notebook_with())
    put(inbox / "mia" / "b.ipynb", notebook_with())
    assert collect(course, inbox) == 1
    said = capsys.readouterr().out
    assert collected(course) == ["ada/lab_1/lab_1.ipynb"]
    assert "bob was left out: there is no notebook in it." in said
    assert "eve.zip was left out: it is neither a notebook nor a folder" in said
    assert "lab_1.ipynb was left out: its name does not say whose it is" in said
    assert "mia was left out: it has no notebook lab_1.ipynb." in said


def test_an_archive_is_to_be_unpacked_wherever_it_is(course, inbox, capsys):
    put(inbox / "ada" / "homework" / "lab_1.zip", "an archive")
    put(inbox / "eve.zip", "an archive")
    put(inbox.parent / "downloads.zip", "an archive")
    assert collect(course, inbox) == 1
    said = capsys.readouterr().out
    assert "ada was left out: there is no notebook in it; unpack homework/lab_1.zip." in said
    assert "eve.zip was left out: it is neither a notebook nor a folder, but an archive: unpack it." in said
    assert collect(course, inbox.parent / "downloads.zip") == 2
    assert "downloads.zip is an archive: unpack it, and give --from the folder" in capsys.readouterr().err


def test_the_report_has_points_and_feedback_where_a_lab_was_graded(course, capsys):
    for student in ("ada", "bo b"):
        put(course / "submitted" / student / LAB / "lab_1.ipynb", notebook_with())
    put(course / "feedback" / "bo b" / LAB / "lab_1.html", "feedback")
    put(
        course / "grades.csv",
        "assignment,student_id,max_score,score,open_points\nlab_1,bo b,17.0,12.5,2\n",
    )
    assert main(["class", "report", str(course)]) == 0
    said = capsys.readouterr().out
    assert "12.5 of 17, 2 open" in said
    assert "not graded" in said
    assert "devices seen: none" in said
    assert "feedback/bo b/lab_1/lab_1.html" in said
    assert '<a href="./feedback/bo%20b/lab_1/lab_1.html">' in (course / "class_report.html").read_text()


@pytest.mark.parametrize(
    "table", ["", "a,b\n1,2\n", "assignment,student_id,max_score,score\nlab_1,ada,x,y\n"]
)
def test_a_table_of_grades_that_says_nothing_breaks_no_report(course, table, capsys):
    put(course / "submitted" / "ada" / LAB / "lab_1.ipynb", notebook_with())
    put(course / "grades.csv", table)
    assert main(["class", "report", str(course)]) == 0
    assert "ada" in capsys.readouterr().out


def test_a_hand_in_that_was_collected_is_replaced_only_when_asked(course, inbox, capsys):
    put(inbox / "ada.ipynb", notebook_with())
    assert collect(course, inbox) == 0
    assert collect(course, inbox) == 0
    assert "was there already" in capsys.readouterr().out
    put(inbox / "ada.ipynb", notebook_with(receipt()))
    assert collect(course, inbox) == 1
    assert "--replace lets this one take its place" in capsys.readouterr().out
    assert collect(course, inbox, "--replace") == 0
    assert (course / "submitted/ada/lab_1/lab_1.ipynb").read_text() == notebook_with(receipt())


def test_a_student_cannot_name_a_folder_outside_the_course(course, inbox):
    put(inbox / "ada..%2f.." / "lab_1.ipynb", notebook_with())
    assert collect(course, inbox) == 0
    assert collected(course) == ["ada..-2f/lab_1/lab_1.ipynb"]


def test_a_lab_that_does_not_exist_is_answered_with_those_that_do(course, inbox, capsys):
    assert main(["class", "collect", str(course), "--from", str(inbox), "--lab", "lab_9"]) == 2
    assert "choose lab_1." in capsys.readouterr().err


def test_where_nbgrader_is_missing_one_sentence_says_how_to_get_it(course, monkeypatch, capsys):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "nbgrader" else find(name))
    assert main(["class", "grade", str(course), "--lab", LAB]) == 2
    assert '`pip install "jupyter_mlgpu[classroom]"`' in capsys.readouterr().err


def test_the_report_survives_one_broken_notebook_among_thirty(course, capsys):
    for number in range(29):
        put(course / "submitted" / f"student-{number:02d}" / LAB / "lab_1.ipynb", notebook_with(receipt()))
    put(course / "submitted" / "zoe" / LAB / "lab_1.ipynb", '{"cells": [')
    put(course / "submitted" / "yan" / LAB / "lab_1.ipynb", notebook_with())
    assert main(["class", "report", str(course)]) == 1
    said = capsys.readouterr().out
    assert "31 students, 31 notebooks" in said
    assert "29 with records, 1 without, 1 that cannot be read" in said
    assert "zoe, lab_1: lab_1.ipynb is not a notebook: it is not JSON" in said
    assert (course / "class_report.txt").read_text() in said
    page = (course / "class_report.html").read_text()
    assert "student-28" in page
    assert "zoe, lab_1" in page


def test_the_report_has_devices_times_and_notes_of_the_class(course, capsys):
    for student in ("ada", "bob"):
        put(course / "submitted" / student / LAB / "lab_1.ipynb", notebook_with(receipt()))
    assert main(["class", "report", str(course), "--lab", LAB]) == 0
    said = capsys.readouterr().out
    record = example_record()
    assert {one.device for one in record.device.ran_on} <= set(said.split())
    assert "measure" in said
    assert all(line.meaning in said for line in record.logs if line.meaning)
    assert "ada (lab_1) and bob (lab_1) hold 1 record of the same run" in said


def test_what_students_wrote_is_text_in_the_page_and_no_mark_up(course):
    hostile = "<script>alert(1)</script>"
    for student in ("ada", "bob"):
        put(course / "submitted" / student / LAB / "lab_1.ipynb", notebook_with(receipt(hostile)))
    main(["class", "report", str(course)])
    assert "<script" not in (course / "class_report.html").read_text()


def test_a_folder_without_notebooks_is_answered_with_what_it_needs(tmp_path, capsys):
    assert main(["class", "report", str(tmp_path)]) == 2
    assert "There are no notebooks in" in capsys.readouterr().err


# -- links, and what is no file: students make what they hand in ------------------------------------


def ended(*words):
    """The exit status of a command; it must not wait, as for the writer of a FIFO."""
    status = []
    command = threading.Thread(target=lambda: status.append(main(list(map(str, words)))), daemon=True)
    command.start()
    command.join(20)
    assert status, f"{words} waits"
    return status[0]


def test_a_link_is_not_followed_into_the_solutions_or_to_another_students_work(course, inbox, capsys):
    put(course / "source" / LAB / "lab_1.ipynb", notebook_with(receipt("the solution")))
    put(inbox / "bob" / "lab_1.ipynb", notebook_with())
    (inbox / "ada").mkdir()
    (inbox / "ada" / "lab_1.ipynb").symlink_to(course / "source" / LAB / "lab_1.ipynb")
    (inbox / "eve").symlink_to(inbox / "bob")
    (inbox / "mia_lab_1.ipynb").symlink_to(course / "source" / LAB / "lab_1.ipynb")
    (inbox / "zoe").mkdir()
    (inbox / "zoe" / "folder").symlink_to(course / "source" / LAB)
    assert collect(course, inbox) == 1
    assert collected(course) == ["bob/lab_1/lab_1.ipynb"]
    said = capsys.readouterr().out
    for what in (
        "ada was left out: there is no notebook in it; lab_1.ipynb is a link",
        "eve was left out: it is a link",
        "mia_lab_1.ipynb was left out: it is a link",
        "zoe was left out: there is no notebook in it; folder is a link",
    ):
        assert what in said


def test_what_waits_or_is_too_large_is_left_out_and_keeps_nobody_waiting(course, inbox, capsys):
    for student in ("ada", "bob", "eve"):
        (inbox / student).mkdir(parents=True)
    os.mkfifo(inbox / "ada" / "lab_1.ipynb")
    os.mkfifo(inbox / "mia_lab_1.ipynb")
    with (inbox / "bob" / "lab_1.ipynb").open("wb") as file:
        file.truncate(10**11)  # takes no room on the disk
    put(inbox / "eve" / "lab_1.ipynb", notebook_with())
    assert ended("class", "collect", course, "--from", inbox, "--lab", LAB) == 1
    assert collected(course) == ["eve/lab_1/lab_1.ipynb"]
    said = capsys.readouterr().out
    assert "ada was left out: there is no notebook in it; lab_1.ipynb is no regular file." in said
    assert "for it has more than 20 MB" in said
    assert "mia_lab_1.ipynb" in said


def test_what_was_collected_replaces_a_link_and_not_its_target(course, inbox):
    put(inbox / "ada" / "lab_1.ipynb", notebook_with())
    put(course / "target", "mine")
    place = course / "submitted" / "ada" / LAB / "lab_1.ipynb"
    place.parent.mkdir(parents=True)
    place.symlink_to(course / "target")
    assert collect(course, inbox) == 1
    assert collect(course, inbox, "--replace") == 0
    assert not place.is_symlink()
    assert place.read_text() == notebook_with()
    assert (course / "target").read_text() == "mine"


def test_the_report_replaces_a_link_that_was_planted_in_its_place(course, tmp_path):
    put(course / "submitted" / "ada" / LAB / "lab_1.ipynb", notebook_with())
    for name in ("class_report.html", "class_report.txt"):
        put(tmp_path / name, "mine")
        (course / name).symlink_to(tmp_path / name)
    assert main(["class", "report", str(course)]) == 0
    assert [(tmp_path / name).read_text() for name in ("class_report.html", "class_report.txt")] == [
        "mine"
    ] * 2
    assert not (course / "class_report.html").is_symlink()
    assert "ada" in (course / "class_report.html").read_text()


def test_the_report_names_what_is_no_file_and_waits_for_nothing(course, tmp_path, capsys):
    put(course / "submitted" / "ada" / LAB / "lab_1.ipynb", notebook_with())
    for student in ("bob", "eve"):
        (course / "submitted" / student / LAB).mkdir(parents=True)
    os.mkfifo(course / "submitted" / "bob" / LAB / "lab_1.ipynb")
    (course / "submitted" / "eve" / LAB / "lab_1.ipynb").symlink_to(
        course / "submitted/ada/lab_1/lab_1.ipynb"
    )
    (course / "submitted" / "mia").symlink_to(course / "submitted" / "ada")
    assert ended("class", "report", course, "--lab", LAB) == 1
    said = capsys.readouterr().out
    assert "bob, lab_1: lab_1.ipynb is no regular file." in said
    assert "eve, lab_1: lab_1.ipynb is a link, and links in what was handed in are not followed." in said
    assert "mia, mia: mia is a link" in said
    assert "4 students, 4 notebooks" in said


def test_one_record_that_cannot_be_shown_costs_only_its_notebook(course, capsys):
    for student in ("ada", "bob"):
        put(course / "submitted" / student / LAB / "lab_1.ipynb", notebook_with(receipt()))
    strange = receipt()
    (data,) = (output["data"] for output in strange["outputs"])
    (record,) = (value for name, value in data.items() if name.endswith("record+json"))
    record["readings"] = [one for one in record["readings"] if one["quantity"] != "peak_memory_process"]
    put(course / "submitted" / "eve" / LAB / "lab_1.ipynb", notebook_with(strange))
    assert main(["class", "report", str(course)]) in (0, 1)
    assert "3 students, 3 notebooks" in capsys.readouterr().out


@pytest.mark.parametrize("out", ["report.txt", "report", "/dev/stdout"])
def test_the_page_and_its_text_never_have_the_same_name(course, tmp_path, monkeypatch, out, capsys):
    monkeypatch.chdir(tmp_path)
    put(course / "submitted" / "ada" / LAB / "lab_1.ipynb", notebook_with())
    assert main(["class", "report", str(course), "--out", out]) == 2
    assert f"--out takes the name of a page, as in report.html, and found '{out}'" in capsys.readouterr().err
    assert not (tmp_path / "report.txt").exists()
