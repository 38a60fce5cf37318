"""Seven cells, two runs each, as an H100 ran them: what limited each can be told from its strip by eye."""

import pytest

from jupyter_mlgpu.show.receipts import head, limits
from tests.support.strips import CELLS, judged

pytestmark = pytest.mark.small


def cause(record):
    """The kind that was said with some confidence, and the beginning of its sentence."""
    limit = record.limit
    return (
        None if limit is None or limit.confidence == "open" else (limit.kind, str(limit.said).split(" ")[0])
    )


@pytest.mark.parametrize("name", CELLS)
def test_nothing_is_said_that_the_picture_contradicts(name):
    right = {
        "loader, no workers": [("input", "Preparing")],
        "loader, 8 workers": [("input", "Preparing")],
        "training": [("device", "The")],
        "training and Python metrics": [("python", "Python"), ("launch", "Launching")],
        "100 tiny layers": [("launch", "Launching")],
        "copies": [("native", "Native")],
        "ends before its work": [("device", "The")],
    }
    assert cause(judged(name)) in (None, *right[name.rpartition(", ")[0]])


def test_what_the_gpu_did_all_the_time_is_exact():
    for run in (1, 2):
        training = judged(f"training, run {run}")
        assert training.limit.confidence == "sure"
        assert "ms · GPU busy 97 %, went on for" in head.of(training).line
        ends = judged(f"ends before its work, run {run}")
        assert ends.limit.share == pytest.approx(0.9, abs=0.1)


def test_one_run_in_seven_is_left_open_at_most():
    assert sum(cause(judged(name)) is None for name in CELLS) <= 5


def test_no_bound_is_below_what_the_gpu_had_to_do():
    for name in CELLS:
        record = judged(name)
        without = (
            [one.value for one in record.limit.evidence if one.quantity == "time_without"]
            if record.limit
            else []
        )
        if without and record.limit.kind != "device":
            assert without[0] >= record.find("device_time").value * 0.97
            assert "at most" in limits.answer(record.limit)
