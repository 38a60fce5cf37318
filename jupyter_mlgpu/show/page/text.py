"""Renders pages and tables as plain text, for terminals and for viewers that show nothing else."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

from jupyter_mlgpu.record import language
from jupyter_mlgpu.record.translation import in_language
from jupyter_mlgpu.record.visible import visible
from jupyter_mlgpu.show.page.model import Page, Part, Picture, Table


def page(shown: Page) -> str:
    """Return the whole page, one or more lines per part, the headline first. A terminal cannot fold."""
    head = [shown.headline] if shown.headline else []
    lines = [line for part in (*head, *shown.parts, *shown.notes) for line in _lines(part)]
    return "\n".join(lines)


def table(shown: Table) -> list[str]:
    """Return the lines of a table: words are aligned to the left, figures to the right."""
    if not shown.rows:
        return []
    lines = [*([shown.columns] if shown.columns else []), *shown.rows]
    caption = visible(shown.caption)
    return [
        *([caption if caption.endswith(".") else f"{caption}:"] if caption else []),
        *aligned(lines, [place for place, one in enumerate(shown.columns) if one in shown.figures]),
        *([shown.below] if shown.below else []),
    ]


def in_current_language(shown: Table) -> Table:
    """Return the table in the language of the magics. Data stays unchanged."""
    translated: Table = in_language(shown, language.current_language())
    return translated


def aligned(lines: Iterable[Sequence[str]], figures: Sequence[int] = ()) -> list[str]:
    """Return lines of aligned cells, two blanks apart. Columns in `figures` are aligned to the right."""
    rows = [[visible(cell) for cell in line] for line in lines]
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            _padded(cell, width, right=column in figures)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _padded(cell: str, width: int, *, right: bool) -> str:
    blanks = " " * (width - _width(cell))
    return blanks + cell if right else cell + blanks


def _width(text: str) -> int:
    """Return the number of terminal columns. A Chinese character takes two."""
    return sum(2 if unicodedata.east_asian_width(one) in ("W", "F") else 1 for one in text)


def _lines(part: Part) -> list[str]:
    match part:
        case Table():
            return table(part)
        case Picture(_, words):
            return [visible(words)]
    return [visible(part)]
