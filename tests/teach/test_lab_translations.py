# ruff: noqa: RUF001 - Chinese has punctuation of its own
"""The Chinese labs: all that is text is Chinese, all that is graded is what the English labs grade."""

from __future__ import annotations

import ast
import json
import re

import pytest
from tracked import tracked

from jupyter_mlgpu.teach.grading import cells
from jupyter_mlgpu.teach.lessons import shipped
from tests.teach.test_lab_tests import EVERY, LESSONS, told

CJK = re.compile(r"[\u4e00-\u9fff]")
#: How a message begins that a test says elsewhere than in an assert.
MESSAGES = ("The peak memory was not measured", "那台机器没有测量峰值内存")


def read(lab, language):
    (path,) = [one for one in shipped.labs(language) if one.parent.name == lab]
    return json.loads(shipped.content(path))


def both(lab):
    """The lab as it stands in English, and in Chinese."""
    return read(lab, "en"), read(lab, "zh")


def source(cell):
    return "".join(cell["source"])


@pytest.mark.parametrize("lab", EVERY)
def test_all_prose_of_a_lab_is_chinese(lab):
    prose = [source(cell) for cell in read(lab, "zh")["cells"] if cell["cell_type"] == "markdown"]
    assert [text for text in prose if not CJK.search(text)] == []


@pytest.mark.parametrize("lab", EVERY)
def test_it_grades_the_same_cells_for_the_same_points_and_its_tests_do_the_same(lab):
    english, chinese = both(lab)
    for one, other in zip(english["cells"], chinese["cells"], strict=True):
        assert one["metadata"].get("nbgrader") == other["metadata"].get("nbgrader")
    for one, other in zip(cells.teachers_cells(english), cells.teachers_cells(chinese), strict=True):
        if one.name != "load":
            assert without_messages(one.python) == without_messages(other.python)


def without_messages(code):
    """What a cell does, whatever its tests say."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            node.msg = None
        elif isinstance(node, ast.Constant) and str(node.value).startswith(MESSAGES):
            node.value = "a message"
    return ast.unparse(tree)


@pytest.mark.parametrize("lab", EVERY)
def test_what_its_tests_say_is_chinese_and_names_the_same_values(lab):
    english, chinese = (notebook["cells"] for notebook in both(lab))
    pairs = [
        (one, other)
        for cell, translated in zip(english, chinese, strict=True)
        if cell["cell_type"] == "code"
        for one, other in zip(asserts(source(cell)), asserts(source(translated)), strict=True)
    ]
    assert pairs
    assert [told(other) for _, other in pairs if not re.fullmatch(r"应为.+：.+。", told(other))] == []
    assert [told(one) for one, other in pairs if values(one) != values(other)] == []


def asserts(code):
    """The messages of a cell's tests, in their order."""
    tree = ast.parse(cells.plain_python(code))
    return [node.msg for node in ast.walk(tree) if isinstance(node, ast.Assert)]


def values(message):
    """What a message fills in."""
    return sorted(ast.unparse(one) for one in ast.walk(message) if isinstance(one, ast.FormattedValue))


@pytest.mark.parametrize("lab", EVERY)
def test_its_head_says_how_long_it_takes_and_names_the_lessons_as_they_are_called(lab):
    head = source(read(lab, "zh")["cells"][0])
    (line,) = [one for one in head.split("\n") if one.startswith("**时间：** 大约 ")]
    named = re.findall(r"第 (\d+) 课《([^》]+)》", line)
    assert named
    for number, title in named:
        (path,) = tracked(LESSONS / "zh", f"{int(number):02d}_*.po")
        assert f'msgstr ""\n"# {number} · {title}\\n"\n' in path.read_text("utf-8")
