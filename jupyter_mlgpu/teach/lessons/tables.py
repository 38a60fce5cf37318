"""`figures`: a table of measurements made here, and below it those made on another machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jupyter_mlgpu.record.displayable import Displayable
from jupyter_mlgpu.record.language import translate
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.show.page.model import Page, with_head
from jupyter_mlgpu.show.page.rendering import page_of
from jupyter_mlgpu.show.page.scales import written
from jupyter_mlgpu.teach.lessons import machine, recordings
from jupyter_mlgpu.teach.lessons.display import Rows


@dataclass(frozen=True, repr=False)
class LessonTable(Displayable):
    """The rows measured here, and replayed rows below a note."""

    rows: Rows
    replayed: Rows = ()
    note: str = ""


@page_of.register
def _page(shown: LessonTable) -> Page:
    below = (shown.note, with_head(shown.replayed)) if shown.note else ()
    return Page((with_head(shown.rows), *below))


def figures(name: str, rows: Sequence[Mapping[str, object]], *, by: str = "") -> LessonTable:
    """Return a table with a row for each mapping and a column for each key.

    None is shown as "not measured". If the package has a recording called `name`, its rows stand below where
    this machine has no GPU or `rows` is empty. With `by`, the name of a column, rows that were not measured
    here stand below on any machine: those with a value in that column that no row here has. Raises UsageError
    if `name` contains anything but letters, digits and _.
    """
    data = {"rows": [{key: _plain(value) for key, value in row.items()} for row in rows]}
    recordings.record(name, data, framework=machine.frameworks() if by else "")
    recording = recordings.find(name, on_gpus=bool(by) or not rows)
    if recording is None:
        return LessonTable(_cells(rows))
    measured = {row.get(by) for row in rows} if by else set()
    replayed = [row for row in recording.data["rows"] if not by or row.get(by) not in measured]
    if not replayed:
        return LessonTable(_cells(rows))
    return LessonTable(_cells(rows), _cells(replayed), str(recording))


def _cells(rows: Sequence[Mapping[str, object]]) -> Rows:
    header = tuple(dict.fromkeys(key for row in rows for key in row))
    return (header, *(tuple(_cell_text(row.get(key)) for key in header) for row in rows)) if header else ()


def _cell_text(value: object) -> str:
    value = _plain(value)
    if value is None:
        return translate(say("not measured"))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return written(value)
    return str(value)


def _plain(value: object) -> object:
    """Convert a number of NumPy or of a framework to a Python number."""
    return value.item() if hasattr(value, "item") else value
