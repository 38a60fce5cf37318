"""Judging answers: right, still open, or not yet, with what to look at, and never an error."""

import random
import sys

import pytest

from jupyter_mlgpu.record.errors import MissingPackageError, UsageError
from jupyter_mlgpu.teach.lessons import check
from jupyter_mlgpu.teach.lessons.checking import Exercise, judge


def double(values):
    return [2 * value for value in values]


def fresh(draw: random.Random):
    return {"x": [draw.uniform(1, 9), draw.uniform(1, 9)]}


DOUBLE = Exercise("double", "return twice each number", double, {"x": [1, 50]}, fresh)


def test_a_right_answer_is_called_right_and_used_from_then_on():
    def mine(values):
        return [value + value for value in values]

    verdict = judge(DOUBLE, mine)
    assert verdict.state == "right"
    assert verdict.answer is mine
    assert "Right" in repr(verdict)


def test_an_open_answer_shows_what_should_come_and_lends_the_reference():
    verdict = judge(DOUBLE, lambda values: None)
    assert verdict.state == "open"
    assert verdict.answer is double
    assert repr(verdict).splitlines() == [
        "○ Still open.",
        "double returns nothing yet.",
        "The task: return twice each number.",
        "Until it is right, the cells below use the reference answer.",
        "x   yours  should be",
        "1   ?      2",
        "50  ?      100",
    ]


def test_wrong_numbers_are_shown_beside_the_right_ones_with_a_bar_for_each_difference():
    verdict = judge(DOUBLE, lambda values: [values[0] * 2, values[1]])
    assert verdict.state == "wrong"
    assert verdict.answer is double
    assert repr(verdict).splitlines()[-3:] == [
        "x   yours  should be  difference",
        "1   2      2          +0",
        "50  50     100        -50 ████████",
    ]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda values: [2, 100], "wrong numbers"),  # knows the example, and nothing else
        (lambda values: [2 * value for value in values[:1]], "gives shape [1]; it should be [2]"),
        (lambda values: [float("nan")] * 2, "wrong numbers"),
        (lambda values: [float("inf")] * 2, "wrong numbers"),
        (lambda values: values[7], "stopped with IndexError: list index out of range"),
        (lambda: [], "stopped with TypeError"),
        ("twice", "stopped with TypeError: 'str' object is not callable"),
    ],
)
def test_a_wrong_answer_is_found_out_without_raising(answer, said):
    verdict = judge(DOUBLE, answer)
    assert verdict.state == "wrong"
    assert said in verdict.sentences[0]


def test_each_check_draws_other_numbers():
    seen = set()

    def spy(values):
        seen.add(tuple(values))
        return double(values)

    for _ in range(5):
        judge(DOUBLE, spy)
    assert len(seen) == 1 + 5 * 3


def test_an_answer_that_writes_into_its_inputs_spoils_them_for_nobody():
    def in_place(values):
        for place, value in enumerate(values):
            values[place] = 2 * value
        return values

    assert judge(DOUBLE, in_place).state == "right"
    assert DOUBLE.example == {"x": [1, 50]}


def test_an_error_is_told_with_the_line_it_happened_in():
    def divides(values):
        return [value / 0 for value in values] if len(values) > 9 else values[0] / 0

    assert "in the line 'return [value / 0 for value" in judge(DOUBLE, divides).sentences[0]


def test_three_dots_left_in_an_answer_leave_it_open_and_dots_in_an_index_do_not():
    def half_done(values):
        factor = ...
        return [value * factor for value in values]

    def quiet(values):
        total = ...
        return values if total else []

    def sliced(values):
        import numpy as np

        return np.array(values)[..., None]

    verdict = judge(DOUBLE, half_done)
    assert verdict.state == "open"
    assert verdict.sentences[0] == "double still has three dots in it."
    unfinished = judge(DOUBLE, quiet)
    assert unfinished.state == "open"
    assert unfinished.shown == verdict.shown, "three dots count as true: what they give is an accident"
    assert judge(DOUBLE, sliced).state == "wrong"


def test_three_dots_in_a_list_are_shown_in_the_places_of_your_values():
    def unfinished(values):
        return [... for _ in values]

    verdict = judge(DOUBLE, unfinished)
    assert verdict.state == "open"
    assert repr(verdict).splitlines()[-2:] == ["1   ?      2", "50  ?      100"]


@pytest.mark.parametrize("blank", [..., None])
def test_an_answer_that_is_not_even_a_function_yet_is_open(blank):
    verdict = judge(DOUBLE, blank)
    assert verdict.state == "open"
    assert repr(verdict).splitlines()[-2:] == ["1   ?      2", "50  ?      100"]


def test_an_interrupt_is_not_taken_for_a_wrong_answer():
    def interrupted(values):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        judge(DOUBLE, interrupted)


def test_the_html_of_a_verdict_escapes_what_the_answer_says():
    def hostile(values):
        raise ValueError("<script>alert(1)</script>")

    html = judge(DOUBLE, hostile)._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


def test_an_unknown_exercise_is_refused_in_a_sentence_that_names_the_known_ones():
    with pytest.raises(UsageError, match=r"no exercise 'add_four'.*add_three"):
        check("add_four", double)


def test_without_the_framework_of_an_exercise_the_learner_is_told_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setitem(sys.modules, "tensorflow", None)
    with pytest.raises(MissingPackageError, match=r"needs the package tensorflow.*jupyter_mlgpu\[lessons\]"):
        check("add_three", lambda x, y, z: x + y + z)
