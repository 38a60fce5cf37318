"""How far the lessons are is counted in the saved notebooks, as the sidebar counts it in an open one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tracked import tracked

from jupyter_mlgpu.record import language
from jupyter_mlgpu.teach.lessons import checking, shipped
from jupyter_mlgpu.teach.lessons.counting import LessonProgress, count_progress, progress

TESTS = Path(__file__).parents[1]
NOTEBOOKS = TESTS.parent / "notebooks"
CASES = json.loads((TESTS / "data" / "progress.json").read_text("utf-8"))


def cell(code, *shown):
    outputs = [{"output_type": "execute_result", "data": {"text/plain": text}} for text in shown]
    return {"cell_type": "code", "source": code, "outputs": outputs}


def write(path, *cells, title="# 1 · One"):
    heading = {"cell_type": "markdown", "source": f"{title}\n\nText."}
    path.write_text(json.dumps({"cells": [heading, *cells]}), encoding="utf-8")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["of"])
def test_progress_is_counted_as_the_sidebar_counts_it(case):
    found = count_progress(cell(one["code"], *one["shown"]) for one in case["cells"])
    assert found == (None if case["progress"] is None else LessonProgress(*case["progress"].values()))


@pytest.mark.parametrize("chosen", ["en", "zh"])
def test_what_check_says_begins_with_the_sign_that_is_counted(chosen, monkeypatch):
    monkeypatch.setattr(language, "_language", chosen)
    first = {state: repr(checking.Verdict(state, (), (), None)) for state in ("right", "open", "wrong")}
    assert {state: text[0] for state, text in first.items()} == {"right": "✓", "open": "○", "wrong": "✗"}


def test_the_saved_solutions_have_all_checks_passed_and_the_lessons_have_none():
    for path in tracked(NOTEBOOKS / "solutions", "*.ipynb"):
        cells = json.loads(path.read_text("utf-8"))["cells"]
        found = count_progress(one for one in cells if one["cell_type"] == "code")
        assert found is not None
        assert found.passed == found.checks > 0, path.name
        lesson = json.loads((NOTEBOOKS / path.name).read_text("utf-8"))["cells"]
        begun = count_progress(one for one in lesson if one["cell_type"] == "code")
        assert begun is not None
        assert (begun.checks, begun.passed, begun.predictions_made) == (found.checks, 0, 0), path.name


def test_a_folder_of_lessons_is_a_table_with_its_sum_in_one_sentence(tmp_path, monkeypatch):
    write(
        tmp_path / "01_one.ipynb",
        cell('check("add_three", f)', "✓ Right."),
        cell('predict("How many?", 3)'),
    )
    write(tmp_path / "02_two.ipynb", cell('check("roof", f)', "✗ Not yet."), title="# 2 · Two")
    write(tmp_path / "notes.ipynb", cell('check("notes", f)', "✓ Right."))
    monkeypatch.chdir(tmp_path)
    shown = progress()
    assert shown.lessons == {"1 · One": LessonProgress(1, 1, 1, 1), "2 · Two": LessonProgress(1, 0, 0, 0)}
    text = repr(shown)
    assert text.startswith("1 of 2 checks passed, 1 of 1 prediction made in this folder's lessons, as")
    assert [line.split() for line in text.splitlines() if "One" in line or "Two" in line] == [
        ["1", "·", "One", "1", "of", "1", "1", "of", "1"],
        ["2", "·", "Two", "0", "of", "1"],
    ]


def test_in_a_chinese_folder_it_speaks_chinese(tmp_path, monkeypatch):
    monkeypatch.setattr(language, "_language", "zh")
    lesson = Path("zh/02_adding_tensors.ipynb")
    (tmp_path / lesson.name).write_bytes(shipped.content(lesson))
    monkeypatch.chdir(tmp_path)
    (title,) = progress().lessons
    assert title.startswith("2 · ")
    assert "检查" in repr(progress())


def test_a_notebook_that_cannot_be_read_is_named_and_costs_its_own_line_alone(tmp_path, monkeypatch):
    write(tmp_path / "01_one.ipynb", cell('check("add_three", f)', "✓ Right."))
    (tmp_path / "02_cut.ipynb").write_text('{"cells": [', encoding="utf-8")
    (tmp_path / "03_list.ipynb").write_text("[1]", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert list(progress().lessons) == ["1 · One"]
    assert "02_cut.ipynb is not a notebook" in repr(progress())


def test_where_there_are_no_lessons_it_says_how_to_get_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "`jupyter mlgpu lessons my-lessons` copies them" in repr(progress())
