# ruff: noqa: RUF001 - Chinese has punctuation of its own
"""The Chinese labs: all that is text is Chinese, all that is graded is what the English labs grade."""

from __future__ import annotations

import ast
import json
import re

import lab_translations  # scripts/
import lesson_translations
import pytest
from tracked import tracked

from jupyter_mlgpu.teach.grading import cells
from tests.teach.lessons.test_words import CHINESE, found
from tests.teach.test_lab_tests import EVERY, LESSONS, told

CJK = re.compile(r"[\u4e00-\u9fff]")


@pytest.mark.parametrize("lab", EVERY)
def test_a_lab_is_translated_as_it_stands(lab):
    english, chinese = lab_translations.read("source", lab), lab_translations.read("zh", lab)
    assert lesson_translations.outdated(english, chinese) == []
    assert lab_translations.build(english, chinese) == chinese
    prose = [cell.source for cell in chinese.cells if cell.cell_type == "markdown"]
    assert [text for text in prose if not CJK.search(text)] == []
    assert found("\n".join(prose), CHINESE) == {}


@pytest.mark.parametrize("lab", EVERY)
def test_it_grades_the_same_cells_for_the_same_points_and_its_tests_do_the_same(lab):
    english, chinese = (
        json.loads((LESSONS / "labs" / folder / lab / f"{lab}.ipynb").read_text("utf-8"))
        for folder in ("source", "zh")
    )
    for one, other in zip(english["cells"], chinese["cells"], strict=True):
        assert one["metadata"].get("nbgrader") == other["metadata"].get("nbgrader")
    for one, other in zip(cells.teachers_cells(english), cells.teachers_cells(chinese), strict=True):
        if one.name != "load":
            assert without_messages(in_chinese(one.python)) == without_messages(other.python)


def in_chinese(code):
    """A cell whose plain messages are translated; those of its asserts are compared by themselves."""
    for english, chinese in lab_translations.messages().items():
        code = code.replace(f'"{english}"', f'"{chinese}"')
    return code


def without_messages(code):
    """What a cell does, whatever its tests say."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            node.msg = None
    return ast.unparse(tree)


@pytest.mark.parametrize("lab", EVERY)
def test_what_its_tests_say_is_chinese_and_names_the_same_values(lab):
    english, chinese = (lab_translations.read(folder, lab) for folder in ("source", "zh"))
    pairs = [
        (one, other)
        for cell, translated in zip(english.cells, chinese.cells, strict=True)
        if cell.cell_type == "code"
        for one, other in zip(asserts(cell.source), asserts(translated.source), strict=True)
    ]
    assert pairs
    assert [told(other) for _, other in pairs if not re.fullmatch(r"应为.+：.+。", told(other))] == []
    assert [told(one) for one, other in pairs if values(one) != values(other)] == []


def test_every_message_that_is_translated_is_said_by_a_test():
    code = "\n".join(cell.source for lab in EVERY for cell in lab_translations.read("source", lab).cells)
    assert [message for message in lab_translations.messages() if message not in code] == []


def asserts(code):
    """The messages of a cell's tests, in their order."""
    tree = ast.parse(cells.plain_python(code))
    return [node.msg for node in ast.walk(tree) if isinstance(node, ast.Assert)]


def values(message):
    """What a message fills in."""
    return sorted(ast.unparse(one) for one in ast.walk(message) if isinstance(one, ast.FormattedValue))


@pytest.mark.parametrize("lab", EVERY)
def test_its_head_says_how_long_it_takes_and_names_the_lessons_as_they_are_called(lab):
    head = lab_translations.read("zh", lab).cells[0].source
    (line,) = [one for one in head.split("\n") if one.startswith("**时间：** 大约 ")]
    named = re.findall(r"第 (\d+) 课《([^》]+)》", line)
    assert named
    for number, title in named:
        (path,) = tracked(LESSONS / "zh", f"{int(number):02d}_*.ipynb")
        first = "".join(json.loads(path.read_text("utf-8"))["cells"][0]["source"])
        assert first.startswith(f"# {number} · {title}\n")


def test_a_text_that_was_changed_is_told_and_a_lab_without_it_is_refused():
    english, chinese = lab_translations.read("source", EVERY[0]), lab_translations.read("zh", EVERY[0])
    english.cells[0].source += " More."
    assert lesson_translations.outdated(english, chinese) == ["question"]
    del chinese.cells[0]
    with pytest.raises(lesson_translations.TranslationError, match="question"):
        lab_translations.build(english, chinese)
