"""Measuring without a notebook: a block of a script, or every epoch of a Keras fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from jupyter_mlgpu.errors import StillRunningError
from jupyter_mlgpu.frames import Records
from jupyter_mlgpu.kit import current
from jupyter_mlgpu.record import Outcome, Record


class TracedBlock:
    """What `trace` gives: after its block has ended, it has all attributes of the `Record`."""

    def __init__(self) -> None:
        self._record: Record | None = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if self._record is None:
            raise StillRunningError(
                f"The traced block has not ended, so its {name!r} is not known yet: "
                "read it after the `with` block."
            )
        return getattr(self._record, name)


@contextmanager
def trace(name: str) -> Iterator[TracedBlock]:
    """Measure a block of a script as a notebook's cell is measured.

    The record is kept with `records()`, and its attributes can be read from the block's variable
    after the block. An exception inside the block is the caller's own and passes through.

    >>> import jupyter_mlgpu
    >>> with jupyter_mlgpu.trace("sum") as record:
    ...     total = sum(range(1000))
    >>> record.outcome
    'ok'
    """
    kit = current()
    block = TracedBlock()
    measurement = kit.recorder.start(name)
    outcome: Outcome = "ok"
    try:
        yield block
    except KeyboardInterrupt:
        outcome = "interrupted"
        raise
    except BaseException:
        outcome = "error"
        raise
    finally:
        block._record = measurement.stop(outcome)
        kit.store.add(block._record)


def records() -> Records:
    """The records of this process, oldest first; `records().to_frame()` is a pandas table of them."""
    return Records(current().store.records())


def KerasCallback() -> Any:  # noqa: N802 - used as a class is: callbacks=[KerasCallback()]
    """A `keras.callbacks.Callback` for `model.fit(..., callbacks=[jupyter_mlgpu.KerasCallback()])`.

    Each epoch gives one record, named `epoch 1` and so on; read them with `jupyter_mlgpu.records()`.
    An epoch that does not end (an exception, an interrupt) leaves no record.
    """
    from jupyter_mlgpu.backends.keras import epoch_callback

    return epoch_callback(_begin_epoch)


def _begin_epoch(name: str) -> tuple[Callable[[], None], Callable[[], None]]:
    kit = current()
    measurement = kit.recorder.start(name)

    def end() -> None:
        kit.store.add(measurement.stop(requested=kit.selection.requested))

    return end, measurement.abandon
