"""Cell numbers as people see them (`[10]`): a record's name, and the records that a typed number selects.

    10         the cell with the execution count 10: all its runs if it ran several times
    10.2       the second of these runs; for a cell that repeats, 10.0 is the warm-up run
    #12        the record with this sequence number, if it has no count (a script, a block) or to
               choose between records with the same count
    10@9f2c    cell 10 of another, loaded run whose id begins with these letters

The text in the brackets of a displayed name can be typed as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import Sentence, joined, say

_WORD = re.compile(r"(?P<own>#?)(?P<number>\d{1,18})(?:\.(?P<turn>\d{1,18}))?(?:@(?P<run>\S+))?", re.ASCII)
_SPAN = re.compile(r"(?P<own>#?)(?P<low>\d{1,18})-#?(?P<high>\d{1,18})", re.ASCII)

#: Letters of a run's id in the names of its records; more are used if two runs begin with the same letters.
_FEWEST_LETTERS = 4
#: Most records that a sentence lists as choices.
_LISTED = 8

_SHOW = say("`%mlc_trace show` lists them.")


class CellNumber(Struct, frozen=True):
    """A typed number: an execution count, or a record's sequence number if `own` is true.

    `turn` selects one of the cell's runs, None selects all. `run` is the beginning of a run's id, or empty if
    none was typed.
    """

    number: int
    turn: int | None = None
    own: bool = False
    run: str = ""

    def __str__(self) -> str:
        turn = "" if self.turn is None else f".{self.turn}"
        return f"{'#' * self.own}{self.number}{turn}{'@' * bool(self.run)}{self.run}"

    @property
    def name(self) -> str:
        """The number as it is displayed: `[10]` or `#12`."""
        return str(self) if self.own else f"[{self}]"


def parse(word: str) -> CellNumber | None:
    """Return the number in a word, with or without brackets, or None if the word is not a cell number."""
    found = _WORD.fullmatch(word.removeprefix("[").removesuffix("]"))
    if found is None or (found["own"] and found["turn"]):
        return None
    turn = None if found["turn"] is None else int(found["turn"])
    return CellNumber(int(found["number"]), turn, bool(found["own"]), found["run"] or "")


def cell_number(word: str) -> CellNumber:
    """Return the number in a word. Raises UsageError if the word is not a cell number."""
    number = parse(word)
    if number is None:
        wrong = say("A cell is named by its number, not by {found}.", found=repr(word))
        raise UsageError(joined(wrong, _SHOW))
    return number


def name(record: Record) -> str:
    """Return a record's name, using only the record itself: `[10]`, `[10.2]` or `#12`."""
    return _number(record).name


def names(records: Sequence[Record], run: str) -> Mapping[tuple[str, int], str]:
    """Return the name of each record among the others, by record key.

    `run` is the id of the kernel's own run. Records with the same execution count in one run are numbered.
    Records of another run have that run's id in their names.
    """
    turns = _turns(records)
    tags = _tags({one.run.id for one in records}, run)
    found = {}
    for record in records:
        number = _number(record, turns.get(record.key))
        tag = tags[record.run.id]
        found[record.key] = CellNumber(number.number, number.turn, number.own, tag).name
    return found


def select(number: CellNumber, records: Iterable[Record], run: str) -> list[Record]:
    """Return the records that a number selects.

    These are records of `run`, or else those of the one loaded run that has the number.

    Raises UsageError if there are none, or if several loaded runs have this number.
    """
    records = list(records)
    theirs = [one for one in records if one.run.id.startswith(number.run)]
    turns = _turns(theirs)
    of_cell = [one for one in theirs if _suits(one, number, None)]
    found = [one for one in of_cell if _suits(one, number, turns.get(one.key, 1))]
    ours = [] if number.run else [one for one in found if one.run.id == run]
    if ours:
        return ours
    if not found:
        raise UsageError(_none(number, records, of_cell, run))
    if len({one.run.id for one in found}) > 1:
        raise UsageError(_open(number, found, records, run))
    return found


def select_one(number: CellNumber, records: Iterable[Record], run: str) -> Record:
    """Return the one record that a number selects. Raises UsageError if there is none, or more than one."""
    records = list(records)
    found = select(number, records, run)
    if len(found) > 1:
        raise UsageError(
            say(
                "Cell {cell} ran {count} times: choose {choices}.",
                cell=number.name,
                count=len(found),
                choices=_choices(found, records, run),
            )
        )
    return found[0]


def is_span(word: str) -> bool:
    """Return True if a word is a range of numbers, `3-7` or `#3-#7`."""
    return _SPAN.fullmatch(word) is not None


def span(word: str, records: Iterable[Record], run: str) -> list[Record] | None:
    """Return this run's records in a range of counts (`3-7`) or sequence numbers (`#3-#7`).

    Returns None if the word is not a range.
    """
    found = _SPAN.fullmatch(word)
    if found is None:
        return None
    low, high, own = int(found["low"]), int(found["high"]), bool(found["own"])
    return [
        one
        for one in records
        if one.run.id == run
        and (number := one.cell.sequence if own else one.cell.execution_count) is not None
        and low <= number <= high
    ]


def _number(record: Record, turn: int | None = None) -> CellNumber:
    count = record.cell.execution_count
    if count is None:
        return CellNumber(record.cell.sequence, own=True)
    return CellNumber(count, turn if record.repeat is None else record.repeat.number)


def _turns(records: Iterable[Record]) -> dict[tuple[str, int], int]:
    """Return each record's number among its cell's runs, for cells that ran several times under one count."""
    cells: dict[tuple[str, int], list[Record]] = {}
    for record in records:
        if record.cell.execution_count is not None:
            cells.setdefault((record.run.id, record.cell.execution_count), []).append(record)
    return {
        one.key: place if one.repeat is None else one.repeat.number
        for runs in cells.values()
        if len(runs) > 1 or runs[0].repeat is not None
        for place, one in enumerate(runs, 1)
    }


def _suits(record: Record, number: CellNumber, turn: int | None) -> bool:
    if number.own:
        return record.cell.sequence == number.number
    of_cell = record.cell.execution_count == number.number
    return of_cell and (turn is None or number.turn in (None, turn))


def _tags(runs: Iterable[str], ours: str) -> dict[str, str]:
    """Return the letters that identify each run: the shortest distinct beginnings of ids, none for `ours`."""
    others = sorted(set(runs) - {ours})
    letters = _FEWEST_LETTERS
    longest = max(map(len, others), default=0)
    while letters < longest and len({one[:letters] for one in others}) < len(others):
        letters += 1
    return {ours: "", **{one: one[:letters] for one in others}}


def _none(number: CellNumber, records: Sequence[Record], of_cell: Sequence[Record], run: str) -> Sentence:
    if of_cell:
        return say(
            "Cell {cell} has no run {turn}: choose {choices}.",
            cell=CellNumber(number.number, run=number.run).name,
            turn=number.turn or 0,
            choices=_choices(of_cell, records, run),
        )
    if number.own:
        return joined(say("There is no record {number}.", number=number.name), _SHOW)
    none = say("There is no record of cell {number}.", number=number.name)
    itself = [one for one in records if one.cell.sequence == number.number and one.run.id == run]
    near = [say("Did you mean {word}?", word=f"#{number.number}")] if itself and number.turn is None else []
    return joined(none, *near, _SHOW)


def _open(number: CellNumber, found: Sequence[Record], records: Sequence[Record], run: str) -> Sentence:
    tags = _tags({one.run.id for one in records}, run)
    loaded = dict.fromkeys(one.run.id for one in found)
    choices = [str(CellNumber(number.number, number.turn, number.own, tags[one] or one)) for one in loaded]
    return say(
        "Cell {number} is in {count} loaded runs: choose {choices}.",
        count=len(loaded),
        number=number.name,
        choices=_some(choices),
    )


def _choices(found: Sequence[Record], records: Sequence[Record], run: str) -> str:
    called = names(records, run)
    return _some([called[one.key].strip("[]") for one in found])


def _some(words: Sequence[str]) -> str:
    if len(words) <= _LISTED:
        return ", ".join(words)
    return f"{', '.join(words[: _LISTED - 1])}, …, {words[-1]}"
