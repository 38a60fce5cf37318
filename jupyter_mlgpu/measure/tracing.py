"""Measuring without a notebook: a block of a script, and the records of this process."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Union

from jupyter_mlgpu.measure.explained import explained
from jupyter_mlgpu.measure.runtime import current
from jupyter_mlgpu.record import cellnumbers
from jupyter_mlgpu.record.cellnumbers import CellNumber
from jupyter_mlgpu.record.errors import StillRunningError
from jupyter_mlgpu.record.frames import Records
from jupyter_mlgpu.record.limit import Limit
from jupyter_mlgpu.record.record import Outcome, Record

#: How runs are named: a cell's number, the name of a block, a record, a block of `trace`, or several records.
Runs = Union[int, str, CellNumber, Record, "TracedBlock", Sequence[Record]]


class TracedBlock:
    """What `trace` gives: after its block has ended, it has all attributes of the `Record`."""

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
        block._record = explained(measurement.stop(outcome), measurement, runtime)
        runtime.store.add(block._record)


def limit(record: Record | TracedBlock) -> Limit | None:
    """What held a cell, or a block of `trace`, up most; None where that is not known. Raises nothing.

    Its `kind` is one of the words of `record.limit.LimitKind`, `confidence` is sure, likely or open, `share`
    the part of the wall time that it explains, from 0 to 1, `evidence` what it rests on. Where it is None,
    the record's `why_no_limit` says why; a block that has not ended has none yet.

    >>> import jupyter_mlgpu
    >>> with jupyter_mlgpu.trace("sum") as record:
    ...     total = sum(range(10))
    >>> print(jupyter_mlgpu.limit(record))
    None
    """
    found = record._record if isinstance(record, TracedBlock) else record
    return found.limit if isinstance(found, Record) else None


def records() -> Records:
    """All records held, oldest first: those made here, and those loaded or replayed.

    `records().to_frame()` is a pandas table of them.
    """
    return Records(current().store.records())


def runs_of(which: Runs) -> Records:
    """The runs made in this process that `which` means, oldest first; none that were loaded or replayed.

    A string is tried as the name of blocks first, then as a number. A cell's number, the one in its brackets,
    stands for all runs of its code; "10.2" is one run of a cell, "#12" one record. A record, a block of
    `trace` or several records are returned as given, whatever their origin. A name that nothing has gives no
    records; a number that nothing has raises UsageError.
    """
    if isinstance(which, TracedBlock):
        which = which._ended("record")
    if isinstance(which, Record):
        return Records([which])
    if not isinstance(which, int | str | CellNumber):
        return Records(which)
    live = [one for one in records() if one.origin == "live"]
    if isinstance(which, str):
        named = [one for one in live if one.cell.name == which]
        number = None if named else cellnumbers.parsed(which)
        if number is None:
            return Records(named)
    else:
        number = CellNumber(which) if isinstance(which, int) else which
    found = cellnumbers.meant(number, live, current().recorder.run.id)
    digest = found[-1].cell.source_digest
    if number.own or number.turn is not None or digest is None:
        return Records(found)
    return Records(one for one in live if one.cell.source_digest == digest)
