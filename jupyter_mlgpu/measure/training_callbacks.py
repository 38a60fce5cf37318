"""Callbacks for training libraries: a record for each epoch, or for every few steps."""

from __future__ import annotations

import sys
from typing import Any

from jupyter_mlgpu.measure.training_records import TrainingRecords
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.extras import installed


def KerasCallback(every: int | None = None) -> Any:  # noqa: N802 - used as a class is
    """Return a callback that records each epoch of Keras's `fit`, named `epoch 1` and so on: see `records()`.

        model.fit(x, y, callbacks=[jupyter_mlgpu.KerasCallback()])

    `every=100` gives one for every 100 batches instead, `steps 1 to 100`, and one for the rest. With
    `steps_per_execution` Keras reports several batches at a time, and a record may hold a few more. A
    validation counts to the epoch, or to the steps among which it runs, and a note says so. An epoch that
    raises or is interrupted leaves no record. Raises UsageError without Keras.
    """
    install = '"jupyter_mlgpu[tensorflow]"'
    records = _records("KerasCallback", every, "Keras", ("keras",), install)
    from jupyter_mlgpu.measure.frameworks.keras.callback import keras_callback

    return keras_callback(records)


def LightningCallback(every: int | None = None) -> Any:  # noqa: N802 - used as a class is
    """Return a callback that records each epoch of PyTorch Lightning's `fit`, named `epoch 1` and so on.

        trainer = lightning.Trainer(callbacks=[jupyter_mlgpu.LightningCallback()])

    `every=100` gives one for every 100 steps of the optimizer instead (`trainer.global_step`: fewer than
    batches if gradients are accumulated), `steps 1 to 100`, and one for the rest. A validation counts to
    the epoch, or to the steps among which it runs, and a note says so. An epoch that raises or is interrupted
    leaves no record. Each process records its own work: see `records()`. Raises UsageError without Lightning.
    """
    from jupyter_mlgpu.measure.frameworks.torch.lightning import PACKAGES, lightning_callback

    return lightning_callback(
        _records("LightningCallback", every, "PyTorch Lightning", PACKAGES, "lightning")
    )


def TrainerCallback(every: int | None = None) -> Any:  # noqa: N802 - used as a class is
    """Return a callback that records each epoch of Hugging Face's `Trainer`, named `epoch 1` and so on.

        trainer = transformers.Trainer(model, args, callbacks=[jupyter_mlgpu.TrainerCallback()], ...)

    `every=100` gives one for every 100 steps of the optimizer instead (`state.global_step`: fewer than
    batches if gradients are accumulated), `steps 1 to 100`, and one for the rest. An evaluation counts to
    the epoch or the steps in which the Trainer runs it, and a note says so; with `eval_strategy="epoch"` that
    is after the epoch's record. An epoch that raises or is interrupted leaves no record. Each process records
    its own work: see `records()`. Raises UsageError without transformers.
    """
    install = '"transformers[torch]"'
    records = _records("TrainerCallback", every, "transformers", ("transformers",), install)
    from jupyter_mlgpu.measure.frameworks.torch.transformers import trainer_callback

    return trainer_callback(records)


def AccelerateTracker(every: int | None = None) -> Any:  # noqa: N802 - used as a class is
    """Return a tracker with a record from each `accelerator.log` to the next, named by their steps.

        accelerator = accelerate.Accelerator(log_with=jupyter_mlgpu.AccelerateTracker())
        accelerator.init_trackers("training")

    A tracker receives neither epochs nor steps, only what is logged and the `step` given with it. So a
    record spans all that happens from one log to the next, validations and saving too: `start to step 100`
    from `init_trackers` on, then `step 100 to step 200`; `log 1 to log 2` if no step is given. If you log
    once an epoch, the records are epochs. What follows the last log is in none. See `records()`.

    With `every=100` a record ends at the first log that comes 100 steps after its beginning (100 logs, if
    no step is given), and the last one at `end_training`. A record that an error or the end of a notebook's
    cell cuts off is dropped; a log inside a `trace` block that began since ends none. Accelerate calls the
    tracker in the main process only. Raises UsageError without Accelerate.
    """
    records = _records("AccelerateTracker", every, "Accelerate", ("accelerate",), "accelerate")
    from jupyter_mlgpu.measure.frameworks.torch.accelerate import accelerate_tracker

    return accelerate_tracker(records)


def _records(
    callback: str, every: int | None, library: str, modules: tuple[str, ...], install: str
) -> TrainingRecords:
    """Raise UsageError if `every` is not a number of steps, or if none of `modules` is installed."""
    # Two frames out: the code that makes the callback.
    records = TrainingRecords(every, sys._getframe(2).f_code.co_filename)
    if not any(map(installed, modules)):
        raise UsageError(
            f"{callback} is for {library}, which is not installed in this Python: `pip install {install}`."
        )
    return records
