"""`%mlc_trace compare A B`: finds the two groups of records and shows their comparison.

The sidebar requests the same for two records. Its request uses the channel of `live_counters.py`, and is
answered while a cell runs:

    jupyter_mlgpu_request   {"type": "compare", "a": {"run": ..., "sequence": 3}, "b": {...}}
    jupyter_mlgpu_reply     {"status": "ok", "protocol": 1, "run": ..., "page": {...}}

`page` is the page of the comparison in the format of all our views (`show/page/view.py`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_mlgpu.explain.comparing import sides
from jupyter_mlgpu.explain.comparing.compare import RecordComparison, compare, side_names
from jupyter_mlgpu.record import cellnumbers, files
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.option_parser import magic_parser, unknown
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import joined, say
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
    """Run `%mlc_trace compare WORDS` and return the comparison, which the notebook shows."""
    parser = magic_parser("%mlc_trace compare", _HELP)
    parser.add_argument("sides", nargs="*")
    given = parser.parse_line(words).sides
    if len(given) != 2:
        needed = say("%mlc_trace compare needs two arguments, found {count}.", count=len(given))
        raise UsageError(joined(needed, _HELP))
    first, second = (_side(word, runtime) for word in given)
    if {one.key for one in first} & {one.key for one in second}:
        # The same code on the same device: then the two cells stand for single runs.
        first, second = _single_run(given[0], first, runtime), _single_run(given[1], second, runtime)
    return compare(first, second, names=side_names(*map(_title, given)))


def compare_records(content: Mapping[str, Any], runtime: Runtime) -> dict[str, Any]:
    """Return the answer to a browser that requests the comparison of two records; raises UsageError.

    As with cell numbers, all runs of each cell's code count, unless both records are runs of the same code.
    """
    a, b = (_record_named(content.get(side), runtime) for side in ("a", "b"))
    records = runtime.store.records()
    first, second = sides.runs_of(a, records), sides.runs_of(b, records)
    if {one.key for one in first} & {one.key for one in second}:
        first, second = [a], [b]
    # Without the chart: the sidebar is narrow, and the table matters most.
    compared = compare(first, second, names=side_names(cellnumbers.name(a), cellnumbers.name(b)))
    return {"page": view.data(replace(page.page(compared), charts=()))}


def _record_named(name: object, runtime: Runtime) -> Record:
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
    numbered = sides.numbered(word, records, run)
    if numbered is not None:
        return numbered
    path = Path(word).expanduser()
    if path.is_file() or "." in word or "/" in word:
        return files.load_records(path)[0]
    if _DEVICE.fullmatch(word):
        ran = [one for one in records if word in sides.devices_of(one)]
        known = sorted({"cpu", "gpu", *(device for one in records for device in sides.devices_of(one))})
        if not ran and word.partition(":")[0] not in known:
            raise UsageError(joined(unknown(say("device"), word, known, "%mlc_trace compare"), _HELP))
        return ran
    raise UsageError(joined(say("{word} is not a cell, file or device.", word=repr(word)), _HELP))


def _single_run(word: str, side: Sequence[Record], runtime: Runtime) -> Sequence[Record]:
    number = cellnumbers.parse(word)
    return side if number is None else cellnumbers.select(number, side, runtime.recorder.run.id)


def _title(word: str) -> str:
    number = cellnumbers.parse(word)
    if number is not None:
        return number.name
    if cellnumbers.is_span(word):
        return word if word.startswith("#") else f"[{word}]"
    # Only a file's name: outputs are saved, and folder names can identify a person.
    return Path(word).name or word
