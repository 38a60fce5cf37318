"""Lesson 07: what its text says of the saved run is so."""

import re
from pathlib import Path

import nbformat
import pytest

LESSONS = Path(__file__).resolve().parents[3] / "notebooks"


@pytest.fixture(scope="module")
def cells():
    return {one.id: one for one in nbformat.read(LESSONS / "07_a_cnn.ipynb", 4).cells}


def shown(cell):
    return "\n".join(one.get("text") or one.data["text/plain"] for one in cell.outputs)


def row(cell, name):
    """The figures of a table's row, without its percent signs."""
    line = next(line for line in shown(cell).splitlines() if line.startswith(name))
    return [float(one.rstrip("%").replace(",", "")) for one in re.findall(r"[\d.,]+%?", line)]


def test_it_says_which_data_was_used(cells):
    assert shown(cells["data"]).startswith("Data: scikit-learn's digits")


def test_the_drawing_in_the_text_is_the_example_of_the_check(cells):
    assert "0·1 + 0·2 + 0·3 + 1·4 = 4" in cells["picture-says"].source
    assert re.search(r"\[0, 0\]\s+\?\s+4\n", shown(cells["convolve-check"]))


def test_by_hand_and_by_keras_are_the_same_and_maps_move_with_the_digit(cells):
    for name in ("same", "shift"):
        assert "approximate: yes" in shown(cells[name])


def test_the_counted_parameters_are_those_of_keras(cells):
    assert "a convolution: 80 parameters, and Keras counts 80\n" in shown(cells["count"])
    assert "a dense layer: 4,245,280 parameters, " in shown(cells["count"])


def test_convolutions_are_right_as_often_with_a_third_of_the_parameters(cells):
    (parameters, right), (dense_parameters, dense_right) = (
        row(cells["train"], name) for name in ("convolutions", "dense")
    )
    assert parameters < dense_parameters / 3
    assert right > dense_right - 2


def test_moved_digits_cost_the_dense_network_far_more(cells):
    windows, dense = (row(cells["break"], name) for name in ("convolutions", "dense"))
    # The table has the numbers 1, 2 and 2 in its header alone.
    assert windows[0] - windows[2] < 5 < dense[0] - dense[2]
    assert windows[0] - windows[3] < 10 < dense[0] - dense[3]


def test_the_published_rates_are_the_published_seconds_and_their_source_is_linked(cells):
    assert "(https://github.com/SixQuant/tensorflow-macos-gpu) reports" in cells["epoch-strips-read"].source
    rows = re.findall(r"\| ([\d.]+) \| ([\d,]+) \|", cells["epoch-strips-read"].source)
    assert [seconds for seconds, _ in rows] == ["168.2", "147.7", "45.9"]
    for seconds, rate in rows:
        assert round(55_000 / float(seconds)) == int(rate.replace(",", ""))


def test_what_is_learned_from_gets_ever_better_and_what_is_held_back_turns_round(cells):
    """Both lines of the curves: where their lowest loss is, and that of the last epoch."""
    found = re.findall(
        r"^(learned from|held back) +lowest (\S+) after epoch (\d+), (\S+) at the end$",
        shown(cells["curves"]),
        re.MULTILINE,
    )
    (learned, *seen), (held_back, *later) = found
    assert (learned, held_back) == ("learned from", "held back")
    epochs = int(re.search(r"epochs=(\d+)", cells["curves"].source)[1])
    assert int(seen[1]) > 0.9 * epochs
    assert int(later[1]) < epochs / 2
    assert float(later[2]) > 1.05 * float(later[0]) > 10 * float(seen[2])
