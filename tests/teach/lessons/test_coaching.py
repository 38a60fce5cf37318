"""Each exercise knows likely mistakes by name, and helps on step by step without giving itself away."""

import random
import re

import numpy as np
import pytest

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons import exercises as known
from jupyter_mlgpu.teach.lessons.checking import Exercise, judge
from jupyter_mlgpu.teach.lessons.coaching import STEPS, coaching
from jupyter_mlgpu.teach.lessons.exercises import coaching_of, exercises_of, modules

EXERCISES = {one.name: one for module in modules() for one in exercises_of(module)}
CODE = re.compile(r"\w\(|==| [*/+@-] |\bmin\b|\bmax\b|\blambda\b")


@pytest.fixture(params=sorted(EXERCISES))
def exercise(request):
    return EXERCISES[request.param]


def double(x):
    return 2 * x


@pytest.fixture
def doubling():
    def fresh(draw: random.Random):
        return {"x": np.array([draw.uniform(1, 9), 5.0])}

    return Exercise("double", say("return twice x"), double, {"x": np.array([1.0, 3.0])}, fresh)


HELP = coaching(
    hints=[say("How many times?"), say("Look at the factor."), say("The factor is 2.")],
    mistakes=[(say("You squared it."), lambda x: x**2), (say("You gave it back."), lambda x: x)],
)


def test_an_exercise_has_three_hints_and_names_two_or_three_mistakes(exercise):
    help_on = coaching_of(exercise.name)
    assert len(help_on.hints) == len(set(help_on.hints)) == STEPS
    assert len({one.named for one in help_on.mistakes}) == len(help_on.mistakes) in (2, 3)


def test_a_likely_mistake_is_rejected_and_told_by_its_name(exercise):
    help_on = coaching_of(exercise.name)
    for mistake in help_on.mistakes:
        verdict = judge(exercise, mistake.answer, help_on)
        assert verdict.state == "wrong", mistake.named
        assert verdict.sentences[1] == mistake.named


def test_no_question_and_no_first_hint_is_the_answer(exercise):
    assert not CODE.search(exercise.task)
    assert not CODE.search(coaching_of(exercise.name).hints[0])


def test_each_wrong_attempt_gets_one_hint_more_and_the_last_one_stays(doubling):
    def hints(attempt):
        verdict = judge(doubling, lambda x: x + 7, HELP, attempt)
        return [one for one in verdict.sentences if one.startswith("Hint")]

    assert hints(1) == ["Hint 1 of 3: How many times?"]
    assert hints(2) == ["Hint 2 of 3: Look at the factor."]
    assert hints(3) == hints(9) == ["Hint 3 of 3: The factor is 2."]


def test_a_mistake_that_only_agrees_by_chance_on_the_example_is_not_named(doubling):
    square_of_the_example = judge(doubling, lambda x: x**2, HELP)
    assert "You squared it." in square_of_the_example.sentences
    by_chance = judge(doubling, lambda x: x**2 if x[0] == 1 else x + 7, HELP)
    assert by_chance.state == "wrong"
    assert "You squared it." not in by_chance.sentences


def test_a_right_and_an_open_answer_need_no_hint(doubling):
    for answer in (double, None, lambda x: ...):
        assert not [one for one in judge(doubling, answer, HELP).sentences if one.startswith("Hint")]


def test_check_counts_the_wrong_attempts_of_each_exercise(monkeypatch):
    monkeypatch.setattr(known, "_wrong", type(known._wrong)())
    steps = [repr(known.check("images_per_joule", lambda rate, watts: rate + watts)) for _ in range(3)]
    assert [re.search(r"Hint (\d) of 3", one)[1] for one in steps] == ["1", "2", "3"]
    assert "Hint 1 of 3" in repr(known.check("large_enough", lambda batches, rates: 7))


@pytest.mark.parametrize(
    ("answer", "shapes"),
    [
        (lambda x: x + np.ones(5), "[2] / [5]"),
        (lambda x: np.ones((2, 3)) @ np.ones((2, 3)), "do not fit each other"),
        (lambda x: x.reshape(3, 3), "[3, 3]"),
    ],
)
def test_shapes_that_do_not_fit_are_told_in_our_own_words(doubling, answer, shapes):
    told = repr(judge(doubling, answer, HELP))
    assert "do not fit each other" in told
    assert shapes in told
    assert "ValueError" not in told
    assert "operand" not in told


def test_every_framework_s_words_for_shapes_that_do_not_fit_are_known(doubling):
    for words in (
        "Incompatible shapes: [2,3] vs. [5] [Op:AddV2]",
        "Matrix size-incompatible: In[0]: [2,3], In[1]: [2,3] [Op:MatMul]",
        "The size of tensor a (2) must match the size of tensor b (5) at non-singleton dimension 0",
        "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)",
        "add got incompatible shapes for broadcasting: (2,), (5,).",
    ):

        def stops(x, words=words):
            raise ValueError(words)

        assert "do not fit each other: [2" in repr(judge(doubling, stops, HELP)), words
