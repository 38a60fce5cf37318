"""A lab from its source to grades and feedback, headless, with nbgrader itself."""

from __future__ import annotations

import asyncio
import copy
import csv
import json
import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from jupyter_mlgpu.cli import main
from jupyter_mlgpu.render.bundle import MIME_TYPE

pytestmark = pytest.mark.needs("nbgrader")

LABS = Path(__file__).resolve().parents[2] / "notebooks" / "labs" / "source"
Notebook = Any


class Course:
    """A folder with one lab's source; commands are those of `jupyter mlgpu class`."""

    def __init__(self, folder: Path, lab: str) -> None:
        self.folder, self.lab = folder, lab
        self.inbox = folder.parent / "inbox"
        shutil.copytree(LABS / lab, folder / "source" / lab)

    def command(self, name: str, *words: str) -> int:
        """`jupyter mlgpu class NAME` over this course and lab; returns its exit status."""
        return main(["class", name, str(self.folder), "--lab", self.lab, *words])

    def source(self) -> Notebook:
        return nbformat.read(self.folder / "source" / self.lab / f"{self.lab}.ipynb", 4)

    def release(self) -> Notebook:
        """What students get."""
        return nbformat.read(self.folder / "release" / self.lab / f"{self.lab}.ipynb", 4)

    def hand_in(self, student: str, notebook: Notebook) -> None:
        path = self.inbox / student / f"{self.lab}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(notebook, path)

    def run(self, notebook: Notebook) -> Notebook:
        """The notebook after a student has run and saved it, with its receipts."""
        folder = self.folder.parent / "desk"
        folder.mkdir(exist_ok=True)
        run = copy.deepcopy(notebook)
        client = NotebookClient(
            run, timeout=600, allow_errors=True, resources={"metadata": {"path": str(folder)}}
        )
        asyncio.run(client.async_execute())
        return run

    def points(self) -> dict[str, float]:
        """Each student's points, as grades.csv has them."""
        with (self.folder / "grades.csv").open(encoding="utf-8", newline="") as file:
            return {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}

    def feedback(self, student: str) -> str:
        return (self.folder / "feedback" / student / self.lab / f"{self.lab}.html").read_text("utf-8")


def cell(notebook: Notebook, name: str) -> Any:
    """The cell with this id of nbgrader's."""
    return next(one for one in notebook.cells if one.metadata.get("nbgrader", {}).get("grade_id") == name)


def solved(release: Notebook, source: Notebook) -> Notebook:
    """What a student made of the release who has every answer right."""
    answered = copy.deepcopy(release)
    for one in answered.cells:
        if one.metadata.get("nbgrader", {}).get("solution"):
            one.source = cell(source, one.metadata.nbgrader.grade_id).source
    return answered


LAB = "lab_1_tensor_graph"

# Right numbers, but each operation as often as it is taken.
WITHOUT_A_PLAN = """
def run_graph(graph, inputs, wanted):
    if wanted in inputs:
        return inputs[wanted]
    operation, *sources = graph[wanted]
    return OPERATIONS[operation](*(run_graph(graph, inputs, source) for source in sources))
"""


def faster(notebook: Notebook, name: str) -> None:
    """Write a shorter time into a saved record, and into nothing else."""
    for output in cell(notebook, name).outputs:
        for reading in output.get("data", {}).get(MIME_TYPE, {}).get("readings", ()):
            if reading["quantity"] == "wall_time":
                reading["value"] = 0.0001


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Lab 1 after three students, and one whose file was cut off, have handed it in."""
    course = Course(tmp_path_factory.mktemp("class") / "course", LAB)
    assert course.command("grade") == 0  # nobody has handed in: the student's version is made
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


def test_the_students_version_has_neither_solutions_nor_hidden_tests(graded: Course) -> None:
    release = json.dumps(graded.release())
    source = json.dumps(graded.source())
    for secret in ("HIDDEN TESTS", "BEGIN SOLUTION", "_diamond", "instead of 10"):
        assert secret in source
        assert secret not in release
    assert "raise NotImplementedError()" in release


def test_right_wrong_and_tampered_submissions_get_the_points_they_earned(graded: Course) -> None:
    points = graded.points()
    assert points["right"] == 15
    # A hidden test found that operations are computed more than once; the saved times show no saving.
    assert points["wrong"] == 15 - 3 - 4
    # The test that was edited is the lab's own again, and the forged record is no evidence.
    assert points["tampered"] == points["wrong"]


def test_feedback_says_what_was_wrong_with_a_forged_record(graded: Course) -> None:
    assert "does not say what the text saved beside it says" in graded.feedback("tampered")
    assert "Your receipts show no saving" in graded.feedback("wrong")
    assert "AssertionError" not in graded.feedback("right")


def test_a_broken_file_costs_its_own_grade_alone(graded: Course, capfd: pytest.CaptureFixture[str]) -> None:
    assert not (graded.folder / "feedback" / "broken").exists()
    assert graded.command("report") == 1
    said = capfd.readouterr().out
    assert "4 students, 4 notebooks" in said
    assert "broken, lab_1_tensor_graph: lab_1_tensor_graph.ipynb is not a notebook" in said
    assert "tampered: The record of cell 'once' does not say" in said
    assert "tampered (lab_1_tensor_graph) and wrong (lab_1_tensor_graph) hold" in said


@pytest.mark.slow
@pytest.mark.parametrize("lab", sorted(path.name for path in LABS.iterdir() if path.name != LAB))
def test_the_solution_of_a_lab_gets_all_points_and_its_release_none(lab: str, tmp_path: Path) -> None:
    course = Course(tmp_path / "course", lab)
    assert course.command("grade") == 0
    course.hand_in("right", course.run(solved(course.release(), course.source())))
    course.hand_in("blank", course.run(course.release()))
    assert course.command("collect", "--from", str(course.inbox)) == 0
    assert course.command("grade") == 0
    full = sum(one.metadata.get("nbgrader", {}).get("points", 0) for one in course.source().cells)
    points = course.points()
    assert points["right"] == full
    assert points["blank"] < full / 2
    assert "HIDDEN TESTS" not in json.dumps(course.release())
