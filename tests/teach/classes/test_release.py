"""The students' version of every lab, made by nbgrader itself: nothing of a solution is in it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from jupyter_mlgpu.jupyter.cli import main
from jupyter_mlgpu.teach.packaged import LABS

pytestmark = pytest.mark.needs("nbgrader")

EVERY = list(LABS)

#: What stands between the marks of a solution, or of hidden tests.
CLOSED = re.compile(r"### BEGIN (SOLUTION|HIDDEN TESTS)\n(.*?)\s*### END \1", re.DOTALL)


def cells(path: Path) -> list[tuple[str, bool]]:
    """The text of each cell, and whether a person grades it as an answer: nbgrader replaces all of it."""
    found = []
    for one in json.loads(path.read_text("utf-8"))["cells"]:
        told = one["metadata"].get("nbgrader", {})
        found.append(("".join(one["source"]), bool(told.get("solution") and told.get("grade"))))
    return found


def lines(texts: Iterable[str]) -> set[str]:
    """Those that say more than `break` does."""
    return {line.strip() for text in texts for line in text.split("\n") if len(line.strip()) > 12}


@pytest.fixture(scope="module", params=["en", "zh"])
def course(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A teacher's new course in a language, after its labs were released."""
    folder = tmp_path_factory.mktemp("class") / "course"
    assert main(["class", "release", str(folder), "--language", request.param]) == 0
    return folder


def test_a_new_course_has_every_lab_for_its_teacher_and_for_its_students(course: Path) -> None:
    for place in ("source", "release"):
        assert sorted(path.name for path in (course / place).iterdir()) == EVERY
    assert sorted(path.name for path in (course / "release").rglob("*") if path.is_file()) == [
        f"{lab}.ipynb" for lab in EVERY
    ]


@pytest.mark.parametrize("lab", EVERY)
def test_no_text_of_a_solution_or_of_a_hidden_test_is_in_what_students_get(course: Path, lab: str) -> None:
    source = cells(course / "source" / lab / f"{lab}.ipynb")
    closed = lines(match[2] for text, _ in source for match in CLOSED.finditer(text))
    in_words = lines(text for text, is_in_words in source if is_in_words)
    opened = lines(CLOSED.sub("", text) for text, is_in_words in source if not is_in_words)
    secret = (closed | in_words) - opened
    assert len(secret) >= 10
    assert in_words
    release = course / "release" / lab / f"{lab}.ipynb"
    given = release.read_text("utf-8")
    assert [line for line in secret if json.dumps(line, ensure_ascii=False)[1:-1] in given] == []
    assert "SOLUTION" not in given
    assert "HIDDEN TESTS" not in given
    # What is asked is there.
    assert opened <= lines(text for text, _ in cells(release))
    assert "raise NotImplementedError()" in given
    assert "YOUR ANSWER HERE" in given
