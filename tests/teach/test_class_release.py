"""`jupyter mlgpu class release`: it checks its output, and releases nothing if a solution remains."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil

import pytest

from jupyter_mlgpu.jupyter.cli import main
from jupyter_mlgpu.teach.commands import through_nbgrader
from jupyter_mlgpu.teach.grading import withheld
from jupyter_mlgpu.teach.lessons import shipped

LAB = "lab_1"
SOLUTION = "    return sum(numbers) / len(numbers)"
HIDDEN = "assert mean([2, 4]) == 3, 'the mean of 2 and 4'"


def cell(source, **told):
    return {"cell_type": "code", "metadata": {"nbgrader": told} if told else {}, "source": source}


def notebook(*cells):
    return json.dumps({"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


SOURCE = notebook(
    cell("import numpy as np\nnumbers = [1, 2, 3]"),
    cell(f"def mean(numbers):\n    ### BEGIN SOLUTION\n{SOLUTION}\n    ### END SOLUTION", solution=True),
    cell(
        f"assert mean([1]) == 1\n### BEGIN HIDDEN TESTS\n{HIDDEN}\n### END HIDDEN TESTS",
        grade=True,
        grade_id="mean-test",
    ),
    {
        "cell_type": "markdown",
        "metadata": {"nbgrader": {"solution": True, "grade": True, "grade_id": "why"}},
        "source": "A sum takes each number once, so does the mean.",
    },
)


class FakeNbgrader:
    """Puts files into the release, as nbgrader's generate_assignment does, whatever is in the source."""

    def __init__(self, files):
        self.files = files
        self.asked = []

    def __call__(self, course, *words):
        self.asked.append(words)
        made = course / "release" / words[1]
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir(parents=True)
        for name, text in self.files.items():
            (made / name).write_text(text)


@pytest.fixture
def course(tmp_path):
    folder = tmp_path / "course" / "source" / LAB
    folder.mkdir(parents=True)
    (folder / "lab_1.ipynb").write_text(SOURCE)
    return tmp_path / "course"


@pytest.fixture
def released(monkeypatch):
    """Runs the command over a course, with an nbgrader that makes these files."""

    def run(course, *words, **files):
        find = importlib.util.find_spec
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: name == "nbgrader" or find(name))
        fake = FakeNbgrader({name.replace("__", "."): text for name, text in files.items()})
        monkeypatch.setattr(through_nbgrader, "nbgrader", fake)
        return main(["class", "release", str(course), *words]), fake

    return run


CLEAN = notebook(cell("def mean(numbers):\n    # YOUR CODE HERE\n    raise NotImplementedError()"))


def test_what_is_withheld_are_solutions_hidden_tests_and_answers_in_words():
    kept = withheld.lines(json.loads(SOURCE))
    assert kept == {SOLUTION.strip(), HIDDEN, "A sum takes each number once, so does the mean."}


def test_a_line_that_stands_in_an_open_part_too_gives_nothing_away():
    twice = notebook(cell("from math import fsum"), cell("from math import fsum", solution=True))
    assert withheld.lines(json.loads(twice)) == set()


def test_a_clean_release_is_called_ready_and_its_place_is_told(course, released, capsys):
    status, fake = released(course, lab_1__ipynb=CLEAN)
    said = capsys.readouterr().out
    assert status == 0
    assert fake.asked == [("generate_assignment", LAB, "--force", "--create")]
    assert "1 lab is ready for students, without solution and hidden tests: lab_1." in said
    assert f"Give out what is in {course / 'release'}." in said


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("lab_1__ipynb", notebook(cell(f"def mean(numbers):\n{SOLUTION}")), SOLUTION.strip()),
        ("lab_1__ipynb", notebook({**cell("pass"), "outputs": [{"text": [f"{HIDDEN}\n"]}]}), HIDDEN),
        ("answers__py", f"def mean(numbers):\n{SOLUTION}\n", SOLUTION.strip()),
        ("notes__txt", "### BEGIN SOLUTION\n", "### BEGIN SOLUTION"),
    ],
    ids=["in a cell", "in an output", "in a file beside it", "a mark that was left"],
)
def test_a_release_that_gives_something_away_is_refused_and_not_left_there(
    course, released, capsys, name, text, told
):
    status, _ = released(course, **{"lab_1__ipynb": CLEAN, name: text})
    said = capsys.readouterr().err
    assert status == 2
    assert f"{name.replace('__', '.')} of lab_1 would give a solution or a hidden test to students" in said
    assert told in re.sub(r"\\'", "'", said)
    assert not (course / "release" / LAB).exists()


def test_a_file_that_is_no_text_is_handed_out_as_it_is(course, released):
    status, _ = released(course, lab_1__ipynb=CLEAN, data__npy="\x93NUMPY\x00")
    assert status == 0
    assert (course / "release" / LAB / "data.npy").is_file()


def test_a_course_without_labs_begins_with_ours(tmp_path, released, capsys):
    course = tmp_path / "new"
    status, fake = released(course, lab__ipynb=CLEAN)
    ours = [path.parent.name for path in shipped.labs("en")]
    assert status == 0
    assert [words[1] for words in fake.asked] == ours
    for path in shipped.labs("en"):
        copy = course / path.relative_to("labs")
        assert copy.read_bytes() == shipped.content(path)
    said = capsys.readouterr().out
    assert f"Copied {len(ours)} labs to {course / 'source'}, with their solutions" in said


def test_a_chinese_course_begins_with_the_chinese_labs(tmp_path, released):
    released(tmp_path, "--language", "zh", lab__ipynb=CLEAN)
    assert sorted(path.name for path in (tmp_path / "source").iterdir()) == [
        path.parent.name for path in shipped.labs("en")
    ]
    for path in shipped.labs("zh"):
        copy = tmp_path / "source" / path.parent.name / path.name
        assert "实验" in copy.read_text("utf-8")


def test_a_course_with_labs_of_its_own_is_given_none_of_ours(course, released, capsys):
    released(course, lab_1__ipynb=CLEAN)
    assert released(course, "--language", "zh", lab_1__ipynb=CLEAN)[0] == 2
    assert f"{course / 'source'} has labs already: leave out --language" in capsys.readouterr().err
    assert [path.name for path in (course / "source").iterdir()] == [LAB]


def test_one_lab_alone_is_made_when_it_is_named(course, released, capsys):
    other = course / "source" / "lab_2"
    shutil.copytree(course / "source" / LAB, other)
    assert released(course, "--lab", "lab_2", lab_2__ipynb=CLEAN)[1].asked[0][1] == "lab_2"
    assert not (course / "release" / LAB).exists()
    assert released(course, "--lab", "lab_9")[0] == 2
    assert "choose lab_1, lab_2." in capsys.readouterr().err


def test_what_nbgrader_refuses_is_said_in_its_own_words(course, monkeypatch, capsys, released):
    released(course, lab_1__ipynb=CLEAN)
    capsys.readouterr()
    monkeypatch.setattr(through_nbgrader, "nbgrader", lambda *words: "RuntimeError: no end of it")
    assert main(["class", "release", str(course)]) == 2
    said = capsys.readouterr().err
    assert "nbgrader could not make the students' version of lab_1: RuntimeError: no end of it" in said


def test_students_cannot_get_the_labs_with_their_solutions_from_the_lessons(tmp_path, capsys):
    assert main(["lessons", str(tmp_path)]) == 0
    assert not [path for path in tmp_path.rglob("*") if "lab" in path.name]
    assert main(["lessons", str(tmp_path), "--labs"]) == 2
    assert "--labs" in capsys.readouterr().err
