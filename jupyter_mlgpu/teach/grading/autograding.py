"""Replacements of two nbgrader preprocessors: students' cells run in a sandbox, the tests outside.

nbgrader finds the two classes by name (`teach/commands/grade.py` passes the names). It reads the submitted
notebook and restores the lab's own text in each cell that is not the student's. Points, feedback and export
remain nbgrader's.
"""

from __future__ import annotations

import copy
import fcntl
import json
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import nbformat
from nbgrader import utils
from nbgrader.preprocessors import NbGraderPreprocessor, SaveAutoGrades
from traitlets import Bool, Float, Integer, Unicode

from jupyter_mlgpu.record.errors import MlgpuError, UsageError
from jupyter_mlgpu.record.files import write_atomically
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.grading import cells
from jupyter_mlgpu.teach.grading.cells import TeachersCell
from jupyter_mlgpu.teach.grading.judge import Judge
from jupyter_mlgpu.teach.grading.limits import Limits
from jupyter_mlgpu.teach.grading.measure import Measured
from jupyter_mlgpu.teach.grading.sandbox import SANDBOXES
from jupyter_mlgpu.teach.grading.schedule import Schedule
from jupyter_mlgpu.teach.grading.student import Student, students_for
from jupyter_mlgpu.teach.lessons import labs
from jupyter_mlgpu.teach.lessons.labs import Measurements, Submitted
from jupyter_mlgpu.teach.submissions import read

#: Keys in nbgrader's resources: the grades that the teacher has to decide, and the file with the results.
OPEN = "jupyter_mlgpu_open"
RESULTS_FILE = "jupyter_mlgpu_results_file"

_BY_HAND = say("an answer in words is graded by hand")


class RunApart(NbGraderPreprocessor):  # type: ignore[misc]
    """Runs a submission's cells in a sandbox, and the lab's tests in this process."""

    sandbox = Unicode(help="which of our sandboxes: its name").tag(config=True)
    seconds = Float(600.0, help="the longest that a cell may take").tag(config=True)
    most_seconds = Float(1200.0, help="the longest that a notebook may take").tag(config=True)
    at_once = Integer(1, help="how many submissions are graded at the same time").tag(config=True)
    shared = Unicode(help="a folder shared with those that are graded at the same time").tag(config=True)
    gradebook = Integer(help="a descriptor of the file whose lock the gradebook's user holds").tag(
        config=True
    )
    trust_receipts = Bool(False, help="take measurements from the receipts as they were handed in").tag(
        config=True
    )
    results_file = Unicode(help="the JSON file for open points and errors").tag(config=True)

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Grade one notebook; nbconvert calls this in the course's folder."""
        try:
            # Others may use the gradebook meanwhile.
            fcntl.flock(self.gradebook, fcntl.LOCK_UN)
            try:
                return self._grade_notebook(nb, resources)
            finally:
                fcntl.flock(self.gradebook, fcntl.LOCK_EX)
        except MlgpuError as error:
            self._add_results(failed=str(error))
            raise

    def _grade_notebook(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        course, of = Path.cwd(), resources["nbgrader"]
        source = course / "source" / of["assignment"]
        file = f"{of['notebook']}.ipynb"
        of_source = nbformat.read(source / file, 4)  # type: ignore[no-untyped-call]
        teachers = cells.teachers_cells(of_source)
        _add_missing(nb, of_source, teachers)
        handed_in = course / "submitted" / of["student"] / of["assignment"]
        left: dict[str, str] = {}
        with ExitStack() as ends:
            schedule = ends.enter_context(Schedule(self.most_seconds, Path(self.shared)))
            students = students_for(
                SANDBOXES[self.sandbox],
                seconds=self.seconds,
                handed_in=handed_in,
                lab=source,
                limits=Limits.of_this_machine(self.at_once),
                schedule=schedule,
            )
            student, apart = map(ends.enter_context, students)
            judge = Judge(student, source, seconds=self.seconds, now=schedule.now)
            if self.trust_receipts:
                answer = _receipts(handed_in, course / "autograded" / of["student"] / of["assignment"])
            else:
                answer = _measuring(Measured(teachers, student, apart, schedule.measuring))
            ends.enter_context(labs.graded_by(answer))
            _grade(nb, teachers, student, apart, judge, left)
            losses = student.losses
        left |= {name: str(_BY_HAND) for name in _in_words(nb)}
        resources[OPEN], resources[RESULTS_FILE] = set(left), self.results_file
        self._add_results(open={name: [why, _points(nb, name)] for name, why in left.items()}, losses=losses)
        return nb, resources

    def _add_results(self, **what: Any) -> None:
        """Add to the results file; a lab may have several notebooks."""
        path = Path(self.results_file)
        results = (
            json.loads(path.read_bytes()) if path.exists() else {"open": {}, "losses": [], "failed": None}
        )
        results["open"].update(what.get("open", {}))
        results["losses"] += what.get("losses", [])
        results["failed"] = results["failed"] or what.get("failed")
        write_atomically(path, json.dumps(results).encode())


class SaveGrades(SaveAutoGrades):  # type: ignore[misc]
    """Saves points as nbgrader does, except for open grades.

    An open grade has no points until the teacher sets them. Points set by hand are kept.
    """

    def _add_score(self, cell: Any, resources: Any) -> None:
        super()._add_score(cell, resources)
        name = cell.metadata["nbgrader"]["grade_id"]
        if name in resources.get(OPEN, ()):
            grade = self.gradebook.find_grade(name, self.notebook_id, self.assignment_id, self.student_id)
            grade.auto_score = None
            if grade.manual_score is None:
                grade.needs_manual_grade = True
            else:
                _no_longer_open(Path(resources[RESULTS_FILE]), name)
            self.gradebook.db.commit()


def _no_longer_open(results_file: Path, name: str) -> None:
    data = json.loads(results_file.read_bytes())
    data["open"].pop(name, None)
    write_atomically(results_file, json.dumps(data).encode())


def _in_words(nb: Any) -> list[str]:
    """Return the written answers, which only a person can grade; an empty one gets no points."""
    return [
        cell.metadata["nbgrader"]["grade_id"]
        for cell in nb.cells
        if utils.is_grade(cell)
        and utils.is_solution(cell)
        and cell.metadata["nbgrader"].get("checksum") != utils.compute_checksum(cell)
    ]


def _grade(
    nb: Any,
    teachers: list[TeachersCell],
    student: Student,
    apart: Student,
    judge: Judge,
    left: dict[str, str],
) -> None:
    """Run all cells in the submission's order; before each test, the lab's own cells above it."""
    known = {cell.name: cell for cell in teachers}
    waiting = [cell for cell in teachers if cell.role == "given"]
    order = {cell.name: number for number, cell in enumerate(teachers)}
    seen: set[str] = set()
    for cell in nb.cells:
        if cell.cell_type != "code":
            continue
        cell.execution_count = None
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        of_teacher = known.get(name) if name not in seen else None
        if of_teacher is not None:
            seen.add(name)
        if of_teacher is None or of_teacher.role != "test":
            cell.outputs = _as_notebooks_have(student.run(cell.source))
            continue
        while waiting and order[waiting[0].name] < order[name]:
            given = waiting.pop(0)
            judge.give(given)
            if given.alone:
                apart.later(given.source)
        test_outputs, why = judge.test(of_teacher)
        cell.outputs = _as_notebooks_have(test_outputs)
        if why is not None:
            left[name] = why


def _as_notebooks_have(outputs: list[dict[str, Any]]) -> Any:
    return [nbformat.from_dict(one) for one in outputs]  # type: ignore[no-untyped-call]


def _add_missing(nb: Any, source: Any, teachers: list[TeachersCell]) -> None:
    """Insert the tests that a submission lacks, so that deleting a test does not pass it."""
    names = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in nb.cells]
    for cell, after in cells.missing([name for name in names if name], teachers):
        of_source = next(
            one for one in source.cells if one.metadata.get("nbgrader", {}).get("grade_id") == cell.name
        )
        again = copy.deepcopy(of_source)
        again.outputs, again.execution_count = [], None
        again.metadata.nbgrader["checksum"] = utils.compute_checksum(again)
        where = names.index(after) + 1 if after in names else len(names)
        nb.cells.insert(where, again)
        names.insert(where, cell.name)


def _points(nb: Any, name: str) -> float:
    metadata = (cell.metadata.get("nbgrader", {}) for cell in nb.cells)
    return next(float(one["points"]) for one in metadata if one.get("grade_id") == name)


def _measuring(measured: Measured) -> Callable[[str], Measurements]:
    return lambda notebook: measured


def _receipts(handed_in: Path, graded: Path) -> Callable[[str], Measurements]:
    """Return what `--trust-receipts` uses: the records in the submitted file."""

    def answer(notebook: str) -> Measurements:
        try:
            return Submitted(read(handed_in / notebook), read(graded / notebook))
        except UsageError as error:
            raise AssertionError(str(error)) from None

    return answer
