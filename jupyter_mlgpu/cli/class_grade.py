"""nbgrader, headless: the student's version of a lab, grades, feedback and grades.csv.

nbgrader runs as a program of its own. Each student is graded by a run of their own, so one notebook that
cannot be graded costs that student's grade alone.
"""

from __future__ import annotations

import csv
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

from jupyter_mlgpu.cli.class_collect import notebooks_of
from jupyter_mlgpu.cli.progress import Progress, progress
from jupyter_mlgpu.errors import MissingPackageError, MlgpuError, UsageError

GRADES = "grades.csv"

# A line of nbgrader's log, or the last one of a traceback: the one that says what happened.
_ERROR = re.compile(r"\| ERROR\] (?!Traceback)|^\w[\w.]*(Error|Exception): ")


def grade(course: Path, lab: str, *, timeout: int) -> int:
    """Grade all submissions of a lab; returns the exit status, 1 where one could not be graded."""
    notebooks_of(course, lab)
    if importlib.util.find_spec("nbgrader") is None:
        raise MissingPackageError(
            "Grading needs nbgrader, which is not installed here; "
            "run `pip install 'jupyter_mlgpu[classroom]'`."
        )
    if timeout < 1:
        raise UsageError(f"--timeout needs at least 1 second: found {timeout}.")
    students = sorted(path.parent.name for path in (course / "submitted").glob(f"*/{lab}") if path.is_dir())
    show = progress()
    try:
        failed = _all(course, lab, students, timeout, show)
    finally:
        show.close()
    for line in _grades(course, lab, students, failed):
        print(line)
    for student, why in failed.items():
        print(f"jupyter mlgpu: {student} was not graded: {why}", file=sys.stderr)
    return 1 if failed else 0


def _all(course: Path, lab: str, students: list[str], timeout: int, show: Progress) -> dict[str, str]:
    """Every step of nbgrader; returns the students that could not be graded, and why."""
    show.say(f"making the student's version of {lab}")
    why = _nbgrader(course, "generate_assignment", lab, "--force", "--create")
    if why:
        raise MlgpuError(f"nbgrader could not make the student's version of {lab}: {why}")
    failed = {}
    for number, student in enumerate(students, start=1):
        show.cell(number, len(students), student)
        words = ("--create", "--force", f"--student={student}", f"--Execute.timeout={timeout}")
        why = _nbgrader(course, "autograde", lab, *words)
        if why:
            failed[student] = why
    if len(failed) < len(students):
        show.say("writing feedback and grades")
        why = _nbgrader(course, "generate_feedback", lab, "--force")
        if why:
            raise MlgpuError(f"nbgrader could not write the feedback: {why}")
        why = _nbgrader(course, "export", f"--to={GRADES}", f"--assignment=['{lab}']")
        if why:
            raise MlgpuError(f"nbgrader could not write the grades: {why}")
    return failed


def _nbgrader(course: Path, *words: str) -> str | None:
    """Run one of nbgrader's commands in the course's folder; None, or the last thing it said of an error."""
    programs = str(Path(sys.executable).parent)  # where nbgrader looks for alembic
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', '')}"}
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *words],
        cwd=course,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
    )
    if done.returncode == 0:
        return None
    said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    errors = [line for line in said if _ERROR.search(line)] or said
    return errors[-1] if errors else f"it ended with status {done.returncode} and no message."


def _grades(course: Path, lab: str, students: list[str], failed: dict[str, str]) -> list[str]:
    """A line a student, from the file that nbgrader wrote."""
    if not students:
        return [
            f"The student's version is in {course / 'release' / lab}. Nothing was submitted for {lab} yet."
        ]
    lines = []
    if len(failed) < len(students):
        with (course / GRADES).open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                if row["student_id"] in students and row["student_id"] not in failed:
                    points = f"{float(row['score']):g} of {float(row['max_score']):g}"
                    lines.append(f"{row['student_id']}: {points} points")
        lines.append(f"{course / GRADES} has all grades, {course / 'feedback'} what to give back.")
    return lines
