"""`replay`: cells that ran on another machine, such as one with a GPU, shown with their strips."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from jupyter_mlgpu.measure import tracing
from jupyter_mlgpu.record import language
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.language import translate
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.show.markup import Markup, element, joined
from jupyter_mlgpu.show.receipts import page, strip, text
from jupyter_mlgpu.show.receipts.page import OpenReceipt
from jupyter_mlgpu.teach.lessons import machine, recordings

#: Lines that a cell without a strip may have before it is folded.
_MOST_LINES = 12


@dataclass(frozen=True)
class ReplayedCell:
    """A cell's number, its code, and its record. A cell that only prepares others has no record."""

    number: int
    code: str
    record: Record | None


class Replayed:
    """Cells that ran elsewhere, shown as their code, strip and answer. Nothing of them runs.

    They are no receipts of the notebook that shows them, so the sidebar does not list them.
    """

    def __init__(self, note: str, cells: tuple[ReplayedCell, ...]) -> None:
        """`note` says on which machine the cells ran, with which frameworks, and when."""
        self._note = note
        self._cells = cells

    def __repr__(self) -> str:
        return "\n".join([self._note, *(line for one in self._cells for line in _text(one))])

    def _repr_html_(self) -> str:
        return str(element("div", element("div", self._note), *map(_html, self._cells)))


def replay(name: str) -> Replayed:
    """Return the cells of the recording called `name`.

    Raises UsageError if there is no such recording, or if it holds a chart or a table.
    """
    recording = recordings.find(name, on_gpus=True)
    if recording is None or "cells" not in recording.data:
        raise UsageError(f"There are no recorded cells called {name!r}; there are {', '.join(_names())}.")
    cells = tuple(
        ReplayedCell(
            one["number"],
            one["code"],
            one["record"] and Record.from_json(one["record"]).with_origin("replayed"),
        )
        for one in recording.data["cells"]
    )
    return Replayed(str(recording), cells)


def _names() -> list[str]:
    """Return the names of all recordings of cells."""
    paths = sorted(recordings.FOLDER.glob("*.json"))
    return [path.stem for path in paths if "cells" in recordings.read(path).data]


def cells(codes: Mapping[int, str]) -> tuple[ReplayedCell, ...]:
    """Return cells of this kernel, given their code by execution count."""
    found = {one.cell.execution_count: one for one in tracing.records()}
    return tuple(ReplayedCell(number, code.strip(), found.get(number)) for number, code in codes.items())


def save(name: str, shown: Sequence[ReplayedCell]) -> None:
    """Write the cells as a recording, if `recordings.VARIABLE` names a folder."""
    data = [
        {
            "number": one.number,
            "code": one.code,
            "record": None if one.record is None else one.record.to_notebook(),
        }
        for one in shown
    ]
    recordings.record(name, {"cells": data}, framework=machine.frameworks())


def _shown(record: Record) -> OpenReceipt:
    return page.of(record, None, language.current_language())


def _text(cell: ReplayedCell) -> Iterator[str]:
    first, *rest = cell.code.splitlines() or [""]
    yield f"[{cell.number}] {first}"
    yield from (f"    {line}" for line in rest)
    if cell.record is not None:
        yield from text.render(cell.record, _shown(cell.record)).splitlines()


def _html(cell: ReplayedCell) -> Markup:
    code = element("pre", cell.code, style="margin:0;overflow-x:auto")
    if cell.record is None and len(cell.code.splitlines()) > _MOST_LINES:
        code = element("details", element("summary", _folded(cell.code)), code)
    number = element("span", f"[{cell.number}]", style="opacity:.6")
    return joined(
        element("div", number, code, style="display:flex;gap:1em;margin:1em 0 .3em"),
        *(_answer(cell.record) if cell.record is not None else []),
    )


def _folded(code: str) -> str:
    """Return the title of a folded cell, which only prepares the others."""
    return translate(say("The program that they share, {count} lines", count=len(code.splitlines())))


def _answer(record: Record) -> Iterator[Markup]:
    shown = _shown(record)
    yield element("div", text.line(shown.head))
    yield from strip.picture(record, shown.word)
    yield from strip.legend(record, shown.word)
    if shown.answer:
        yield element("div", element("b", shown.answer))
