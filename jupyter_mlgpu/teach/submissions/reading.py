"""Reader of a saved notebook: its code cells, and the records in their outputs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupyter_mlgpu.record import incoming
from jupyter_mlgpu.record.errors import RecordError, UsageError
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.visible import visible_line
from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE


@dataclass(frozen=True, slots=True)
class SavedRecord:
    """A record in a cell's output, with the two texts saved beside it (None: missing).

    `cut` counts the parts that the receipt left out because of its size.
    """

    record: Record
    cut: Mapping[str, int]
    plain: str | None
    html: str | None


@dataclass(frozen=True, slots=True)
class SavedCell:
    """One code cell. `names` are its nbgrader id and its Jupyter id.

    `number` counts all cells of the notebook from 1, including text. `digest` is that of the saved code, for
    comparison with a record's `source_digest`.
    """

    number: int
    names: tuple[str, ...]
    id: str | None
    digest: str
    execution_count: int | None
    saved: tuple[SavedRecord, ...]

    @property
    def title(self) -> str:
        """The cell's name in a sentence."""
        return f"cell {self.names[0]!r}" if self.names else f"cell number {self.number}"


@dataclass(frozen=True, slots=True)
class Submission:
    """A notebook's code cells, and one sentence for each record in it that could not be read."""

    name: str
    cells: tuple[SavedCell, ...]
    problems: tuple[str, ...] = ()

    @property
    def records(self) -> tuple[Record, ...]:
        """All records saved in the notebook, from top to bottom."""
        return tuple(saved.record for cell in self.cells for saved in cell.saved)

    def cell(self, name: str) -> SavedCell:
        """Return the code cell of that name; raises UsageError if there is none, or more than one."""
        found = [cell for cell in self.cells if name in cell.names]
        if not found:
            raise UsageError(
                f"{self.name} has no code cell {name!r}: it was deleted, or lost its name. "
                "Take the notebook that was given out, and copy your answers into it."
            )
        if len(found) > 1:
            raise UsageError(f"{self.name} has {len(found)} cells named {name!r}; delete all but one.")
        return found[0]


def read(path: Path, *, follow: bool = True) -> Submission:
    """Read a notebook file; raises UsageError with the reason if it cannot be read.

    See `incoming.read_notebook`.
    """
    try:
        data = json.loads(incoming.read_notebook(path, follow=follow).decode())
    except UsageError as error:
        # Outputs are saved, and folder names could identify a person.
        raise UsageError(str(error).replace(visible_line(path), visible_line(path.name))) from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{visible_line(path.name)} is not a notebook: it is not UTF-8 text.") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"{visible_line(path.name)} is not a notebook: it is not JSON. "
            "It may have been cut off on its way."
        ) from error
    cells = data.get("cells") if isinstance(data, dict) else None
    if not isinstance(cells, list):
        raise UsageError(f"{visible_line(path.name)} is not a notebook of format 4: it has no list of cells.")
    problems: list[str] = []
    found = [
        _cell(number, cell, problems)
        for number, cell in enumerate(cells, start=1)
        if isinstance(cell, dict) and cell.get("cell_type") == "code"
    ]
    return Submission(path.name, tuple(found), tuple(problems))


def _cell(number: int, cell: Mapping[str, Any], problems: list[str]) -> SavedCell:
    metadata = cell.get("metadata")
    of_nbgrader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    graded = of_nbgrader.get("grade_id") if isinstance(of_nbgrader, dict) else None
    names = tuple(name for name in (graded, cell.get("id")) if isinstance(name, str))
    count = cell.get("execution_count")
    source = join_text(cell.get("source")) or ""
    outputs = cell.get("outputs")
    saved = []
    for output in outputs if isinstance(outputs, list) else []:
        bundle = output.get("data") if isinstance(output, dict) else None
        if not isinstance(bundle, dict) or MIME_TYPE not in bundle:
            continue
        try:
            saved.append(_read_record(bundle))
        except RecordError as error:
            problems.append(f"A record of cell number {number} cannot be read: {error}.")
    return SavedCell(
        number,
        tuple(dict.fromkeys(names)),
        cell.get("id") if isinstance(cell.get("id"), str) else None,
        hashlib.sha256(source.encode(errors="replace")).hexdigest()[:16],
        count if isinstance(count, int) else None,
        tuple(saved),
    )


def _read_record(bundle: Mapping[str, Any]) -> SavedRecord:
    data = bundle[MIME_TYPE]
    record = Record.from_json(data)
    cut = data.get("cut")
    counts = cut.items() if isinstance(cut, dict) else ()
    return SavedRecord(
        record,
        {str(part): count for part, count in counts if isinstance(count, int)},
        join_text(bundle.get("text/plain")),
        join_text(bundle.get("text/html")),
    )


def join_text(text: object) -> str | None:
    """Return a notebook's text, saved as one string or a list of lines; None if it is neither."""
    if isinstance(text, list):
        return "".join(str(line) for line in text)
    return text if isinstance(text, str) else None
