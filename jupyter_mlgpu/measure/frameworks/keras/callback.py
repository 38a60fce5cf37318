"""The callback of Keras that tells of epochs, or of steps."""

from __future__ import annotations

from typing import Any

from jupyter_mlgpu.measure.training_records import TrainingRecords


def keras_callback(records: TrainingRecords) -> Any:
    """A `keras.callbacks.Callback` that tells `records` what `fit` does; a step is a batch."""
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

    # By itself, for who asks for every batch has Keras call its callbacks on the thread that trains.
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
