"""A lab from its source to grades and feedback, headless, with nbgrader itself."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE
from jupyter_mlgpu.teach import packaged
from tests.teach.classes.course import WITHOUT_A_PLAN, Course, Notebook, cell, needs_a_sandbox, solved

pytestmark = [pytest.mark.needs("nbgrader"), needs_a_sandbox]

LAB = "lab_1_tensor_graph"


def faster(notebook: Notebook, name: str) -> None:
    """Write a shorter time into a saved record, and into nothing else."""
    for output in cell(notebook, name).outputs:
        for reading in output.get("data", {}).get(MIME_TYPE, {}).get("readings", ()):
            if reading["quantity"] == "wall_time":
                reading["value"] = 0.0001


def give_by_hand(course: Course, student: str, question: str, points: float) -> None:
    """As nbgrader's formgrader does."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course.folder / 'gradebook.db'}") as book:
        grade = book.find_grade(question, LAB, LAB, student)
        grade.manual_score, grade.needs_manual_grade = points, False
        book.db.commit()


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Lab 1 after three students, and one whose file was cut off, have handed it in."""
    course = Course(tmp_path_factory.mktemp("class") / "course", LAB)
    assert course.command("release") == 0
    right = solved(course.release(), course.source())
    slow = solved(course.release(), course.source())
    cell(slow, "run-graph").source = WITHOUT_A_PLAN
    measured = course.run(slow)
    forged = copy.deepcopy(measured)
    cell(forged, "run-once").source = "assert True"
    faster(forged, "once")
    for student, notebook in {"right": course.run(right), "wrong": measured, "tampered": forged}.items():
        course.hand_in(student, notebook)
    (course.inbox / "broken").mkdir()
    (course.inbox / "broken" / f"{LAB}.ipynb").write_text('{"cells": [', "utf-8")
    assert course.command("collect", "--from", str(course.inbox)) == 0
    assert course.command("grade") == 1  # for the broken one
    return course


def test_right_wrong_and_tampered_submissions_get_the_points_they_earned(graded: Course) -> None:
    points = graded.points()
    assert points["right"] == 15
    # A hidden test found that operations are computed more than once; the times measured again show no
    # saving.
    assert points["wrong"] == 15 - 3 - 4
    # The test that was edited is the lab's own again, and the forged record is no evidence.
    assert points["tampered"] == points["wrong"]


def test_feedback_says_what_the_grader_measured(graded: Course) -> None:
    assert "less than a twentieth of" in graded.feedback("tampered")
    assert "less than a twentieth of" in graded.feedback("wrong")
    assert "AssertionError" not in graded.feedback("right")


def test_feedback_keeps_the_hidden_tests_hidden_and_says_what_they_found(graded: Course) -> None:
    for student in ("right", "wrong"):
        page = graded.feedback(student)
        assert "HIDDEN TESTS" not in page
        assert "_steps" not in page
        assert "meta charset" not in page.split("<title>")[1]
        assert "&lt;meta" not in page
    assert "keep a result, also where two others take it" in graded.feedback("wrong")


def test_a_broken_file_costs_its_own_grade_alone(graded: Course, capfd: pytest.CaptureFixture[str]) -> None:
    assert not (graded.folder / "feedback" / "broken").exists()
    assert graded.command("report") == 1
    said = capfd.readouterr().out
    assert "4 students, 4 notebooks" in said
    assert "broken, lab_1_tensor_graph: lab_1_tensor_graph.ipynb is not a notebook" in said
    assert "tampered: The record of cell 'once' does not match" in said
    assert "tampered (lab_1_tensor_graph) and wrong (lab_1_tensor_graph) hold" in said


def test_receipts_count_where_they_are_trusted_and_a_forged_one_is_named(
    graded: Course, capfd: pytest.CaptureFixture[str]
) -> None:
    assert graded.command("grade", "--trust-receipts", "--show-hidden-tests") == 1
    assert "HIDDEN TESTS" in graded.feedback("wrong")
    assert graded.points()["right"] == 15
    assert "does not match the text saved beside it" in graded.feedback("tampered")
    assert "nothing was measured again" in capfd.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("lab", [name for name in packaged.LABS if name != LAB])
def test_the_solution_of_a_lab_gets_all_points_and_its_release_none(
    lab: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    course = Course(tmp_path / "course", lab)
    assert course.command("release") == 0
    course.hand_in("right", solved(course.release(), course.source()))
    course.hand_in("blank", course.release())
    assert course.command("collect", "--from", str(course.inbox)) == 0
    assert course.command("grade") == 0
    full = sum(one.metadata.get("nbgrader", {}).get("points", 0) for one in course.source().cells)
    # An answer in words, and which device a student has, are for the teacher to judge; both are said.
    left = 5 if lab == "lab_2_devices" else 2
    points = course.points()
    assert points["right"] == full - left
    assert points["blank"] == 0
    said = capfd.readouterr().out
    assert f"right: {full - left:g} of {full:g} points, {left} more for you to give" in said
    assert "right, in-words (2): an answer in words is graded by hand" in said
    assert ("right, device-test (3): where the student's work ran cannot be measured here" in said) == (
        left == 5
    )
    # An answer that was never written has no points, and nobody needs to read it.
    assert course.column("open_points")["right"] == f"{left}"
    assert "blank, in-words" not in said
    assert "HIDDEN TESTS" not in json.dumps(course.release())


def test_points_that_a_teacher_has_given_by_hand_stay_and_are_no_longer_open(
    graded: Course, capfd: pytest.CaptureFixture[str]
) -> None:
    assert graded.column("open_points")["right"] == "2"
    give_by_hand(graded, "right", "in-words", 1.5)
    assert graded.command("grade") == 1  # for the broken one
    assert graded.points()["right"] == 16.5
    assert graded.column("open_points")["right"] == "0"
    said = capfd.readouterr().out
    assert "right: 16.5 of 17 points" in said
    assert "right, in-words" not in said
    assert "wrong, in-words (2)" in said
    assert f"run `jupyter lab` in {graded.folder} and choose Nbgrader" in said
    assert graded.command("report") == 1
    said = capfd.readouterr().out
    assert "16.5 of 17" in said
    assert f"feedback/right/{LAB}/{LAB}.html" in said
    page = (graded.folder / "class_report.html").read_text("utf-8")
    assert f'<a href="./feedback/right/{LAB}/{LAB}.html">right, {LAB}</a>' in page
