"""Find the records that a word stands for on one side of a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jupyter_mlgpu.record import cellnumbers
from jupyter_mlgpu.record.record import Record


def numbered(word: str, records: Sequence[Record], run: str) -> Sequence[Record] | None:
    """Return the records of a cell's number or of a range of numbers, None if the word is neither.

    A cell's number stands for all runs of its code, unless it names one run. `run` is the id of the run whose
    numbers need no suffix. Raises UsageError if there is no such record.
    """
    span = cellnumbers.span(word, records, run)
    if span is not None:
        return span
    number = cellnumbers.parse(word)
    if number is None:
        return None
    found = cellnumbers.select(number, records, run)
    of_cell = number.turn is None and not number.own
    return runs_of(found[-1], records) if of_cell else found


def runs_of(record: Record, records: Sequence[Record]) -> list[Record]:
    """Return all runs of the same code in the same kernel, with the same requested device."""
    digest = record.cell.source_digest
    return [
        run
        for run in records
        if run.key == record.key
        or (
            digest is not None
            and _code_and_device(run) == _code_and_device(record)
            and run.run.id == record.run.id
        )
    ]


def devices_of(record: Record) -> set[str]:
    """Return the one device on which a cell ran, with and without its number: `gpu:0` and `gpu`."""
    ran_on = {one.device for one in record.device.ran_on or ()}
    if len(ran_on) != 1:
        return set()
    (device,) = ran_on
    return {device, device.partition(":")[0]}


def _code_and_device(record: Record) -> tuple[str | None, Mapping[str, str]]:
    return record.cell.source_digest, record.device.requested
