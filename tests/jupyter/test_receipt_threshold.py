"""From how many seconds on a cell gets a receipt: what has something to say always does."""

import json
import sys
import types
from pathlib import Path

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.jupyter.notebook.browser.audience import SETTING
from jupyter_mlgpu.jupyter.notebook.cell.receipt_threshold import FROM_S, ReceiptThreshold, threshold
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.gpu_work import STILL_AT_WORK, GpuWork
from jupyter_mlgpu.record.reading import missing, new_reading
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


def lasting(seconds, *others, **changes):
    wall = new_reading("wall_time", seconds, "cell", "clock", 1)
    return replace(HALF_A_SECOND, readings=(wall, *others), **changes)


def test_a_cell_below_a_tenth_of_a_second_gets_none_where_nobody_has_set_it():
    assert ReceiptThreshold(threshold({})).wants(lasting(0.1), "1")
    assert not ReceiptThreshold(threshold({SETTING: "1"})).wants(lasting(0.09), "1")


def test_every_cell_gets_one_where_the_environment_or_a_page_asks_for_all():
    assert ReceiptThreshold(threshold({SETTING: "all"})).wants(lasting(0.001), "1")
    assert wants(0, lasting(0.001))


def test_work_that_goes_on_after_the_code_counts():
    work = GpuWork("gpu:0", 10, 0.2, went_on=0.2)
    assert wants(0.1, lasting(0.05, asynchronous=True, gpu_work=(work,)))
    assert not wants(0.3, lasting(0.05, asynchronous=True, gpu_work=(work,)))


def test_a_cell_whose_gpu_may_still_be_busy_gets_one():
    assert wants(0.1, lasting(0.05, missing("device_time", STILL_AT_WORK), asynchronous=True))


def test_a_page_has_the_same_default():
    schema = json.loads((Path(__file__).parents[2] / "labextension/schema/sidebar.json").read_text())
    assert schema["properties"]["receiptSeconds"]["default"] == FROM_S


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
