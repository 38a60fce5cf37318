"""nbgrader, as a program of its own in the course's folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from jupyter_mlgpu.record.errors import MlgpuError
from jupyter_mlgpu.record.sentence import say

# A line of nbgrader's log, or the last one of a traceback: the one that says what happened.
_ERROR = re.compile(r"\| ERROR\] (?!Traceback)|^\w[\w.]*(Error|Exception): ")


def nbgrader(course: Path, *words: str) -> str | None:
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


def make_release(course: Path, lab: str) -> None:
    """Write the students' version of a lab, in the place of an earlier one, and tell the gradebook of it.

    Raises MlgpuError with what nbgrader says against it.
    """
    why = nbgrader(course, "generate_assignment", lab, "--force", "--create")
    if why:
        raise MlgpuError(
            say("nbgrader could not make the students' version of {lab}: {why}", lab=lab, why=why)
        )
