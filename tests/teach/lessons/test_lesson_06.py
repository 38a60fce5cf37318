"""Lesson 06: what its text says of slopes, counts and broken gradients holds in the saved notebook."""

import re

import pytest


@pytest.fixture(scope="module")
def lesson(saved_lesson):
    return saved_lesson("06")


def test_trying_and_tensorflow_find_the_same_slope(lesson):
    assert lesson.shown("slope") == "by trying: 6.0\nTensorFlow: 6.0\n"


def test_every_gradient_has_the_shape_of_what_it_belongs_to(lesson):
    shapes = dict(re.findall(r"^(\w+) +(\(.*\))$", lesson.shown("network"), re.MULTILINE))
    found = dict(re.findall(r"'(\w+)': (\([^)]*\))", lesson.shown("automatic")))
    assert {name: found[name] for name in shapes if name != "loss"} == {
        name: shape for name, shape in shapes.items() if name != "loss"
    }
    assert [found[name] for name in ("w1", "b1", "w2", "b2")] == ["(3, 5)", "(5,)", "(5, 2)", "(2,)"]


def test_every_edge_by_hand_agrees_with_the_automatic_gradient(lesson):
    edges = "".join(lesson.shown(name) for name in ("first-edge", "second-layer", "first-layer"))
    named = re.findall(r"^(\w+): exact: (?:yes|no), approximate: yes, ", edges, re.MULTILINE)
    assert named == ["d_off", "d_out", "d_hidden", "d_w2", "d_b2", "d_before", "d_w1", "d_b1"]


def test_there_and_back_is_about_three_times_the_way_there(lesson):
    there, both, weights = map(int, re.findall(r"\d+", lesson.shown("count").splitlines()[-1]))
    assert weights == 32
    assert 2.5 <= both / there <= 3.5
    ran = [lesson.operations(name) for name in ("way-there", "there-and-back")]
    assert list(map(int, re.findall(r": (\d+) operations ran", lesson.shown("receipts")))) == ran
    assert 2.5 <= ran[1] / ran[0] <= 3.5


def test_learning_by_hand_needs_no_framework(lesson):
    losses = list(map(float, lesson.shown("descend").removeprefix("loss:").split()))
    assert losses == sorted(losses, reverse=True)
    assert lesson.receipt("descend").device.ran_on == ()


def test_broken_gradients_are_told_from_right_ones(lesson):
    assert "approximate: no" in lesson.shown("break-sign")
    mean, first, not_summed = lesson.shown("break-sum").splitlines()
    assert "approximate: no" in mean
    assert "approximate: no" in first
    assert "gives shape [4, 2]; it should be [2]" in not_summed


def test_a_loss_falls_with_two_of_three_wrong_gradients(lesson):
    rows = re.findall(r"^(.*?) +loss: (\S+) (\S+) (\S+)$", lesson.shown("break-learn"), re.MULTILINE)
    falls = {name: float(first) > float(then) > float(last) for name, first, then, last in rows}
    assert falls == {"right": True, "mean": True, "not summed": True, "wrong sign": False}
