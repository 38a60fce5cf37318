"""Reads the records of a saved notebook or of a records file, and selects those that a word names."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from jupyter_mlgpu.explain.comparing import sides
from jupyter_mlgpu.record import cellnumbers, files, incoming
from jupyter_mlgpu.record.errors import RecordError, UsageError
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.visible import visible_line
from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE

_DEVICE = re.compile(r"[a-z]+(:\d+)?", re.ASCII)
_RUN = re.compile(r"[0-9a-f]{1,64}")
#: Advice where a file holds no record: only the kernel and its page have those of a running notebook.
SAVE = (
    "For the records of a running notebook, save the notebook, or run `%mlc_trace save records.jsonl` in it, "
    "and name that file."
)


@dataclass(frozen=True)
class SavedRecords:
    """The records of a file, and a sentence for each that could not be read. `name` is the file's name."""

    name: str
    records: Sequence[Record]
    problems: Sequence[str]

    @property
    def run(self) -> str:
        """The id of the newest run, whose cells' numbers need no suffix."""
        return max(self.records, key=lambda one: one.started_at).run.id

    def select(self, word: str | None, *, all_runs: bool = False) -> Sequence[Record]:
        """Return the records that a cell's number, a range or a device names, or all without a word.

        With `all_runs`, a cell's number stands for all runs of its code. A range is of every run in the file.
        Raises UsageError if nothing is selected.
        """
        if word is None:
            return self.records
        if cellnumbers.is_span(word):
            runs = dict.fromkeys(one.run.id for one in self.records)
            found = [one for run in runs for one in cellnumbers.span(word, self.records, run) or ()]
        elif (number := cellnumbers.parse(word)) is not None:
            numbered = sides.numbered(word, self.records, self.run) if all_runs else None
            return numbered or cellnumbers.select(number, self.records, self.run)
        elif _DEVICE.fullmatch(word):
            found = [one for one in self.records if word in sides.devices_of(one)]
        else:
            raise UsageError(
                f"{word!r:.60} names no cells; give a cell's number (10), a range (3-7) or a device (gpu)."
            )
        if not found:
            raise UsageError(
                f"{self.name} has no record of {word}; ask for its records without naming cells."
            )
        return found

    def names(self) -> Mapping[tuple[str, int], str]:
        """Return the name of each record, by its key."""
        return cellnumbers.names(self.records, self.run)

    def side(self, word: str | None, with_file: bool) -> str:
        """Return the name of what a word selects, in a comparison."""
        if word is None:
            return self.name
        number = cellnumbers.parse(word)
        called = f"[{word}]" if cellnumbers.is_span(word) else word if number is None else number.name
        return f"{called} of {self.name}" if with_file else called


def read(file: str) -> SavedRecords:
    """Read a notebook (.ipynb) or a records file (any other name).

    Raises MlgpuError, one sentence, if the file cannot be read or holds no record.
    """
    path = Path(file).expanduser()
    name = visible_line(path.name)
    if path.suffix == ".ipynb":
        records, problems = _of_notebook(path)
    else:
        records, problems = files.load_records(path)
    if not records:
        unread = f" ({len(problems):,} entries could not be read)" if problems else ""
        raise UsageError(f"{name} holds no record of a cell{unread}. {SAVE}")
    return SavedRecords(name, [_with_plain_run(one) for one in records], problems)


def _with_plain_run(record: Record) -> Record:
    """Return the record with a run id of hexadecimal digits, because the id is in its cell's name."""
    if _RUN.fullmatch(record.run.id):
        return record
    plain = hashlib.sha256(record.run.id.encode(errors="replace")).hexdigest()[:32]
    return replace(record, run=replace(record.run, id=plain))


def _of_notebook(path: Path) -> tuple[Sequence[Record], Sequence[str]]:
    data = incoming.read_notebook(path, most=incoming.MOST_OF_ONES_OWN)
    try:
        notebook = json.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{visible_line(path.name)} is not a notebook: it is not JSON.") from error
    records: dict[tuple[str, int], Record] = {}
    problems: list[str] = []
    for bundle in _outputs(notebook):
        try:
            record = Record.from_json(bundle[MIME_TYPE])
        except RecordError as error:
            problems.append(f"A receipt cannot be read: {error}.")
        else:
            record = record.with_origin("loaded") if record.origin == "live" else record
            records[record.key] = record
    return list(records.values()), problems


def _outputs(notebook: object) -> Iterator[dict[str, Any]]:
    """Yield the data of each output that is a receipt, from top to bottom."""
    for cell in _list(notebook, "cells"):
        for output in _list(cell, "outputs"):
            data = output.get("data") if isinstance(output, dict) else None
            if isinstance(data, dict) and MIME_TYPE in data:
                yield data


def _list(table: object, name: str) -> list[Any]:
    found = table.get(name) if isinstance(table, dict) else None
    return found if isinstance(found, list) else []
