"""Runs nbgrader as a separate program in the course's folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from jupyter_mlgpu.record.errors import MlgpuError
from jupyter_mlgpu.record.sentence import say

# An error line of nbgrader's log, or the last line of a traceback.
_ERROR = re.compile(r"\| ERROR\] (?!Traceback)|^\w[\w.]*(Error|Exception): ")


def nbgrader(course: Path, *words: str, keep_open: Sequence[int] = ()) -> str | None:
    """Run an nbgrader command in the course's folder; return its error message, or None.

    `keep_open` are descriptors of files that it gets, too.
    """
    programs = str(Path(sys.executable).parent)  # nbgrader searches here for alembic
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', '')}"}
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *words],
        cwd=course,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        pass_fds=keep_open,
    )
    if done.returncode == 0:
        return None
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    errors = [line for line in lines if _ERROR.search(line)] or lines
    return errors[-1] if errors else f"it ended with status {done.returncode} and no message."


def make_release(course: Path, lab: str) -> None:
    """Write the students' version of a lab, replacing an earlier one, and add it to the gradebook.

    Raises MlgpuError with nbgrader's error message.
    """
    why = nbgrader(course, "generate_assignment", lab, "--force", "--create")
    if why:
        raise MlgpuError(
            say("nbgrader could not make the students' version of {lab}: {why}", lab=lab, why=why)
        )
