"""A tracker of Accelerate makes a record of what happened from one log to the next."""

import pytest

import jupyter_mlgpu
from tests.support import real_trainings, trainings


@pytest.fixture(
    params=[
        trainings.FakeAccelerator,
        pytest.param(real_trainings.RealAccelerator, marks=pytest.mark.needs("accelerate")),
    ]
)
def start(request, runtime, monkeypatch):
    """Gives an accelerator whose tracker has started."""
    accelerate = request.param(monkeypatch)
    return lambda every=None: accelerate.start(jupyter_mlgpu.AccelerateTracker(every))


def names():
    return [record.cell.name for record in jupyter_mlgpu.records()]


@pytest.mark.parametrize(
    ("every", "steps", "told"),
    [
        (None, (100, 200), ["start to step 100", "step 100 to step 200"]),
        (25, (10, 20, 30, 40), ["start to step 30", "step 30 to the end"]),
        (25, (30, 5, 40), ["start to step 30", "step 30 to step 5", "step 5 to step 40"]),
        (1, (1, 1, 2), ["start to step 1", "step 1 to step 2"]),
    ],
    ids=[
        "at every log",
        "after so many steps, and at the end",
        "steps begin again",
        "several logs in a step",
    ],
)
def test_a_record_spans_from_one_log_to_the_next_and_bears_their_steps(start, runtime, every, steps, told):
    accelerator = start(every=every)
    for step in steps:
        accelerator.log({"loss": 0.5}, step=step)
    accelerator.end_training()
    assert names() == told
    assert runtime.recorder.open == []


def test_without_steps_logs_are_counted(start):
    accelerator = start()
    for _ in range(2):
        accelerator.log({"loss": 0.5})
    accelerator.end_training()
    assert names() == ["start to log 1", "log 1 to log 2"]


def test_what_limited_each_is_judged(start):
    accelerator = start()
    accelerator.log({"loss": 0.5})
    (record,) = jupyter_mlgpu.records()
    assert jupyter_mlgpu.limit(record) is not None or record.why_no_limit


def test_a_cell_that_ends_cuts_a_record_off_and_the_next_log_begins_one(start, runtime):
    cell = runtime.recorder.start("accelerator = Accelerator(...)")
    accelerator = start()
    cell.stop()
    for step in (1, 2):
        accelerator.log({"loss": 0.5}, step=step)
    assert names() == ["step 1 to step 2"]


def test_a_block_of_the_users_around_a_log_is_not_cut_off(start):
    accelerator = start()
    with jupyter_mlgpu.trace("epoch") as block:
        accelerator.log({"loss": 0.5}, step=1)
    assert block.outcome == "ok"
    assert block.reading("peak_memory_process").value is not None
    accelerator.log({"loss": 0.5}, step=2)
    assert names() == ["epoch", "start to step 2"]


def test_values_that_are_no_steps_break_no_training_and_are_said(start, capsys):
    accelerator = start(every=2)
    accelerator.log({"loss": 0.5}, step="first")
    accelerator.log({"loss": 0.5}, step=1)
    assert "could not make a record of this training (TypeError" in capsys.readouterr().err
