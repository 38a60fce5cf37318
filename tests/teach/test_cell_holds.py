"""Receipts of a lesson's cells that compute nothing are folded; those of all others keep their line."""

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.record.record import HOLDS_ONLY, LogLine, Record
from jupyter_mlgpu.show.receipts import head, html, text
from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE, bundle
from jupyter_mlgpu.teach.cell_holds import holds, with_what_it_holds
from jupyter_mlgpu.teach.lessons import predict
from jupyter_mlgpu.testing import example_record

DEFINITION = "def shares(batch, engines):\n    return ...\n"
NAMES = {"predict": predict, "print": print}


def taking(seconds):
    """A record whose cell took so long."""
    example = example_record()
    readings = [
        replace(one, value=seconds) if one.quantity == "wall_time" else one for one in example.readings
    ]
    return replace(example, readings=tuple(readings), notes=(), logs=())


@pytest.fixture
def folded():
    return with_what_it_holds(taking(0.001), DEFINITION, NAMES)


@pytest.mark.parametrize(
    ("code", "held"),
    [
        (DEFINITION, "definitions"),
        (f"# Two of them.\n{DEFINITION}\n\n@staticmethod\ndef g(): ...\n\n\nclass C: ...\n", "definitions"),
        ('guess = predict("How many?", ...)', "a prediction"),
        ('predict("How many?", 3)', "a prediction"),
        (f"{DEFINITION}\nshares(1, 2)", None),
        ("x = 1", None),
        ('print("How many?", ...)', None),
        ("guess = forecast.predict(3)", None),
        ("%%px\n" + DEFINITION, None),
        ("", None),
    ],
)
def test_a_cell_holds_definitions_or_predictions_alone_or_it_computes(code, held):
    assert holds(code, NAMES) == held


def test_a_predict_of_the_users_own_is_no_prediction():
    assert holds("guess = predict(3)", {"predict": lambda x: x}) is None


def test_the_receipt_of_a_definition_is_closed_to_its_name_and_opens_to_its_figures(folded):
    drawn = html.receipt(folded)
    assert drawn.startswith('<details style="font-size:90%;opacity:.85"><summary>Receipt</summary>')
    assert f"<div>{head.of(folded).line}</div>" in drawn
    # A text has no folds.
    assert text.receipt(folded).startswith("[mlgpu] 1 ms")


def test_it_is_folded_again_when_it_is_drawn_from_its_saved_record(folded):
    saved = Record.from_json(bundle(folded)[MIME_TYPE])
    assert head.of(saved).folded
    assert bundle(saved) == bundle(folded)


def test_a_definition_that_takes_its_time_keeps_its_line():
    record = taking(2.0)
    assert with_what_it_holds(record, DEFINITION, NAMES) is record


@pytest.mark.parametrize(
    "changes",
    [
        {"outcome": "error"},
        {"notes": ("The kernel before this one died.",)},
        {"logs": (LogLine("raw", None, "action", None, None, {}, 1, "stderr", None, late=False),)},
    ],
    ids=str,
)
def test_one_with_something_to_say_keeps_its_line(folded, changes):
    assert folded.facts[HOLDS_ONLY].value == "definitions"
    record = replace(folded, **changes)
    assert not head.of(record).folded
    assert "<summary>Receipt</summary>" not in html.receipt(record)
