"""How lessons show what they found: sentences, tables and pictures, in HTML and as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jupyter_mlgpu.markup import Markup, element, image, joined, short_cells

#: The first row is the header.
Rows = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Shown:
    """One thing to look at: a table (`rows`), or a picture as SVG with the words that say the same."""

    caption: str = ""
    rows: Rows = ()
    drawing: Markup | None = None
    words: str = ""

    @property
    def svg(self) -> str:
        """The picture as text; empty where there is none."""
        return str(self.drawing or "")

    def text(self) -> list[str]:
        """Lines for a terminal."""
        return [*filter(None, [self.caption, self.words]), *aligned(self.rows)]

    def html(self) -> Markup:
        """The same as HTML, with the picture as an image."""
        return joined(
            element("div", self.caption) if self.caption else None,
            image(self.drawing, self.words) if self.drawing is not None else None,
            element("div", self.words) if self.words else None,
            table(self.rows),
        )


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """A table as lines of text."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def table(rows: Sequence[Sequence[str]]) -> Markup:
    """A table as HTML; nothing where there is no row below the header."""
    head, *body = rows or [[]]
    if not body:
        return joined()
    lines = [element("tr", short_cells(*row)) for row in body]
    return element("table", element("tr", short_cells(*head, name="th")), *lines)


def number(value: complex) -> str:
    """A number in six figures; integers and truth values as they are."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        return f"{value}"
    return f"{value:.6g}"
