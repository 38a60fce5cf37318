"""Inconsistencies of saved records: other code, edited figures, or times that do not fit other records.

A record is data in a file that its owner can write. Nothing here proves that a record is genuine; that would
need signatures made out of the student's reach. A forgery is not detected if the record, the two texts beside
it, the digest of the code and the times of other records are all changed to agree. Simple cases are detected:
figures edited by hand, a record from another cell or notebook, a copied record, and code changed after its
run.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise

from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import Sentence, joined, say
from jupyter_mlgpu.record.translation import languages
from jupyter_mlgpu.show.receipts import html, text
from jupyter_mlgpu.teach.submissions.reading import SavedCell, SavedRecord, Submission

_AGAIN = say("Run the cell again and save the notebook.")

#: Seconds by which a cell may seem to begin before the previous one has ended, although both times come from
#: the same clock.
_SLACK = 0.001

#: Seconds by which a person or a time server may have set the clock back during a run.
_CLOCK_CHANGE = 60.0


def find_inconsistencies(submission: Submission, cell: SavedCell) -> list[Sentence]:
    """Return a sentence for each inconsistency of a cell's records; empty if there is none."""
    found: list[Sentence] = []
    for saved in cell.saved:
        found += _compare_with_cell(saved.record, cell)
        found += find_contradictions(saved, cell.title)
    found += _compare_with_others(submission, cell)
    return list(dict.fromkeys(found))


def _compare_with_cell(record: Record, cell: SavedCell) -> list[Sentence]:
    """Return sentences on differences between a record and its cell."""
    found = []
    if record.cell.source_digest != cell.digest:
        found.append(
            _again(
                say(
                    "The record of {cell} does not match the code there: the code was changed "
                    "after its run, or the record comes from elsewhere.",
                    cell=cell.title,
                )
            )
        )
    if record.cell.id is not None and cell.id is not None and record.cell.id != cell.id:
        found.append(_again(say("The record of {cell} was made by another cell.", cell=cell.title)))
    counts = (record.cell.execution_count, cell.execution_count)
    if cell.execution_count is None or (counts[0] is not None and counts[0] != counts[1]):
        found.append(
            _again(
                say(
                    "The record of {cell} has the execution count {of_record}, but the cell has {of_cell}.",
                    cell=cell.title,
                    of_record=str(counts[0]),
                    of_cell=str(counts[1]),
                )
            )
        )
    if record.origin != "live":
        found.append(
            _again(
                say(
                    "The record of {cell} is {origin}: it was not measured by this run.",
                    cell=cell.title,
                    origin=record.origin,
                )
            )
        )
    return found


def _again(why: Sentence) -> Sentence:
    return joined(why, _AGAIN)


def find_contradictions(saved: SavedRecord, cell: str) -> list[Sentence]:
    """Return sentences on contradictions within a record."""
    record = saved.record
    found = []
    # The same figures are saved three times in a receipt; few people edit all of them.
    saved_texts = ((saved.plain, text.receipt), (saved.html, html.receipt))
    if not any(
        all(one in (None, render(record, saved.cut, language)) for one, render in saved_texts)
        for language in languages()  # the kernel's language is not known
    ):
        found.append(
            say(
                "The record of {cell} does not match the text saved beside it: it was "
                "edited, or written by another version of jupyter_mlgpu.",
                cell=cell,
            )
        )
    if saved.plain is None:
        found.append(say("The record of {cell} lacks the text that every receipt has beside it.", cell=cell))
    for reading in record.readings:
        if reading.value is not None and reading.samples < 1:
            found.append(
                say(
                    "The record of {cell} has a {quantity} that is not based on any measurement.",
                    cell=cell,
                    quantity=reading.quantity,
                )
            )
    if _wrong_shares(record):
        found.append(
            say(
                "In the record of {cell}, the shares of the devices do not match the operations counted.",
                cell=cell,
            )
        )
    if any(one.self_time > one.total_time * (1 + 1e-6) + 1e-9 for one in record.ops):
        found.append(
            say(
                "In the record of {cell}, an operation takes longer by itself than with everything it calls.",
                cell=cell,
            )
        )
    return found


def _wrong_shares(record: Record) -> bool:
    """Return True if the operations by device do not add up to the operations counted."""
    places = [
        one for one in record.device.ran_on or () if one.operations is not None and one.share is not None
    ]
    total = sum(one.operations or 0 for one in places)
    return total > 0 and any(
        abs((one.share or 0.0) - (one.operations or 0) / total) > 0.005 for one in places
    )


def _compare_with_others(submission: Submission, cell: SavedCell) -> list[Sentence]:
    """Return sentences on contradictions with other records of the notebook, such as overlapping times."""
    found = []
    records = submission.records
    for saved in cell.saved:
        mine = saved.record
        if sum(one.key == mine.key for one in records) > 1:
            found.append(
                _again(say("The record of {cell} is in the notebook twice: one is a copy.", cell=cell.title))
            )
            continue
        run = sorted((one for one in records if one.run.id == mine.run.id), key=lambda one: one.cell.sequence)
        if any(_overlap(*pair) for pair in pairwise(run) if mine in pair):
            found.append(
                say(
                    "The times of {cell} do not fit those of the cells run before and after it: "
                    "two cells of one kernel cannot run at the same time.",
                    cell=cell.title,
                )
            )
        if len({(one.run.host_digest, one.run.notebook) for one in run}) > 1:
            found.append(
                say(
                    "The run of {cell} names several machines or notebooks; a run has one of each.",
                    cell=cell.title,
                )
            )
    return found


def _overlap(first: Record, second: Record) -> bool:
    wall = next((one.value for one in first.readings if one.quantity == "wall_time"), None) or 0.0
    passed = (second.started_monotonic_ns - first.started_monotonic_ns) / 1e9
    return wall > passed + _SLACK or _between(first, second) < passed - _CLOCK_CHANGE


def _between(first: Record, second: Record) -> float:
    """Return the seconds between two starts in calendar time, including time asleep."""
    start, end = (datetime.fromisoformat(one.started_at) for one in (first, second))
    return (end - start).total_seconds()


def find_shared_records(submissions: Sequence[tuple[str, Submission]]) -> list[tuple[str, str, int]]:
    """Return pairs of notebooks with records of the same run, and how many; it belongs to one of them."""
    keys = [(name, {one.key for one in submission.records}) for name, submission in submissions]
    return [
        (name, other, len(mine & theirs))
        for at, (name, mine) in enumerate(keys)
        for other, theirs in keys[at + 1 :]
        if mine & theirs
    ]
