"""How lessons show what they found: sentences, tables and pictures, in HTML and as text for a terminal."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

#: The first row is the header.
Rows = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Shown:
    """One thing to look at: a table (`rows`), or a picture as SVG with the words that say the same."""

    caption: str = ""
    rows: Rows = ()
    svg: str = ""
    words: str = ""

    def text(self) -> list[str]:
        """Lines for a terminal."""
        return [*filter(None, [self.caption, self.words]), *aligned(self.rows)]

    def html(self) -> str:
        """The same as HTML, with the picture as an image."""
        caption = f"<div>{escape(self.caption)}</div>" if self.caption else ""
        drawn = image(self.svg, self.words) if self.svg else ""
        words = f"<div>{escape(self.words)}</div>" if self.words else ""
        return f"{caption}{drawn}{words}{table(self.rows)}"


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """A table as lines of text."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def table(rows: Sequence[Sequence[str]]) -> str:
    """A table as HTML; nothing where there is no row below the header."""
    head, *body = [[escape(cell) for cell in row] for row in rows] or [[]]
    lines = "".join(f"<tr><td>{'<td>'.join(row)}</tr>" for row in body)
    return f"<table><tr><th>{'<th>'.join(head)}</tr>{lines}</table>" if body else ""


def image(svg: str, words: str) -> str:
    """A drawing as an image with its text: unlike bare SVG, notebooks show it before one trusts them."""
    data = base64.b64encode(svg.encode()).decode()
    return f'<img src="data:image/svg+xml;base64,{data}" alt="{escape(words)}">'


def number(value: complex) -> str:
    """A number in six figures; integers and truth values as they are."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        return f"{value}"
    return f"{value:.6g}"
