"""A Keras callback that reports the beginning and the end of every epoch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Begin = Callable[[str], tuple[Callable[[], None], Callable[[], None]]]


def epoch_callback(begin: Begin) -> Any:
    """A `keras.callbacks.Callback`; `begin(name)` gives what to call when the epoch ends or is given up."""
    import keras

    class EpochCallback(keras.callbacks.Callback):  # type: ignore[misc]
        _give_up: Callable[[], None] | None = None

        def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
            # Keras tells a callback nothing when an epoch raises; the next one finds it unfinished.
            if self._give_up is not None:
                self._give_up()
            self._end, self._give_up = begin(f"epoch {epoch + 1}")

        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            self._end()
            self._give_up = None

    return EpochCallback()
