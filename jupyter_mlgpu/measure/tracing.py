"""Measurement without a notebook: a block of a script, and the records of this process."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Union

from jupyter_mlgpu.measure.runtime import current
from jupyter_mlgpu.record import cellnumbers
from jupyter_mlgpu.record.cellnumbers import CellNumber
from jupyter_mlgpu.record.errors import StillRunningError
from jupyter_mlgpu.record.frames import Records
from jupyter_mlgpu.record.limit import Limit
from jupyter_mlgpu.record.record import Outcome, Record

#: Ways to name runs: a cell's number, the name of a block, a record, a block of `trace`, or several records.
Runs = Union[int, str, CellNumber, Record, "TracedBlock", Sequence[Record]]


class TracedBlock:
    """The result of `trace`: after the block has ended, it has all attributes of the `Record`."""

    def __init__(self) -> None:
        self._record: Record | None = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._ended(repr(name)), name)

    def _ended(self, wanted: str) -> Record:
        if self._record is None:
            raise StillRunningError(
                f"The traced block has not ended, so its {wanted} is not known yet: "
                "read it after the `with` block."
            )
        return self._record


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
    runtime = current()
    block = TracedBlock()
    # Two frames out: contextlib runs this generator for the code that has the `with`.
    file = sys._getframe(2).f_code.co_filename

    def of_user(filename: str) -> int | None:
        # The block's own file is the user's code. It has no cell number yet (see `Runtime.in_blocks`).
        return 0 if filename == file else runtime.of_user(filename)

    measurement = runtime.recorder.start(name, of_user=of_user)
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
        block._record = runtime.with_limit(measurement.stop(outcome), measurement)
        runtime.store.add(block._record)


def limit(record: Record | TracedBlock) -> Limit | None:
    """Return what limited a cell or a block of `trace` most, None if that is unknown. Raises nothing.

    Its `kind` is one of the words of `record.limit.LimitKind`, `confidence` is sure, likely or open, `share`
    is the part of the wall time that it explains, from 0 to 1, and `evidence` is what it rests on. If the
    result is None, the record's `why_no_limit` says why; a block that has not ended has none yet.

    >>> import jupyter_mlgpu
    >>> with jupyter_mlgpu.trace("sum") as record:
    ...     total = sum(range(10))
    >>> print(jupyter_mlgpu.limit(record))
    None
    """
    traced = record._record if isinstance(record, TracedBlock) else record
    return traced.limit if isinstance(traced, Record) else None


def records() -> Records:
    """Return all records held, oldest first: those made here, and those loaded or replayed.

    `records().to_frame()` is a pandas table of them.
    """
    runtime = current()
    runtime.finish_records()
    return Records(runtime.store.records())


def runs_of(which: Runs) -> Records:
    """Return the runs made in this process that `which` names, oldest first.

    Runs that were loaded or replayed do not count.
    A string is tried as the name of blocks first, then as a number. A cell's number, the one in its brackets,
    stands for all runs of its code; "10.2" is one run of a cell, "#12" one record. A record, a block of
    `trace` or several records are returned as given, whatever their origin. An unknown name gives no
    records; an unknown number raises UsageError.
    """
    if isinstance(which, TracedBlock):
        which = which._ended("record")
    if isinstance(which, Record):
        return Records([which])
    if not isinstance(which, int | str | CellNumber):
        return Records(which)
    live = [record for record in records() if record.origin == "live"]
    if isinstance(which, str):
        named = [record for record in live if record.cell.name == which]
        number = None if named else cellnumbers.parse(which)
        if number is None:
            return Records(named)
    else:
        number = CellNumber(which) if isinstance(which, int) else which
    found = cellnumbers.select(number, live, current().recorder.run.id)
    digest = found[-1].cell.source_digest
    if number.own or number.turn is not None or digest is None:
        return Records(found)
    return Records(record for record in live if record.cell.source_digest == digest)
