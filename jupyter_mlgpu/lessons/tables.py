"""`figures`: a table of what was measured here, with what was measured elsewhere below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jupyter_mlgpu.lessons import recordings
from jupyter_mlgpu.lessons.axes import written
from jupyter_mlgpu.lessons.showing import Rows, aligned, table
from jupyter_mlgpu.markup import element, joined


@dataclass(frozen=True)
class Table:
    """The rows measured here, and those that are replayed, under a line that says so."""

    rows: Rows
    replayed: Rows = ()
    note: str = ""

    def __repr__(self) -> str:
        below = [self.note, *aligned(self.replayed)] if self.note else []
        return "\n".join([*aligned(self.rows), *below])

    def _repr_html_(self) -> str:
        below = [element("div", self.note), table(self.replayed)] if self.note else []
        return str(joined(table(self.rows), *below))


def figures(name: str, rows: Sequence[Mapping[str, object]]) -> Table:
    """A table, a row for each mapping, a column for each key; None is shown as "not measured".

    Where the package has a recording called `name`, and this machine has no GPU, its rows stand below. Raises
    UsageError where `name` is not made of letters, digits and _.
    """
    recordings.record(name, {"rows": [{key: _plain(value) for key, value in row.items()} for row in rows]})
    recording = recordings.beside(name)
    if recording is None:
        return Table(_cells(rows))
    return Table(_cells(rows), _cells(recording.data["rows"]), str(recording))


def _cells(rows: Sequence[Mapping[str, object]]) -> Rows:
    header = tuple(dict.fromkeys(key for row in rows for key in row))
    return (header, *(tuple(_shown(row.get(key)) for key in header) for row in rows)) if header else ()


def _shown(value: object) -> str:
    value = _plain(value)
    if value is None:
        return "not measured"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return written(value)
    return str(value)


def _plain(value: object) -> object:
    """A number of NumPy, or of a framework, as one of Python."""
    return value.item() if hasattr(value, "item") else value
