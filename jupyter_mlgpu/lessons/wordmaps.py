"""`word_map`: a table of numbers from 0 to 1 as squares, with a word at each row and each column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jupyter_mlgpu.lessons.showing import aligned
from jupyter_mlgpu.lessons.values import Numbers, read
from jupyter_mlgpu.markup import Markup, element, image, style

# In points of the drawing; a letter of the sans-serif type is about seven wide.
_SQUARE, _LETTER, _MARGIN, _SMALL = 34, 7.2, 12, 24

#: Squares of more rows or columns than this carry no number: it could not be read.
_WRITTEN = 12

_STYLE = "text{font:12px sans-serif;fill:#1f2328}.number{font-size:10px;text-anchor:middle}"
_FULL = "#f28e2b"  # dark numbers can be read on it (7 to 1)


class WordMap:
    """Numbers from 0 to 1, `[rows, columns]`, drawn from white to orange."""

    def __init__(self, numbers: Any, rows: Sequence[str], columns: Sequence[str]) -> None:
        self._numbers: list[list[float]] = numbers
        self._rows = rows
        self._columns = columns

    def __repr__(self) -> str:
        body = [
            (word, *(f"{one:.2f}" for one in line))
            for word, line in zip(self._rows, self._numbers, strict=True)
        ]
        return "\n".join(aligned([("", *self._columns), *body]))

    def _repr_html_(self) -> str:
        return str(image(self._drawing(), repr(self)))

    def svg(self) -> str:
        """The drawing as SVG, on a ground of its own."""
        return str(self._drawing())

    def _drawing(self) -> Markup:
        written = max(len(self._rows), len(self._columns)) <= _WRITTEN
        side = _SQUARE if written else _SMALL
        left = 2 * _MARGIN + _LETTER * max(map(len, self._rows))
        top = 2 * _MARGIN + _LETTER * max(map(len, self._columns))
        width = left + side * len(self._columns) + _MARGIN
        height = top + side * len(self._rows) + _MARGIN
        parts = []
        for column, word in enumerate(self._columns):
            x, y = left + side * (column + 0.5) + 4, top - 8
            parts.append(element("text", word, transform=f"translate({x:g} {y:g}) rotate(-90)"))
        for row, (word, line) in enumerate(zip(self._rows, self._numbers, strict=True)):
            y = top + side * row
            parts.append(
                element("text", word, x=f"{left - 8:g}", y=f"{y + side / 2 + 4:g}", text_anchor="end")
            )
            for column, one in enumerate(line):
                x = left + side * column
                parts.append(
                    element(
                        "rect",
                        x=f"{x:g}",
                        y=f"{y:g}",
                        width=side,
                        height=side,
                        fill=_FULL,
                        fill_opacity=f"{min(1.0, max(0.0, one)):.3f}",
                        stroke="#d1d9e0",
                        stroke_width="0.5",
                    )
                )
                if written:
                    middle, down = f"{x + side / 2:g}", f"{y + side / 2 + 4:g}"
                    parts.append(element("text", f"{one:.2f}", class_="number", x=middle, y=down))
        wide, high = f"{width:g}", f"{height:g}"
        return element(
            "svg",
            element("title", repr(self)),
            style(_STYLE),
            element("rect", width=wide, height=high, rx=6, fill="#ffffff", stroke="#d1d9e0"),
            *parts,
            xmlns="http://www.w3.org/2000/svg",
            width=wide,
            height=high,
            viewBox=f"0 0 {wide} {high}",
            role="img",
        )


def word_map(numbers: object, rows: Sequence[str], columns: Sequence[str]) -> WordMap:
    """A heat map of `numbers` from 0 to 1, `[rows, columns]`, of any framework, with its words.

    Raises ValueError where the shape is not that of the words.
    """
    found = read(numbers)
    shape = [len(rows), len(columns)]
    if not isinstance(found, Numbers) or found.shape != shape:
        what = f"shape {found.shape}" if isinstance(found, Numbers) else "no numbers"
        raise ValueError(f"A map of these words needs numbers of shape {shape}; got {what}.")
    return WordMap(found.array.astype(float).tolist(), list(rows), list(columns))
