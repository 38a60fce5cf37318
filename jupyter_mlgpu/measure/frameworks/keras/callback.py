"""The callback for Keras, which makes records of epochs or of steps."""

from __future__ import annotations

from typing import Any

from jupyter_mlgpu.measure.training_records import TrainingRecords


def keras_callback(records: TrainingRecords) -> Any:
    """Return a `keras.callbacks.Callback` that reports `fit` to `records`; a step is a batch."""
    import keras

    class _EpochCallback(keras.callbacks.Callback):  # type: ignore[misc]
        @records.hook
        def on_train_begin(self, logs: Any = None) -> None:
            records.training_begins()

        @records.hook
        def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
            records.epoch_begins(epoch + 1)

        @records.hook
        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            records.epoch_ends()

        @records.hook
        def on_test_begin(self, logs: Any = None) -> None:
            records.validates()

        @records.hook
        def on_train_end(self, logs: Any = None) -> None:
            records.training_ends()

    if records.every is None:
        return _EpochCallback()

    # A separate class, because a callback with batch methods makes Keras call it on the training thread.
    class _StepsCallback(_EpochCallback):
        _before = _done = 0

        @records.hook
        def on_train_begin(self, logs: Any = None) -> None:
            self._before = self._done = 0
            records.training_begins()

        @records.hook
        def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
            self._before = self._done

        @records.hook
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            self._done = self._before + batch + 1
            records.steps_done(self._done)

    return _StepsCallback()
