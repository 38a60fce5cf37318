"""From how many seconds on a cell gets a receipt: what has something to say always does."""

import sys
import types

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.jupyter.notebook.cell.receipt_threshold import ReceiptThreshold
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.reading import missing
from jupyter_mlgpu.record.record import LogLine
from jupyter_mlgpu.testing import example_record

HALF_A_SECOND = example_record()


@pytest.fixture(autouse=True)
def no_lesson(monkeypatch):
    """Another test of this process may have imported what lessons import."""
    monkeypatch.delitem(sys.modules, "jupyter_mlgpu.lessons", raising=False)


def line(verdict):
    return LogLine("raw", verdict, verdict, "Meaning.", None, {}, 1, "stderr", None, False)


def wants(seconds, record=HALF_A_SECOND, code="model.fit(x, y)"):
    threshold = ReceiptThreshold()
    threshold.set({"from_seconds": seconds})
    return threshold.wants(record, code)


def test_every_cell_gets_a_receipt_where_nobody_has_set_it():
    assert ReceiptThreshold().wants(HALF_A_SECOND, "1")
    assert wants(0)


def test_a_shorter_cell_gets_none_and_one_that_took_as_long_does():
    assert not wants(0.6)
    assert wants(0.5)


@pytest.mark.parametrize(
    "changes",
    [
        {"outcome": "error"},
        {"outcome": "interrupted"},
        {"mode": "profiled"},
        {"notes": ("The kernel before this one died.",)},
        {"logs": (line("action"),)},
        {"logs": (line("harmless"), line("fatal"))},
        {"readings": (missing("wall_time", "The clock stopped."),)},
    ],
    ids=str,
)
def test_a_cell_that_has_something_to_say_always_gets_one(changes):
    assert wants(1, replace(HALF_A_SECOND, **changes))


def test_harmless_lines_are_nothing_to_say():
    assert not wants(1, replace(HALF_A_SECOND, logs=(line("harmless"), line("info"), line("unknown"))))


@pytest.mark.parametrize("code", ["%%mlc_trace\nx", "\n%%mlc_device cpu\nx"])
def test_a_cell_under_one_of_our_magics_always_gets_one(code):
    assert wants(1, code=code)
    assert not wants(1, code="%%time\nx")


def test_a_lesson_shows_all_its_receipts(monkeypatch):
    monkeypatch.setitem(sys.modules, "jupyter_mlgpu.lessons", types.ModuleType("jupyter_mlgpu.lessons"))
    assert wants(1)


@pytest.mark.parametrize("seconds", [-0.1, 1.1, None, "0.5", True, float("nan")])
def test_what_is_no_number_of_seconds_is_refused(seconds):
    with pytest.raises(UsageError, match="must be 0 to 1 seconds"):
        ReceiptThreshold().set({"from_seconds": seconds})
