"""The lessons' helpers that need no framework: predictions and pictures of graphs."""

import re
import subprocess
import sys
from dataclasses import dataclass, field

import pytest

from jupyter_mlgpu.record.errors import MissingPackageError
from jupyter_mlgpu.teach.lessons import engines, picture, predict
from jupyter_mlgpu.teach.lessons.graphs import Operation, drawing


def test_a_prediction_comes_back_beside_what_came(capsys):
    guess = predict("How many legs has a spider?", 6)
    assert "Your prediction: 6" in capsys.readouterr().out
    guess.compare(8)
    assert capsys.readouterr().out == (
        "How many legs has a spider?\nYou predicted 6; it was 8. What follows says why.\n"
    )
    predict("How many legs has a spider?", 8).compare(8)
    assert "You predicted 8, and so it was." in capsys.readouterr().out


@pytest.mark.parametrize("blank", [..., None])
def test_a_prediction_left_open_is_asked_for_and_does_no_harm(capsys, blank):
    guess = predict("How many legs has a spider?", blank)
    assert "No prediction yet" in capsys.readouterr().out
    guess.compare(8)
    assert "It was 8. You wrote no prediction this time." in capsys.readouterr().out


def test_a_prediction_that_cannot_be_compared_is_shown_all_the_same(capsys):
    class Tensor:
        def __eq__(self, other):
            raise ValueError

    predict("How many legs has a spider?", Tensor()).compare(8)
    assert "it was 8" in capsys.readouterr().out


@dataclass
class FakeOperation:
    name: str
    type: str
    inputs: list["FakeTensor"] = field(default_factory=list)


@dataclass
class FakeTensor:
    op: FakeOperation


@dataclass
class FakeFunction:
    """A compiled function whose graph is itself."""

    operations: list[FakeOperation]

    @property
    def graph(self):
        return self

    def get_operations(self):
        return self.operations


def sum_of_two() -> FakeFunction:
    x, y = FakeOperation("x", "Placeholder"), FakeOperation("y", "Placeholder")
    return FakeFunction([x, y, FakeOperation("<add>", "AddV2", [FakeTensor(x), FakeTensor(y)])])


def test_a_picture_says_in_words_what_it_draws():
    assert repr(picture(sum_of_two())).splitlines() == [
        "A graph of 3 operations, from left to right:",
        "  x (Placeholder)",
        "  y (Placeholder)",
        "  <add> (AddV2) takes x and y",
    ]


def test_a_picture_draws_a_box_for_each_operation_and_an_arrow_for_each_thing_taken():
    svg = picture(sum_of_two()).svg
    assert svg.count('rx="4"') == 3
    assert svg.count('<path d="M') == 2
    assert "&lt;add&gt;" in svg
    assert "<add>" not in svg


def test_a_picture_stands_in_the_page_as_an_image_with_its_words_as_alternative():
    html = picture(sum_of_two())._repr_html_()
    assert html.startswith('<img src="data:image/svg+xml;base64,')
    assert "&lt;add&gt; (AddV2) takes x and y" in html


def test_an_operation_stands_to_the_right_of_all_it_takes():
    chain = [Operation("a", "A", ()), Operation("b", "B", ("a",)), Operation("c", "C", ("a", "b"))]
    svg = drawing(chain).svg
    left_edges = [int(x) for x in re.findall(r'<rect class="(?:given|shared)" x="(\d+)"', svg)]
    assert len(left_edges) == 3
    assert left_edges == sorted(set(left_edges))


def test_importing_the_lessons_imports_neither_numpy_nor_a_framework():
    code = "import sys, jupyter_mlgpu.lessons; print({'numpy', 'tensorflow', 'keras'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_engines_without_ipyparallel_are_refused_in_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "ipyparallel", None)
    with pytest.raises(MissingPackageError, match="pip install ipyparallel"):
        engines(2)
