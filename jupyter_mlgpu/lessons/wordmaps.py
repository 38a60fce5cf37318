"""`word_map`: a table of numbers from 0 to 1 as squares, with a word at each row and each column."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from jupyter_mlgpu.lessons.showing import aligned, image
from jupyter_mlgpu.lessons.values import Numbers, read

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
        return image(self.svg(), repr(self))

    def svg(self) -> str:
        """The drawing as SVG, on a ground of its own."""
        written = max(len(self._rows), len(self._columns)) <= _WRITTEN
        side = _SQUARE if written else _SMALL
        left = 2 * _MARGIN + _LETTER * max(map(len, self._rows))
        top = 2 * _MARGIN + _LETTER * max(map(len, self._columns))
        width = left + side * len(self._columns) + _MARGIN
        height = top + side * len(self._rows) + _MARGIN
        parts = []
        for column, word in enumerate(self._columns):
            x, y = left + side * (column + 0.5) + 4, top - 8
            parts.append(f'<text transform="translate({x:g} {y:g}) rotate(-90)">{escape(word)}</text>')
        for row, (word, line) in enumerate(zip(self._rows, self._numbers, strict=True)):
            y = top + side * row
            parts.append(
                f'<text x="{left - 8:g}" y="{y + side / 2 + 4:g}" text-anchor="end">{escape(word)}</text>'
            )
            for column, one in enumerate(line):
                x = left + side * column
                parts.append(
                    f'<rect x="{x:g}" y="{y:g}" width="{side}" height="{side}" fill="{_FULL}" '
                    f'fill-opacity="{min(1.0, max(0.0, one)):.3f}" stroke="#d1d9e0" stroke-width="0.5"/>'
                )
                if written:
                    parts.append(
                        f'<text class="number" x="{x + side / 2:g}" y="{y + side / 2 + 4:g}">{one:.2f}</text>'
                    )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
            f'viewBox="0 0 {width:g} {height:g}" role="img"><title>{escape(repr(self))}</title>'
            f'<style>{_STYLE}</style><rect width="{width:g}" height="{height:g}" rx="6" fill="#ffffff" '
            f'stroke="#d1d9e0"/>{"".join(parts)}</svg>'
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
