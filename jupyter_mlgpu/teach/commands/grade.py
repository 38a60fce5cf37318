"""`jupyter mlgpu class grade`: runs nbgrader to write grades, feedback and grades.csv.

Students' code runs in a sandbox (`grading/`), or not at all.
"""

from __future__ import annotations

import csv
import io
import sys
from operator import itemgetter
from pathlib import Path

from jupyter_mlgpu.jupyter.cli.progress import progress
from jupyter_mlgpu.jupyter.cli.terminal import complain, tell
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.errors import MlgpuError, UsageError
from jupyter_mlgpu.record.extras import require
from jupyter_mlgpu.record.files import write_atomically
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.record.visible import visible_line
from jupyter_mlgpu.teach.commands.autograde import Autograding, Result
from jupyter_mlgpu.teach.commands.collect import notebooks_of
from jupyter_mlgpu.teach.commands.report import GRADES
from jupyter_mlgpu.teach.commands.through_nbgrader import make_release, nbgrader
from jupyter_mlgpu.teach.grading import feedback, probe
from jupyter_mlgpu.teach.grading.limits import most_at_once
from jupyter_mlgpu.teach.grading.modules import require_modules
from jupyter_mlgpu.teach.grading.sandbox import SANDBOXES, SameUser, Sandbox

#: How many times `--timeout`, the longest that a cell may take, a whole submission may take.
_TIMES_A_CELL = 2

#: nbgrader's own preprocessors of feedback.
_FEEDBACK_STEPS = (
    "nbgrader.preprocessors.GetGrades",
    "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
)


def grade(
    course: Path,
    lab: str,
    *,
    timeout: int,
    unsafe_same_user: bool = False,
    trust_receipts: bool = False,
    show_hidden_tests: bool = False,
) -> int:
    """Grade all submissions of a lab, and return the exit status: 1 if one could not be graded.

    With `show_hidden_tests`, the feedback contains them.
    """
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
        f"--RunApart.most_seconds={_TIMES_A_CELL * timeout / len(names)}",
        f"--RunApart.trust_receipts={trust_receipts}",
    ]
    at_once = min(len(students), most_at_once())
    longest = say(
        "Grading takes at most {time} a student, {at_once} at once.",
        time=units.seconds(_TIMES_A_CELL * timeout),
        at_once=at_once,
    )
    print(longest, file=sys.stderr)
    show = progress()
    try:
        show.say(f"telling the gradebook of {lab}")
        make_release(course, lab)
        results = Autograding(course, lab, options, at_once, show).grade(students)
        if any(one.failed is None for one in results.values()):
            show.say("writing feedback and grades")
            _write_feedback(course, lab, show_hidden_tests)
            _write_grades(course, lab, results)
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


def _write_feedback(course: Path, lab: str, show_hidden_tests: bool) -> None:
    steps = [] if show_hidden_tests else ["jupyter_mlgpu.teach.grading.hidden.HideTests"]
    steps += _FEEDBACK_STEPS
    why = nbgrader(course, "generate_feedback", lab, "--force", f"--GenerateFeedback.preprocessors={steps}")
    if why:
        raise MlgpuError(f"nbgrader could not write the feedback: {why}")
    for page in sorted((course / "feedback").glob(f"*/{lab}/*.html")):
        write_atomically(page, feedback.make_inert(page.read_text("utf-8")).encode())


def _write_grades(course: Path, lab: str, results: dict[str, Result]) -> None:
    why = nbgrader(course, "export", f"--to={GRADES}", f"--assignment=['{lab}']")
    if why:
        raise MlgpuError(f"nbgrader could not write the grades: {why}")
    _add_open_points(course / GRADES, results)


def _add_open_points(grades: Path, results: dict[str, Result]) -> None:
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


def _result_lines(course: Path, lab: str, results: dict[str, Result]) -> list[str]:
    """Return a line per student from nbgrader's file, then the open decisions with their reasons."""
    if all(one.failed for one in results.values()):
        return []
    lines, reasons = [], []
    with (course / GRADES).open(encoding="utf-8", newline="") as file:
        for row in sorted(csv.DictReader(file), key=itemgetter("student_id")):
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
            "What is left for you to give, and why:",
            *reasons,
            f"To give these points, run `jupyter lab` in {visible_line(course)} and choose Nbgrader > "
            f"Formgrader in its menu. Then run `grade` again: it keeps your points and updates {GRADES}.",
        ]
    lines.append(
        f"{visible_line(course / GRADES)} has all grades, {visible_line(course / 'feedback')} what to "
        "give back."
    )
    return lines
