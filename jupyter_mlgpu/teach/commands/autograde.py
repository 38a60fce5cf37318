"""Grades the submissions of a lab, each by a separate run of nbgrader, several at the same time.

A notebook that cannot be graded affects only its student. nbgrader's gradebook has one user at a time: a run
holds the lock of a file while it uses it, and gives it up while the student's code runs.
"""

from __future__ import annotations

import fcntl
import json
import tempfile
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from jupyter_mlgpu.jupyter.cli.progress import Progress
from jupyter_mlgpu.record.visible import visible_line
from jupyter_mlgpu.teach.commands.through_nbgrader import nbgrader
from jupyter_mlgpu.teach.submissions import folders

# nbgrader's preprocessors of a notebook in this order; the first and the fifth are ours.
_STEPS = (
    "jupyter_mlgpu.teach.grading.autograding.RunApart",
    "nbgrader.preprocessors.IgnorePattern",
    "nbconvert.preprocessors.ClearMetadataPreprocessor",
    "nbgrader.preprocessors.LimitOutput",
    "jupyter_mlgpu.teach.grading.autograding.SaveGrades",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
)


@dataclass
class Result:
    """The result of one student's run: the error if it failed, and open grades with reason and points."""

    failed: str | None = None
    left: dict[str, tuple[str, float]] = field(default_factory=dict)
    losses: list[str] = field(default_factory=list)

    @property
    def open_points(self) -> float:
        """The points that the teacher still has to decide."""
        return sum(points for _, points in self.left.values())


class Autograding:
    """Grades submissions of one lab. `options` are those of nbgrader, and `at_once` run at the same time."""

    def __init__(self, course: Path, lab: str, options: Sequence[str], at_once: int, show: Progress) -> None:
        self._course, self._lab, self._options, self._at_once = course, lab, options, at_once
        self._show = show
        self._begun = 0
        self._running: list[str] = []
        self._one_at_a_time = threading.Lock()

    def grade(self, students: Sequence[str]) -> dict[str, Result]:
        """Grade the submissions of these students, and return each student's result."""
        with tempfile.TemporaryDirectory(prefix="mlgpu-grading-") as shared:
            pool = ThreadPoolExecutor(self._at_once)
            try:
                runs = {
                    student: pool.submit(self._grade_one, student, len(students), Path(shared))
                    for student in students
                }
                return {student: run.result() for student, run in runs.items()}
            finally:
                pool.shutdown(cancel_futures=True)

    def _grade_one(self, student: str, total: int, shared: Path) -> Result:
        with self._one_at_a_time:
            self._begun += 1
            self._running.append(student)
            self._show_running(total)
        try:
            return self._run_nbgrader(student, shared)
        finally:
            with self._one_at_a_time:
                self._running.remove(student)
                # Otherwise the next one begins now, and says so itself.
                if self._running and self._begun == total:
                    self._show_running(total)

    def _show_running(self, total: int) -> None:
        done = self._begun - len(self._running)
        self._show.cell(done + 1, total, ", ".join(self._running))

    def _run_nbgrader(self, student: str, shared: Path) -> Result:
        folder = self._course / "submitted" / student / self._lab
        # nbgrader would follow a link, and grade or return the file it leads to.
        linked = next(
            (path for path in [folder.parent, folder, *folder.rglob("*")] if path.is_symlink()), None
        )
        if linked is not None:
            return Result(f"{visible_line(linked)} is a link; have the file itself handed in.")
        packed = folders.archives(folder)
        if packed and not any(folder.glob("*.ipynb")):
            return Result(
                f"{visible_line(packed[0])} is an archive: unpack it, so that the notebook is in its folder."
            )
        with tempfile.TemporaryDirectory() as kept, (shared / "gradebook").open("ab") as gradebook:
            results_file = Path(kept) / "results.json"
            fcntl.flock(gradebook, fcntl.LOCK_EX)
            why = nbgrader(
                self._course,
                "autograde",
                self._lab,
                "--create",
                "--force",
                f"--student={student}",
                f"--Autograde.autograde_preprocessors={list(_STEPS)}",
                f"--RunApart.results_file={results_file}",
                f"--RunApart.shared={shared}",
                f"--RunApart.at_once={self._at_once}",
                f"--RunApart.gradebook={gradebook.fileno()}",
                *self._options,
                keep_open=[gradebook.fileno()],
            )
            data = json.loads(results_file.read_bytes()) if results_file.exists() else {}
        left = {name: (reason, points) for name, (reason, points) in data.get("open", {}).items()}
        return Result(data.get("failed") or why, left, data.get("losses", []))
