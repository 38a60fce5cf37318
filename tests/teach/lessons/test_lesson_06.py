"""Lesson 06: what its text says of slopes, counts and broken gradients holds in the saved notebook."""

import re

import numpy as np
import pytest

from jupyter_mlgpu.teach.lessons.exercises.lesson_06 import normalize_back, walk_back

PLOTLY = "application/vnd.plotly.v1+json"


@pytest.fixture(scope="module")
def lesson(saved_lesson):
    return saved_lesson("06")


def test_trying_and_the_tape_find_the_same_slope(lesson):
    assert lesson.shown("slope") == "by trying: 6.0\n"
    assert lesson.shown("walked").endswith("x * x by the tape: 6.0\n")


def test_every_gradient_has_the_shape_of_what_it_belongs_to(lesson):
    shapes = dict(re.findall(r"^(\w+) +(\(.*\))$", lesson.shown("network"), re.MULTILINE))
    found = dict(re.findall(r"'(\w+)': (\([^)]*\))", lesson.shown("automatic")))
    assert {name: found[name] for name in shapes if name != "loss"} == {
        name: shape for name, shape in shapes.items() if name != "loss"
    }
    assert [found[name] for name in ("w1", "b1", "w2", "b2")] == ["(3, 5)", "(5,)", "(5, 2)", "(2,)"]


def test_every_edge_by_hand_agrees_with_what_trying_finds(lesson):
    edges = "".join(lesson.shown(name) for name in ("first-edge", "second-layer", "first-layer"))
    named = re.findall(r"^(\w+): exact: (?:yes|no), approximate: yes, ", edges, re.MULTILINE)
    assert named == ["d_off", "d_out", "d_hidden", "d_w2", "d_b2", "d_before", "d_w1", "d_b1"]


def test_the_tape_agrees_with_what_trying_finds(lesson):
    named = re.findall(r"^the tape's (\w+): .* approximate: yes, ", lesson.shown("walked"), re.MULTILINE)
    assert named == ["d_w1", "d_b1", "d_w2", "d_b2"]


def test_both_passes_are_three_times_the_forward_pass_and_trying_is_twice_for_each_parameter(lesson):
    *_, passes, trying = lesson.shown("count").splitlines()
    alone, both, parameters = map(int, re.findall(r"\d+", passes))
    assert parameters == 32
    assert both == 3 * alone
    assert int(re.findall(r"\d+", trying)[0]) == 2 * parameters * alone


def test_both_passes_take_a_few_times_as_long_as_the_forward_pass(lesson):
    forward, both = (lesson.receipt(name).find("wall_time").value for name in ("way-there", "there-and-back"))
    assert f" {both / forward:.1f} times as long" in lesson.shown("receipts")
    assert 1.5 <= both / forward <= 4.5


def test_nothing_but_numpy_computes_before_the_frameworks_are_compared(lesson):
    assert not any(lesson.receipt(name).device.ran_on for name in ("automatic", "walked", "there-and-back"))
    compared = re.findall(r"^(\w+), d_\w+: .* approximate: (\w+)", lesson.shown("frameworks"), re.MULTILINE)
    missing = re.findall(r"^(\w+): not installed here$", lesson.shown("frameworks"), re.MULTILINE)
    assert {name for name, _ in compared} | set(missing) == {"tensorflow", "torch", "jax", "mlx"}
    assert {agrees for _, agrees in compared} == {"yes"}


def drawn(lesson, cell):
    """The lines of a cell's chart by their names."""
    outputs = lesson.cells[cell].outputs
    figure = next(one.data[PLOTLY] for one in outputs if PLOTLY in one.get("data", {}))
    return {one["name"]: dict(zip(one["x"], one["y"], strict=True)) for one in figure["data"]}


def test_learning_by_hand_needs_no_framework(lesson):
    losses = list(map(float, lesson.shown("descend").splitlines()[0].removeprefix("loss:").split()))
    assert losses == sorted(losses, reverse=True)
    assert not lesson.receipt("descend").device.ran_on


def test_broken_gradients_are_told_from_right_ones(lesson):
    assert "d_before, wrong sign: exact: no, approximate: no" in lesson.shown("break-sign")
    mean, first, not_summed, *_ = lesson.shown("break-sign").splitlines()
    assert "approximate: no" in mean
    assert "approximate: no" in first
    assert "gives shape [4, 2]; it should be [2]" in not_summed


def test_a_loss_falls_with_two_of_three_wrong_gradients(lesson):
    rows = re.findall(r"^(.*?) +loss: (\S+) (\S+) (\S+)$", lesson.shown("break-learn"), re.MULTILINE)
    falls = {name: float(first) > float(then) > float(last) for name, first, then, last in rows}
    assert falls == {"right": True, "mean": True, "not summed": True, "weights negated": False}


def test_the_losses_that_are_told_are_drawn_and_fall_evenly_in_the_end(lesson):
    told = map(float, lesson.shown("descend").splitlines()[0].removeprefix("loss:").split())
    (losses,) = drawn(lesson, "descend").values()
    assert [round(losses[step], 4) for step in (0, 10, 50, 199)] == list(told)
    assert len(losses) == 200
    ratios = [losses[step + 20] / losses[step] for step in (60, 100, 140, 179)]
    assert max(ratios) < 1.5 * min(ratios)


def test_the_picture_of_the_broken_gradients_is_left_by_the_negated_weights_alone(lesson):
    lines = drawn(lesson, "break-learn")
    assert list(lines) == ["right", "mean", "not summed", "weights negated"]
    assert len(lines.pop("weights negated")) < 10
    assert {len(points) for points in lines.values()} == {50}
    assert all(lines["not summed"][step] < lines["right"][step] for step in (10, 49))


def test_the_slope_through_layer_normalization_is_the_one_that_trying_finds():
    draw = np.random.default_rng(6)
    taken, d_result = draw.normal(size=(2, 3, 5))

    def loss(rows):
        result = (rows - rows.mean(axis=1, keepdims=True)) / rows.std(axis=1, keepdims=True)
        return (result * d_result).sum()

    little = 1e-6
    tried = np.zeros_like(taken)
    for place in np.ndindex(*taken.shape):
        step = np.zeros_like(taken)
        step[place] = little
        tried[place] = (loss(taken + step) - loss(taken - step)) / (2 * little)
    assert normalize_back(taken, d_result) == pytest.approx(tried, abs=1e-6)


def test_a_tape_of_any_function_gives_the_slope_that_trying_finds():
    x = 0.7
    y, z = x * x, np.sin(x * x)
    tape = [
        ("y", ["x", "x"], lambda d: [x * d, x * d]),
        ("z", ["y"], lambda d: [np.cos(y) * d]),
        ("w", ["z", "x"], lambda d: [x * d, z * d]),
    ]
    tried = (np.sin((x + 1e-6) ** 2) * (x + 1e-6) - np.sin((x - 1e-6) ** 2) * (x - 1e-6)) / 2e-6
    assert walk_back(tape, "w")["x"] == pytest.approx(tried, abs=1e-6)
