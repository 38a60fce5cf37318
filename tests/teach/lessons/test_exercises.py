"""Every exercise: its reference passes, its blank is open, and likely wrong answers are rejected with help.

The wrong answers of a lesson stand in wrong/lesson_NN.py, as `WRONG = {"name": [f, g, h]}`.
"""

import importlib.util
import random
from functools import cache
from pathlib import Path

import nbformat
import pytest
from tracked import tracked

from jupyter_mlgpu.teach.lessons import check
from jupyter_mlgpu.teach.lessons.exercises import exercises_of, modules
from jupyter_mlgpu.teach.lessons.values import Open, read

HERE = Path(__file__).parent
NOTEBOOKS = HERE.parents[2] / "notebooks"

EXERCISES = {one.name: one for module in modules() for one in exercises_of(module)}
MODULE = {one.name: module for module in modules() for one in exercises_of(module)}
#: They compile graphs at each answer; `test_coaching.py` asks each once in any run.
SLOW = ("pool", "scores")
#: How many likely mistakes are planted for each exercise, at least.
PLANTED = 3


@cache
def wrong_answers(module: str) -> dict[str, list]:
    path = HERE / "wrong" / f"{module}.py"
    spec = importlib.util.spec_from_file_location(f"wrong_{module}", path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded.WRONG


def has_something_to_look_at(verdict) -> bool:
    """A picture, or a table with a row: in HTML, and as text."""
    html = verdict._repr_html_()
    below = repr(verdict).splitlines()[len(verdict.sentences) + 1 :]
    return ("<img " in html or "<td" in html) and bool(below)


@pytest.fixture(
    params=[
        pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in sorted(EXERCISES)
    ]
)
def exercise(request):
    return EXERCISES[request.param]


def test_no_two_lessons_have_an_exercise_of_the_same_name():
    names = [one.name for module in modules() for one in exercises_of(module)]
    assert names
    assert len(names) == len(set(names))


def test_the_reference_is_right_each_time_it_is_asked(exercise):
    verdicts = [check(exercise.name, exercise.reference) for _ in range(3)]
    assert [one.state for one in verdicts] == ["right"] * 3, verdicts
    assert verdicts[0].answer is exercise.reference


def test_an_exercise_is_a_function_of_that_name_and_a_task_that_ends_a_sentence(exercise):
    assert exercise.reference.__name__ == exercise.name
    assert exercise.reference.__module__ == f"jupyter_mlgpu.teach.lessons.exercises.{MODULE[exercise.name]}"
    assert exercise.task
    assert not exercise.task.endswith(".")
    wanted = read(exercise.call(exercise.reference, exercise.example))
    assert not isinstance(wanted, Open)


@pytest.mark.parametrize("blank", ["dots", "nothing", "not a function", "none"])
def test_a_blank_is_open_and_shows_what_should_come(exercise, blank):
    blanks = {
        "dots": lambda *arguments: ...,
        "nothing": lambda *arguments: None,
        "not a function": ...,
        "none": None,
    }
    verdict = check(exercise.name, blanks[blank])
    assert verdict.state == "open"
    assert has_something_to_look_at(verdict)
    assert "Until it is right, the cells below use the reference answer." in repr(verdict)
    assert verdict.answer is exercise.reference


@pytest.mark.parametrize("module", modules())
def test_at_least_three_wrong_answers_are_planted_for_each_exercise(module):
    names = {one.name for one in exercises_of(module)}
    wrong = wrong_answers(module)
    assert set(wrong) == names
    assert all(len(answers) >= PLANTED for answers in wrong.values())


def test_every_planted_wrong_answer_is_rejected_with_something_to_look_at(exercise):
    for wrong in wrong_answers(MODULE[exercise.name])[exercise.name]:
        verdict = check(exercise.name, wrong)
        told = f"{wrong.__name__}: {verdict!r}"
        assert verdict.state == "wrong", told
        assert has_something_to_look_at(verdict), told
        assert len(verdict.sentences) >= 3, told
        assert verdict.answer is exercise.reference


def test_fresh_arguments_have_the_names_of_the_example_and_differ_from_draw_to_draw(exercise):
    draws = [exercise.fresh(random.Random(seed)) for seed in range(8)]
    assert all(list(one) == list(exercise.example) for one in draws)
    assert len({repr(list(one.values())) for one in draws}) > 1


def test_every_exercise_has_its_blank_in_its_lesson():
    for name, module in MODULE.items():
        (path,) = tracked(NOTEBOOKS, f"{module.removeprefix('lesson_')}_*.ipynb")
        sources = [
            cell.source
            for cell in nbformat.read(path, 4).cells
            if cell.cell_type == "code" and "exercise" in cell.metadata.get("tags", [])
        ]
        assert any(f"def {name}(" in source for source in sources), f"{path.name} has no blank for {name}"
