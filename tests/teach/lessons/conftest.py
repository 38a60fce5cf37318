"""The lessons' files, and running small notebooks under nbval."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from tracked import tracked

from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE
from jupyter_mlgpu.teach.lessons import shipped
from tests.support import lesson_figures

LESSONS = Path(__file__).resolve().parents[3] / "notebooks"


LEARNERS = tracked(LESSONS, "*.ipynb")
SOLUTIONS = tracked(LESSONS / "solutions", "*.ipynb")
#: The catalogues of the translated lessons, of which `read` assembles these.
TRANSLATED = tracked(LESSONS / "zh", "*.po")


@functools.cache
def read(path: Path):
    """A notebook of ours, read once for all tests: they look at it, and change nothing in it."""
    if path.suffix == ".po":
        path = path.relative_to(LESSONS).with_suffix(".ipynb")
        return nbformat.reads(shipped.content(path).decode(), 4)
    return nbformat.read(path, 4)


def name_of(path: Path) -> str:
    return path.relative_to(LESSONS).with_suffix("").as_posix()


@pytest.fixture(params=[*LEARNERS, *SOLUTIONS], ids=name_of)
def lesson_path(request):
    """The path of every notebook that was run, one after the other: learners' and solutions."""
    return request.param


@pytest.fixture
def lesson(lesson_path):
    """Every notebook, one after the other."""
    return read(lesson_path)


@pytest.fixture(params=LEARNERS, ids=name_of)
def learner_path(request):
    """The path of every learner's notebook, one after the other."""
    return request.param


@pytest.fixture
def learners_lesson(learner_path):
    """Every learner's notebook, one after the other."""
    return read(learner_path)


@pytest.fixture(params=SOLUTIONS, ids=name_of)
def solutions_path(request):
    """The path of the solutions of every lesson, one after the other."""
    return request.param


@pytest.fixture(params=TRANSLATED, ids=name_of)
def translated_path(request):
    """The path of the catalogue of every translated lesson, one after the other."""
    return request.param


@pytest.fixture
def english_lesson(translated_path):
    """The lesson of that catalogue."""
    return read(LESSONS / f"{translated_path.stem}.ipynb")


@pytest.fixture
def first_lesson():
    """The path of lesson 02."""
    return LESSONS / "02_adding_tensors.ipynb"


@pytest.fixture
def under_nbval(tmp_path):
    """Run a notebook under nbval as `make test` does, in a folder of its own.

    Gives pytest's exit status and the numbers of the cells that failed; without `conftest`, what leaves
    receipts out is not there.
    """

    def run(notebook, *, conftest: bool = True) -> tuple[int, set[int]]:
        path = tmp_path / "lesson.ipynb"
        nbformat.write(notebook, path)
        if conftest:
            shutil.copy(LESSONS / "conftest.py", tmp_path)
        options = [
            "--nbval-lax",
            "--nbval-current-env",
            "--nbval-cell-timeout",
            "300",
            "-p",
            "no:cacheprovider",
        ]
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *options, "-rf", "--color=no", path.name],
            cwd=tmp_path,
            env={key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")},
            capture_output=True,
            text=True,
        )
        failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
        return done.returncode, {int(line.split("::Cell ")[1].split()[0]) for line in failed}

    return run


class Saved:
    """The lesson whose file begins with these digits."""

    def __init__(self, number: str) -> None:
        (self.path,) = tracked(LESSONS, f"{number}_*.ipynb")
        self.cells = {cell.id: cell for cell in read(self.path).cells}

    def prose(self, name: str) -> str:
        """A cell of text, as a reader sees it."""
        return lesson_figures.without_marks(self.cells[name].source)

    def shown(self, name: str) -> str:
        """What a cell printed and gave back, as plain text, without its receipt."""
        outputs = [one for one in self.cells[name].outputs if MIME_TYPE not in one.get("data", {})]
        return "".join(one.get("text") or one.data["text/plain"] for one in outputs)

    def receipt(self, name: str) -> Record:
        """The record in a cell's receipt."""
        return Record.from_json(
            next(one.data[MIME_TYPE] for one in self.cells[name].outputs if MIME_TYPE in one.get("data", {}))
        )

    def operations(self, name: str) -> int:
        """How many operations a cell's receipt counts, on all devices together."""
        return sum(place.operations for place in self.receipt(name).device.ran_on)


@pytest.fixture(scope="session")
def saved_lesson():
    """A saved lesson by its number, to be read cell by cell: `saved_lesson("02")`."""
    return Saved
