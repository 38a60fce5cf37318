"""`jupyter mlgpu class grade`: runs nbgrader to write grades, feedback and grades.csv.

Each student is graded by a separate run of nbgrader, so a notebook that cannot be graded affects only that
student. Students' code runs in a sandbox (`grading/`), or not at all.
"""

from __future__ import annotations

import csv
import io
import json
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from jupyter_mlgpu.jupyter.cli.progress import Progress, progress
from jupyter_mlgpu.jupyter.cli.terminal import complain, tell
from jupyter_mlgpu.record.errors import MlgpuError, UsageError
from jupyter_mlgpu.record.extras import require
from jupyter_mlgpu.record.files import write_atomically
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.record.visible import visible_line
from jupyter_mlgpu.teach.commands.collect import notebooks_of
from jupyter_mlgpu.teach.commands.through_nbgrader import make_release, nbgrader
from jupyter_mlgpu.teach.grading import feedback, probe
from jupyter_mlgpu.teach.grading.modules import require_modules
from jupyter_mlgpu.teach.grading.sandbox import SANDBOXES, SameUser, Sandbox

GRADES = "grades.csv"

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
class _Result:
    """The result of one student's run: the error if it failed, and open grades with reason and points."""

    failed: str | None = None
    left: dict[str, tuple[str, float]] = field(default_factory=dict)
    losses: list[str] = field(default_factory=list)

    @property
    def open_points(self) -> float:
        """The points that the teacher still has to decide."""
        return sum(points for _, points in self.left.values())


def grade(
    course: Path, lab: str, *, timeout: int, unsafe_same_user: bool = False, trust_receipts: bool = False
) -> int:
    """Grade all submissions of a lab, and return the exit status: 1 if one could not be graded."""
    names = notebooks_of(course, lab)
    require(say("Grading"), "classroom", "nbgrader")
    if timeout < 1:
        raise UsageError(f"--timeout needs at least 1 second: found {timeout}.")
    students = sorted(path.parent.name for path in (course / "submitted").glob(f"*/{lab}") if path.is_dir())
    if not students:
        raise UsageError(
            say(
                "Nothing was submitted for {lab} yet: `jupyter mlgpu class collect` puts it into {folder}; "
                "`jupyter mlgpu class release` makes what students get.",
                lab=lab,
                folder=course / "submitted",
            )
        )
    sandbox: Sandbox = SANDBOXES[SameUser.name]
    if not unsafe_same_user:
        handed_in = sorted((course / "submitted").glob(f"*/{lab}/*.ipynb"))
        sandbox = probe.find([course / "source" / lab / names[0], course / "gradebook.db", *handed_in[:1]])
    require_modules(sandbox, course / "source" / lab)
    options = [
        f"--RunApart.sandbox={sandbox.name}",
        f"--RunApart.seconds={timeout}",
        f"--RunApart.trust_receipts={trust_receipts}",
    ]
    show = progress()
    try:
        results = _grade_all(course, lab, students, options, show)
    finally:
        show.close()
    for line in _result_lines(course, lab, results):
        tell(line)
    print(f"Sandbox: {sandbox.title}.")
    if trust_receipts:
        print("Measurements are the students' own receipts: nothing was measured again.")
    for student, one in results.items():
        if one.failed:
            complain(f"{visible_line(student)} was not graded: {one.failed}")
    return 1 if any(one.failed for one in results.values()) else 0


def _grade_all(
    course: Path, lab: str, students: list[str], options: list[str], show: Progress
) -> dict[str, _Result]:
    """Run all steps of nbgrader, and return each student's result."""
    show.say(f"telling the gradebook of {lab}")
    make_release(course, lab)
    results: dict[str, _Result] = {}
    for number, student in enumerate(students, start=1):
        show.cell(number, len(students), student)
        results[student] = _grade_student(course, lab, student, options)
    graded = [student for student, one in results.items() if one.failed is None]
    if graded:
        show.say("writing feedback and grades")
        why = nbgrader(course, "generate_feedback", lab, "--force")
        if why:
            raise MlgpuError(f"nbgrader could not write the feedback: {why}")
        for page in sorted((course / "feedback").glob(f"*/{lab}/*.html")):
            write_atomically(page, feedback.make_inert(page.read_text("utf-8")).encode())
        why = nbgrader(course, "export", f"--to={GRADES}", f"--assignment=['{lab}']")
        if why:
            raise MlgpuError(f"nbgrader could not write the grades: {why}")
        _add_open_points(course / GRADES, results)
    return results


def _grade_student(course: Path, lab: str, student: str, options: list[str]) -> _Result:
    """Grade one student's submission with a separate run of nbgrader."""
    folder = course / "submitted" / student / lab
    # nbgrader would follow a link, and grade or return the file it leads to.
    linked = next((path for path in [folder.parent, folder, *folder.rglob("*")] if path.is_symlink()), None)
    if linked is not None:
        return _Result(f"{visible_line(linked)} is a link; have the file itself handed in.")
    with tempfile.TemporaryDirectory() as kept:
        results_file = Path(kept) / "told.json"
        why = nbgrader(
            course,
            "autograde",
            lab,
            "--create",
            "--force",
            f"--student={student}",
            f"--Autograde.autograde_preprocessors={list(_STEPS)}",
            f"--RunApart.told={results_file}",
            *options,
        )
        data = json.loads(results_file.read_bytes()) if results_file.exists() else {}
    left = {name: (reason, points) for name, (reason, points) in data.get("open", {}).items()}
    return _Result(data.get("failed") or why, left, data.get("losses", []))


def _add_open_points(grades: Path, results: dict[str, _Result]) -> None:
    """Add a column to nbgrader's table: points still open, which are not in its score."""
    with grades.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    table = io.StringIO()
    writer = csv.DictWriter(table, [*rows[0], "open_points"] if rows else ["open_points"])
    writer.writeheader()
    for row in rows:
        one = results.get(row["student_id"])
        writer.writerow({**row, "open_points": "" if one is None else f"{one.open_points:g}"})
    write_atomically(grades, table.getvalue().encode())


def _result_lines(course: Path, lab: str, results: dict[str, _Result]) -> list[str]:
    """Return a line per student from nbgrader's file, then the open decisions with their reasons."""
    if all(one.failed for one in results.values()):
        return []
    lines, reasons = [], []
    with (course / GRADES).open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            student = row["student_id"]
            if student not in results or results[student].failed is not None:
                continue
            one = results[student]
            points = f"{float(row['score']):g} of {float(row['max_score']):g} points"
            left = f", {one.open_points:g} more for you to give" if one.left else ""
            lines.append(f"{visible_line(student)}: {points}{left}")
            reasons += [
                f"  {visible_line(student)}, {name} ({points:g}): {why}"
                for name, (why, points) in one.left.items()
            ]
            reasons += [f"  {visible_line(student)}: {loss}" for loss in dict.fromkeys(one.losses)]
    if reasons:
        lines += [
            "What is left for you to give (nbgrader's formgrader lists it), and why:",
            *reasons,
        ]
    lines.append(
        f"{visible_line(course / GRADES)} has all grades, {visible_line(course / 'feedback')} what to "
        "give back."
    )
    return lines
