"""The lessons' helpers that need no framework: predictions and pictures of graphs."""

import re
import subprocess
import sys
from dataclasses import dataclass, field

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.record.errors import MissingPackageError
from jupyter_mlgpu.record.reading import Reading, missing
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import Sentence
from jupyter_mlgpu.teach.lessons import engines, picture, predict
from jupyter_mlgpu.teach.lessons.graphs import Operation, drawing
from jupyter_mlgpu.testing import example_record, limited_record


def test_a_prediction_comes_back_beside_what_came(capsys):
    guess = predict("How many legs has a spider?", 6)
    assert "Your prediction: 6" in capsys.readouterr().out
    guess.compare(8)
    assert capsys.readouterr().out == (
        "How many legs has a spider?\nYou predicted 6; it was 8: 1.3 times too low.\n"
    )
    predict("How many legs has a spider?", 8).compare(8)
    assert "You predicted 8, and so it was." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("guess", "actual", "told"),
    [
        (13, 104, "You predicted 13; it was 104: 8 times too low."),
        (2, 1, "You predicted 2; it was 1: 2 times too high."),
        (1000, 5, "You predicted 1000; it was 5: 200 times too high."),
        (100, 104, "You predicted 100; it was 104: less than 5 % off."),
        (0, 104, "You predicted 0; it was 104. What follows explains why."),
        ("float32", "bfloat16", "You predicted float32; it was bfloat16. What follows explains why."),
    ],
)
def test_two_numbers_are_compared_as_a_ratio_and_other_things_are_not(capsys, guess, actual, told):
    predict("How many?", guess).compare(actual)
    assert capsys.readouterr().out.splitlines()[-1] == told


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


#: 80 GFLOP in 2 s, and 20 GB: 40 % of the machine's own product, 10 % of its memory's bandwidth.
UNDER_THE_ROOF = {
    "flops": (80 * 10**9, "FLOP"),
    "flop_rate": (40e9, "FLOP/s"),
    "flop_share": (0.4, "of the roof"),
    "bytes_of_large_calls": (20 * 10**9, "bytes"),
    "byte_rate": (10e9, "bytes/s"),
    "byte_share": (0.1, "of the roof"),
}


def placed(without=(), more=(), record=None) -> Record:
    told = {name: one for name, one in UNDER_THE_ROOF.items() if name not in without}
    readings = [Reading(name, value, unit, "cell", "clock", 1) for name, (value, unit) in told.items()]
    found = record or limited_record()
    return replace(found, mode="profiled", readings=(*found.readings, *readings, *more))


def judged(capsys, guess, record) -> list[str]:
    prediction = predict("How many seconds?", guess)
    capsys.readouterr()
    prediction.judge(record)
    question, *lines = capsys.readouterr().out.splitlines()
    assert question == "How many seconds?"
    return lines


@pytest.mark.parametrize(
    ("guess", "told"),
    [
        (0.87, "You predicted 870 ms; the light runs took 2 s: 2.3 times too low."),
        (3, "You predicted 3 s; the light runs took 2 s: 1.5 times too high."),
        (1e-3, "You predicted 1 ms; the light runs took 2 s: 2,000 times too low."),
        (2.05, "You predicted 2.05 s; the light runs took 2 s: less than 5 % off."),
        (..., "The light runs took 2 s. You wrote no prediction this time."),
        (0, "The light runs took 2 s. Your prediction, 0, is not a number of seconds above 0."),
        ("much", ("The light runs took 2 s. Your prediction, much, is not a number of seconds above 0.")),
    ],
)
def test_a_guess_of_seconds_is_judged_as_a_ratio_to_the_light_runs(capsys, guess, told):
    assert judged(capsys, guess, placed())[0] == told


def test_the_receipt_says_what_its_roof_allows_by_the_nearer_of_the_two_and_what_limits_the_cell(capsys):
    assert judged(capsys, 2, placed())[1:] == [
        "The roof in the receipt allows 800 ms; the cell reached 40 % of the roof.",
        "Waited 86 % of the time: the GPU had 2.0 s of work in 14.7 s.",
    ]
    nearer_to_memory = placed(without=["flop_share"])
    assert "allows 200 ms; the cell reached 10 % of the roof" in judged(capsys, 2, nearer_to_memory)[1]


def test_seconds_follow_from_bytes_where_no_operations_were_counted(capsys):
    without = [name for name in UNDER_THE_ROOF if name.startswith("flop")]
    assert "took 2 s: 2 times too low" in judged(capsys, 1, placed(without))[0]


def test_what_a_receipt_lacks_is_said_and_judges_nothing(capsys):
    not_here = missing("flop_share", Sentence("Not measured here."))
    shares = [name for name in UNDER_THE_ROOF if name.endswith("share")]
    assert judged(capsys, 1, placed(shares, [not_here]))[:2] == [
        "You predicted 1 s; the light runs took 2 s: 2 times too low.",
        "Not measured here.",
    ]
    no_light_run = missing("flop_rate", Sentence("Run it light."))
    rates = [name for name in UNDER_THE_ROOF if name != "flops"]
    assert judged(capsys, 1, placed(rates, [no_light_run]))[0] == "Run it light."
    counted = judged(capsys, 1, placed(UNDER_THE_ROOF, record=example_record()))
    assert counted[0] == "No operations were counted: run the cell with `%%mlc_trace --ops --shapes`."


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
    assert '<img src="data:image/svg+xml;base64,' in html
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
    with pytest.raises(MissingPackageError, match=r"needs the package ipyparallel, .*\[lessons\]"):
        engines(2)
