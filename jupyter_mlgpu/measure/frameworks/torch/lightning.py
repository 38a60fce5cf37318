"""The callback for PyTorch Lightning, which makes records of epochs or of steps."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from jupyter_mlgpu.measure.training_records import TrainingRecords
from jupyter_mlgpu.record.extras import installed

#: One library under two names; a program uses one of them.
PACKAGES = ("lightning.pytorch", "pytorch_lightning")


def lightning_callback(records: TrainingRecords) -> Any:
    """Return a `Callback` that reports `Trainer.fit` to `records`; a step is one of the optimizer's.

    Lightning counts steps in `trainer.global_step`, which grows by two per batch with two optimizers.
    """
    callback = importlib.import_module(_package()).Callback

    class _LightningCallback(callback):  # type: ignore[misc, valid-type]
        def __reduce__(self) -> Any:
            # Strategies that start processes pickle the callbacks: each process has its own records.
            return _new_callback, (records.every, records.file)

        @records.hook
        def on_train_start(self, trainer: Any, pl_module: Any) -> None:
            records.training_begins(trainer.global_step)

        @records.hook
        def on_train_epoch_start(self, trainer: Any, pl_module: Any) -> None:
            records.epoch_begins(trainer.current_epoch + 1)

        @records.hook
        def on_train_batch_end(
            self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int
        ) -> None:
            records.steps_done(trainer.global_step)

        @records.hook
        def on_validation_start(self, trainer: Any, pl_module: Any) -> None:
            records.validates()

        @records.hook
        def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
            records.epoch_ends()

        @records.hook
        def on_train_end(self, trainer: Any, pl_module: Any) -> None:
            records.training_ends()

        @records.hook
        def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
            records.give_up()

    return _LightningCallback()


def _new_callback(every: int | None, file: str) -> Any:
    return lightning_callback(TrainingRecords(every, file))


def _package() -> str:
    imported = [one for one in PACKAGES if one in sys.modules]
    return next(iter(imported or filter(installed, PACKAGES)))
