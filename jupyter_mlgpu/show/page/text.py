"""Pages and tables as plain text, for terminals and for viewers that show nothing else."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace

from jupyter_mlgpu.record.speaking import said
from jupyter_mlgpu.show.page.model import Page, Part, Picture, Table

# Control characters but line ends and tabs, and those that turn the direction of a text around.
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """Text with the characters that one does not see written out: they deceive readers and terminals."""
    if text.isprintable():  # which is quick, and so are nearly all
        return text
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text.replace("\r\n", "\n"))


def page(shown: Page) -> str:
    """All that a page says, a line or more for each part, the headline first: a terminal has no folds."""
    head = [shown.headline] if shown.headline else []
    lines = [line for part in (*head, *shown.parts, *shown.notes) for line in _lines(part)]
    return "\n".join(lines)


def table(shown: Table) -> list[str]:
    """The lines of a table: words begin under each other, figures end there."""
    if not shown.rows:
        return []
    lines = [*([shown.columns] if shown.columns else []), *shown.rows]
    caption = visible(shown.caption)
    return [
        *([caption if caption.endswith(".") else f"{caption}:"] if caption else []),
        *aligned(lines, [place for place, one in enumerate(shown.columns) if one in shown.figures]),
        *([shown.below] if shown.below else []),
    ]


def spoken(shown: Table) -> Table:
    """The table in the language in which magics answer; what is data stays as it is."""
    rows = tuple(tuple(map(said, row)) for row in shown.rows)
    columns, figures = (tuple(map(said, names)) for names in (shown.columns, shown.figures))
    return replace(shown, columns=columns, rows=rows, figures=figures)


def aligned(lines: Iterable[Sequence[str]], figures: Sequence[int] = ()) -> list[str]:
    """Cells under each other, two blanks apart; those of the columns in `figures` end under each other."""
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
    """Columns of a terminal: a Chinese character takes two."""
    return sum(2 if unicodedata.east_asian_width(one) in ("W", "F") else 1 for one in text)


def _lines(part: Part) -> list[str]:
    match part:
        case Table():
            return table(part)
        case Picture(_, words):
            return [visible(words)]
    return [visible(part)]
