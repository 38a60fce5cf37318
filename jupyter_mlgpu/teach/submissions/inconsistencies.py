"""Finds saved records that contradict their cell, the texts saved with them, or other records.

A record is data in a notebook that its owner can edit. Nothing here proves that a record is genuine; that
would require signatures with a key that students cannot use. A forged record is not detected if the record,
the two texts saved with it, the digest of the code and the times of other records are all edited
consistently. Simple cases are detected: figures edited by hand, a record from another cell or notebook, a
copied record, and code changed after its run.
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

_RUN_AGAIN = say("Run the cell again and save the notebook.")

#: Seconds by which a cell may seem to begin before the previous one has ended. Both times come from the same
#: clock, so they can differ only a little.
_SLACK = 0.001

#: Seconds by which the calendar time may be behind the monotonic clock, because a person or a time server has
#: set it back while the kernel ran.
_CLOCK_CHANGE = 60.0


def find_inconsistencies(submission: Submission, cell: SavedCell) -> list[Sentence]:
    """Return a sentence for each inconsistency of a cell's records; the list is empty if there is none."""
    found: list[Sentence] = []
    for saved in cell.saved:
        found += _compare_with_cell(saved.record, cell)
        found += _check_record(saved, cell.title)
    found += _compare_with_others(submission, cell)
    return list(dict.fromkeys(found))


def _compare_with_cell(record: Record, cell: SavedCell) -> list[Sentence]:
    """Return sentences on differences between a record and its cell."""
    found = []
    if record.cell.source_digest != cell.digest:
        found.append(
            _with_remedy(
                say(
                    "The record of {cell} does not match the code there: the code was changed "
                    "after its run, or the record comes from elsewhere.",
                    cell=cell.title,
                )
            )
        )
    if record.cell.id is not None and cell.id is not None and record.cell.id != cell.id:
        found.append(_with_remedy(say("The record of {cell} was made by another cell.", cell=cell.title)))
    recorded = record.cell.execution_count
    if cell.execution_count is None or (recorded is not None and recorded != cell.execution_count):
        found.append(
            _with_remedy(
                say(
                    "The record of {cell} has the execution count {of_record}, but the cell has {of_cell}.",
                    cell=cell.title,
                    of_record=str(recorded),
                    of_cell=str(cell.execution_count),
                )
            )
        )
    if record.origin != "live":
        found.append(
            _with_remedy(
                say(
                    "The record of {cell} is {origin}: it was not measured by this run.",
                    cell=cell.title,
                    origin=record.origin,
                )
            )
        )
    return found


def _with_remedy(problem: Sentence) -> Sentence:
    """Return the sentence followed by the advice to run the cell again."""
    return joined(problem, _RUN_AGAIN)


def _check_record(saved: SavedRecord, cell: str) -> list[Sentence]:
    """Return sentences on contradictions within a saved record and with the texts saved with it."""
    record = saved.record
    found = []
    # A receipt has the same figures three times: in the record, in its text and in its HTML. Few people who
    # edit one of them edit all.
    if not any(_matches_texts(saved, language) for language in languages()):
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
    if any(operation.self_time > operation.total_time * (1 + 1e-6) + 1e-9 for operation in record.ops):
        found.append(
            say(
                "In the record of {cell}, an operation takes longer by itself than with everything it calls.",
                cell=cell,
            )
        )
    return found


def _matches_texts(saved: SavedRecord, language: str) -> bool:
    """Return True if the saved text and HTML, if there are any, are those of the record in this language.

    The language in which a receipt was saved is not known.
    """
    texts = ((saved.plain, text.receipt), (saved.html, html.receipt))
    return all(one is None or one == render(saved.record, saved.cut, language) for one, render in texts)


def _wrong_shares(record: Record) -> bool:
    """Return True if the devices' shares do not match the operations counted on each."""
    devices = [
        one for one in record.device.ran_on or () if one.operations is not None and one.share is not None
    ]
    total = sum(one.operations or 0 for one in devices)
    return total > 0 and any(
        abs((one.share or 0.0) - (one.operations or 0) / total) > 0.005 for one in devices
    )


def _compare_with_others(submission: Submission, cell: SavedCell) -> list[Sentence]:
    """Return sentences on contradictions with other records of the notebook, such as overlapping times."""
    found = []
    records = submission.records
    for saved in cell.saved:
        record = saved.record
        if sum(other.key == record.key for other in records) > 1:
            found.append(
                _with_remedy(
                    say("The record of {cell} is in the notebook twice: one is a copy.", cell=cell.title)
                )
            )
            continue
        same_run = sorted(
            (other for other in records if other.run.id == record.run.id),
            key=lambda other: other.cell.sequence,
        )
        if any(_times_contradict(*pair) for pair in pairwise(same_run) if record in pair):
            found.append(
                say(
                    "The times of {cell} and of the cells run before and after it contradict each other.",
                    cell=cell.title,
                )
            )
        if len({(other.run.host_digest, other.run.notebook) for other in same_run}) > 1:
            found.append(
                say(
                    "The run of {cell} names several machines or notebooks; a run has one of each.",
                    cell=cell.title,
                )
            )
    return found


def _times_contradict(first: Record, second: Record) -> bool:
    """Return True if the times of two cells that ran one after the other cannot both be right.

    That is so if the first cell took longer than the time between the two starts, or if less time has passed
    between the starts in calendar time than on the monotonic clock. More is possible: the monotonic clock may
    stop while the computer sleeps.
    """
    wall = next((one.value for one in first.readings if one.quantity == "wall_time"), None) or 0.0
    monotonic = (second.started_monotonic_ns - first.started_monotonic_ns) / 1e9
    return wall > monotonic + _SLACK or _calendar_seconds(first, second) < monotonic - _CLOCK_CHANGE


def _calendar_seconds(first: Record, second: Record) -> float:
    """Return the seconds between the starts of two cells in calendar time."""
    start, end = (datetime.fromisoformat(one.started_at) for one in (first, second))
    return (end - start).total_seconds()


def find_shared_records(submissions: Sequence[tuple[str, Submission]]) -> list[tuple[str, str, int]]:
    """Return each pair of notebooks that contain the same records, as their names and the number of records.

    A record belongs to one notebook, so in the other one it is a copy.
    """
    keys = [(name, {record.key for record in submission.records}) for name, submission in submissions]
    return [
        (name, other_name, len(records & other_records))
        for index, (name, records) in enumerate(keys)
        for other_name, other_records in keys[index + 1 :]
        if records & other_records
    ]
