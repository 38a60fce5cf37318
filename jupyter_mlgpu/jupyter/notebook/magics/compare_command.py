"""`%mlc_trace compare A B`: the words typed, to two groups of records, and the comparison shown.

The sidebar asks for the same of two records. Its request goes on the channel of `live_counters.py`, and is
answered while a cell runs:

    jupyter_mlgpu_request   {"type": "compare", "a": {"run": ..., "sequence": 3}, "b": {...}}
    jupyter_mlgpu_reply     {"status": "ok", "protocol": 1, "run": ..., "page": {...}}

`page` is the page of the comparison as every view of ours gets one (`show/page/view.py`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_mlgpu.explain.comparing.compare import RecordComparison, compare
from jupyter_mlgpu.record import cellnumbers, files
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import joined, say
from jupyter_mlgpu.record.words import magic_parser, unknown
from jupyter_mlgpu.show.comparing import page
from jupyter_mlgpu.show.page import view

if TYPE_CHECKING:
    from jupyter_mlgpu.measure.runtime import Runtime

_HELP = say(
    "Compare two cells by number (`compare 3 5` for [3] and [5]), two ranges of cells "
    "(`compare 3-7 8-12`), two files (`compare before.jsonl after.jsonl`) or two devices "
    "(`compare cpu gpu`)."
)
_DEVICE = re.compile(r"[a-z]+(:\d+)?", re.ASCII)


def compare_command(words: str, runtime: Runtime) -> RecordComparison:
    """Return the comparison that `%mlc_trace compare WORDS` asks for; the notebook shows it."""
    parser = magic_parser("%mlc_trace compare", _HELP)
    parser.add_argument("sides", nargs="*")
    asked = parser.parse_line(words).sides
    if len(asked) != 2:
        needed = say("%mlc_trace compare needs two arguments, found {count}.", count=len(asked))
        raise UsageError(joined(needed, _HELP))
    first, second = (_side(word, runtime) for word in asked)
    if {one.key for one in first} & {one.key for one in second}:
        # The same code on the same device: then these two runs are meant.
        first, second = _alone(asked[0], first, runtime), _alone(asked[1], second, runtime)
    return compare(first, second, names=_titles(*asked))


def compare_records(content: Mapping[str, Any], runtime: Runtime) -> dict[str, Any]:
    """The answer to a browser that asks for the comparison of two records; raises UsageError.

    As of cells that are named by number, all runs of their code count; of two runs of one cell these two.
    """
    a, b = (_named(content.get(side), runtime) for side in ("a", "b"))
    records = runtime.store.records()
    first, second = _runs_of(a, records), _runs_of(b, records)
    if {one.key for one in first} & {one.key for one in second}:
        first, second = [a], [b]
    # In the narrow sidebar a reader wants the table.
    return {"page": view.data(replace(page.page(compare(first, second)), charts=()))}


def _named(name: object, runtime: Runtime) -> Record:
    match name:
        case {"run": str(run), "sequence": int(sequence)}:
            record = runtime.store.get((run, sequence))
        case _:
            raise UsageError(
                say('A record is identified by its run and sequence: {"run": "9f2c", "sequence": 3}.')
            )
    if record is None:
        raise UsageError(
            say("The kernel has no record {number} of that run, or no longer has it.", number=f"#{sequence}")
        )
    return record


def _side(word: str, runtime: Runtime) -> Sequence[Record]:
    records, run = runtime.store.records(), runtime.recorder.run.id
    span = cellnumbers.span(word, records, run)
    if span is not None:
        return span
    number = cellnumbers.parsed(word)
    if number is not None:
        found = cellnumbers.meant(number, records, run)
        # A cell is its code: all runs of it count, but where one of them is named.
        of_cell = number.turn is None and not number.own
        return _runs_of(found[-1], records) if of_cell else found
    path = Path(word).expanduser()
    if path.is_file() or "." in word or "/" in word:
        return files.load_records(path)[0]
    if _DEVICE.fullmatch(word):
        ran = [one for one in records if word in _devices(one)]
        known = sorted({"cpu", "gpu", *(device for one in records for device in _devices(one))})
        if not ran and word.partition(":")[0] not in known:
            raise UsageError(joined(unknown(say("device"), word, known, "%mlc_trace compare"), _HELP))
        return ran
    raise UsageError(joined(say("{word} is not a cell, file or device.", word=repr(word)), _HELP))


def _runs_of(record: Record, records: Sequence[Record]) -> list[Record]:
    """All runs of the same code in the same kernel, with the same device asked for."""
    digest = record.cell.source_digest
    return [
        one
        for one in records
        if one.key == record.key
        or (digest is not None and _which(one) == _which(record) and one.run.id == record.run.id)
    ]


def _which(record: Record) -> tuple[str | None, Mapping[str, str]]:
    return record.cell.source_digest, record.device.requested


def _alone(word: str, side: Sequence[Record], runtime: Runtime) -> Sequence[Record]:
    number = cellnumbers.parsed(word)
    return side if number is None else cellnumbers.meant(number, side, runtime.recorder.run.id)


def _devices(record: Record) -> set[str]:
    """The device on which all of a cell ran, with and without its number: `gpu:0` and `gpu`."""
    ran_on = {one.device for one in record.device.ran_on or ()}
    if len(ran_on) != 1:
        return set()
    (device,) = ran_on
    return {device, device.partition(":")[0]}


def _titles(first: str, second: str) -> tuple[str, str]:
    titles = _title(first), _title(second)
    return titles if titles[0] != titles[1] else (f"{titles[0]} (A)", f"{titles[1]} (B)")


def _title(word: str) -> str:
    number = cellnumbers.parsed(word)
    if number is not None:
        return f"record {number.name}" if number.own else f"cell {number.name}"
    if cellnumbers.is_span(word):
        return f"records {word}" if word.startswith("#") else f"cells [{word}]"
    # Of a file its name alone: outputs are saved, and folders tell who somebody is.
    return Path(word).name or word
