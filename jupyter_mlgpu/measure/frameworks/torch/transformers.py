"""The callback for Hugging Face's Trainer, which makes records of epochs or of steps."""

from __future__ import annotations

from typing import Any

from jupyter_mlgpu.measure.training_records import TrainingRecords


def trainer_callback(records: TrainingRecords) -> Any:
    """Return a `transformers.TrainerCallback` that reports `train` to `records`.

    A step is one of the optimizer's, `state.global_step`.
    """
    import transformers

    class _TrainerCallback(transformers.TrainerCallback):  # type: ignore[misc]
        # Epochs are counted here: for data without a length, `state.epoch` is a fraction of the whole
        # training.
        _epoch = 0

        @records.hook
        def on_train_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            self._epoch = int(state.epoch or 0)
            records.training_begins(state.global_step)

        @records.hook
        def on_epoch_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            self._epoch += 1
            records.epoch_begins(self._epoch)

        @records.hook
        def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            records.steps_done(state.global_step)

        @records.hook
        def on_evaluate(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            records.validates()

        @records.hook
        def on_epoch_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            records.epoch_ends()

        @records.hook
        def on_train_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            records.training_ends()

    return _TrainerCallback()
