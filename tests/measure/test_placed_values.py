"""Which values a cell names, and how those that stay on another device are told of."""

import functools
from collections import Counter

import pytest

from jupyter_mlgpu.jupyter.notebook.cell.named_values import LIMIT, named_values
from jupyter_mlgpu.measure.frameworks.placed_values import LIMIT as MOST
from jupyter_mlgpu.measure.frameworks.placed_values import (
    PlacedValue,
    contained_values,
    misplaced_among,
    misplaced_note_of,
    pronoun,
)
from jupyter_mlgpu.measure.selection import DeviceSelection
from jupyter_mlgpu.measure.user_objects import attributes
from jupyter_mlgpu.record.device_request import DeviceWord
from jupyter_mlgpu.testing import FakeBackend


def names(code: str, namespace: dict) -> list[str]:
    return list(named_values(code, namespace))


def test_the_names_in_a_cells_code_are_found_in_their_order():
    assert names("model.fit(x, y)\nprint(z)", {"x": 1, "model": 2, "unused": 3}) == ["model", "x"]


def test_a_name_that_is_only_given_to_a_result_is_left_out():
    namespace = {"x": 1, "y": 2, "z": 3, "w": 4}
    assert names("y = x + 1\nz, w = y, x", namespace) == ["y", "x"]
    assert names("y += 1\nif x == z: pass\nf(w=1)", namespace) == ["y", "x", "z", "w"]


def test_a_name_after_a_dot_is_no_name_of_the_notebook():
    assert names("self.model.fit()", {"model": 1}) == []


def test_what_functions_of_the_notebook_name_counts_also_through_others_and_within():
    namespace: dict = {"model": 1, "rate": 2, "other": 3}
    exec(  # as a cell defines them: their globals are the notebook's names
        "def step():\n    return model\n"
        "def train():\n    def inner():\n        return rate\n    return step, inner\n",
        namespace,
    )
    assert names("train()", namespace) == ["train", "step", "rate", "model"]


def test_a_function_under_a_decorator_that_keeps_it_is_looked_into():
    namespace: dict = {"model": 1}
    exec("def step():\n    return model\n", namespace)

    class Compiled:
        pass

    compiled = Compiled()
    functools.update_wrapper(compiled, namespace["step"])
    assert names("compiled()", {**namespace, "compiled": compiled}) == ["compiled"]  # another notebook's
    namespace["compiled"] = compiled
    assert names("compiled()", namespace) == ["compiled", "model"]


def test_a_function_of_a_library_is_not_looked_into():
    assert names("wraps", {"wraps": functools.wraps, "partial": 1, "update_wrapper": 2}) == ["wraps"]


def test_no_attribute_of_the_users_objects_is_asked_for():
    class Untouchable:
        def __getattribute__(self, name):
            raise SystemExit(name)

    assert names("it", {"it": Untouchable()}) == ["it"]


def test_only_so_many_names_are_looked_at():
    many = {f"name_{number}": number for number in range(LIMIT + 50)}
    assert len(named_values(" ".join(many), many)) == LIMIT


def test_containers_are_looked_into_a_few_levels_deep_and_only_plain_ones():
    class Mine(list):
        def __iter__(self):
            raise SystemExit("asked")

    mine = Mine()
    values = {"deep": {"a": [1, (2, 3)], "b": 4}, "too deep": [[[[5]]]], "mine": [mine], "alone": 6}
    assert {name: held for name, held, _ in contained_values(values)} == {
        "deep": [1, 2, 3, 4],
        "too deep": [],
        "mine": [mine],
        "alone": [6],
    }


def test_a_long_list_is_cut_and_does_not_hide_what_stands_after_it():
    values = {"numbers": list(range(1_000_000)), "model": "a model"}
    assert [(name, len(held), cut) for name, held, cut in contained_values(values)] == [
        ("model", 1, False),
        ("numbers", MOST - 1, True),
    ]


def test_an_objects_own_attributes_are_read_past_its_class():
    class Model:
        def __init__(self):
            self.layer = 1

        def __getattribute__(self, name):
            raise SystemExit(name)

    made = object.__new__(Model)
    object.__setattr__(made, "layer", 1)
    assert attributes(made) == {"layer": 1}
    assert attributes(3) == {}


MODEL = PlacedValue("model", Counter({"cpu:0": 14}), "weights")
X = PlacedValue("x", Counter({"cpu:0": 1}), None)


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        ([MODEL], "The 14 weights of `model` live on cpu:0, not on gpu:0"),
        ([X], "`x` lives on cpu:0, not on gpu:0"),
        ([MODEL, X], "The 14 weights of `model` and `x` live on cpu:0, not on gpu:0"),
        ([X, X, X, X, X], "`x`, `x`, `x` and 2 more live on cpu:0, not on gpu:0"),
        (
            [PlacedValue("m", Counter({"cpu:0": 2, "gpu:0": 3}), "weights")],
            "2 of the 5 weights of `m` live on cpu:0, not on gpu:0",
        ),
        (
            [PlacedValue("m", Counter({"cpu:0": 1}), "weights")],
            "The 1 weight of `m` lives on cpu:0, not on gpu:0",
        ),
        (
            [PlacedValue("m", Counter({"cpu:0": 400}), "weights", cut=True)],
            "At least 400 weights of `m` live on cpu:0, not on gpu:0",
        ),
        (
            [MODEL, PlacedValue("y", Counter({"gpu:1": 1}), None)],
            "The 14 weights of `model` and `y` live on cpu:0, gpu:1, not on gpu:0",
        ),
    ],
)
def test_what_stays_is_told_with_its_place(found, sentence):
    assert misplaced_note_of(found, "gpu:0") == sentence


def test_what_is_already_there_is_not_told():
    assert misplaced_among([MODEL, PlacedValue("y", Counter({"gpu:0": 2}), "weights")], "gpu:0") == [MODEL]


def test_a_remedy_that_names_the_first_moves_the_first():
    assert (pronoun([X]), pronoun([MODEL, X])) == ("it", "the first")


def test_each_framework_is_asked_about_its_own_device_and_one_that_fails_is_left_out():
    class Broken(FakeBackend):
        def misplaced_note(self, values, device):
            raise RuntimeError("private interface gone")

    backend, broken = FakeBackend(devices=("cpu:0", "gpu:0")), Broken("broken", ("cpu:0", "gpu:0"))
    backend.misplaced_values["model"] = "cpu:0"
    selection = DeviceSelection(lambda: [broken, backend])
    selection.select(DeviceWord.parse("gpu"))
    said = selection.stays({"model": 1, "x": 2}, selection.devices())
    assert said == ["model on cpu:0, not on gpu:0."]
    selection.select(DeviceWord.parse("cpu"))
    assert selection.stays({"model": 1}, selection.devices()) == []
