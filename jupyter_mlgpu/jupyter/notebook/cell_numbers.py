"""Records by the cell numbers that a student types, as `%mlc_trace show` lists them."""

from __future__ import annotations

from collections.abc import Iterable

from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import joined, say

_SHOW = say("`%mlc_trace show` lists them.")


def cell_number(word: str) -> int:
    """A number as it is typed. Raises UsageError for what is none."""
    if not word.isdecimal() or not word.isascii():
        wrong = say("A cell is named by its number, found {found}.", found=repr(word))
        raise UsageError(joined(wrong, _SHOW))
    return int(word)


def of_cell(records: Iterable[Record], number: int, run: str) -> Record:
    """The record with a number: this run's, else that of the one loaded run that has it.

    Raises UsageError where there is none, or where several loaded runs have it.
    """
    found = [record for record in records if record.cell.sequence == number]
    ours = [record for record in found if record.run.id == run]
    if ours:
        return ours[0]
    if not found:
        raise UsageError(joined(say("There is no record of a cell {number}.", number=str(number)), _SHOW))
    if len(found) > 1:
        raise UsageError(
            say(
                "{count} loaded runs have a cell {number}, so which is meant is open.",
                count=len(found),
                number=str(number),
            )
        )
    return found[0]
