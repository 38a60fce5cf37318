"""`word_map`: a table of numbers from 0 to 1 as coloured squares, with a word at each row and column."""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_mlgpu.show.markup import element
from jupyter_mlgpu.show.page import svg
from jupyter_mlgpu.show.page.rendering import Drawing
from jupyter_mlgpu.show.page.text import aligned
from jupyter_mlgpu.teach.lessons.palettes import SEQUENTIAL, colour, readable_on
from jupyter_mlgpu.teach.lessons.values import Numbers, read

# In units of the drawing. A letter of the sans-serif type is about seven wide.
_SQUARE, _LETTER, _MARGIN, _SMALL = 34, 7.2, 12, 24

#: Squares show their number up to this many rows or columns; beyond that it would be unreadable.
_WRITTEN = 12

_STYLE = "text{text-anchor:start}.number{font-size:10px;text-anchor:middle}"


def word_map(numbers: object, rows: Sequence[str], columns: Sequence[str]) -> Drawing:
    """Draw a heat map of numbers from 0 to 1, `[rows, columns]`, of any framework.

    Colours always run from the lightest for 0 to the darkest for 1. Raises ValueError if the shape does not
    match the words.
    """
    found = read(numbers)
    shape = [len(rows), len(columns)]
    if not isinstance(found, Numbers) or found.shape != shape:
        what = f"shape {found.shape}" if isinstance(found, Numbers) else "no numbers"
        raise ValueError(f"A map of these words needs numbers of shape {shape}; got {what}.")
    shares: list[list[float]] = found.array.astype(float).tolist()
    lines = [(word, *(f"{one:.2f}" for one in line)) for word, line in zip(rows, shares, strict=True)]
    return _draw(shares, rows, columns, "\n".join(aligned([("", *columns), *lines])))


def _draw(
    numbers: Sequence[Sequence[float]], rows: Sequence[str], columns: Sequence[str], words: str
) -> Drawing:
    written = max(len(rows), len(columns)) <= _WRITTEN
    side = _SQUARE if written else _SMALL
    left = 2 * _MARGIN + _LETTER * max(map(len, rows))
    top = 2 * _MARGIN + _LETTER * max(map(len, columns))
    width = left + side * len(columns) + _MARGIN
    height = top + side * len(rows) + _MARGIN
    parts = []
    for column, word in enumerate(columns):
        x, y = left + side * (column + 0.5) + 4, top - 8
        parts.append(element("text", word, transform=f"translate({x:g} {y:g}) rotate(-90)"))
    for row, (word, line) in enumerate(zip(rows, numbers, strict=True)):
        y = top + side * row
        parts.append(element("text", word, x=f"{left - 8:g}", y=f"{y + side / 2 + 4:g}", text_anchor="end"))
        for column, one in enumerate(line):
            x = left + side * column
            ground = colour(SEQUENTIAL, one)
            parts.append(
                element(
                    "rect",
                    x=f"{x:g}",
                    y=f"{y:g}",
                    width=side,
                    height=side,
                    fill=ground,
                    stroke="#d1d9e0",
                    stroke_width="0.5",
                )
            )
            if written:
                middle, down = f"{x + side / 2:g}", f"{y + side / 2 + 4:g}"
                look = {"class_": "number", "style": f"fill:{readable_on(ground)}"}
                parts.append(element("text", f"{one:.2f}", x=middle, y=down, **look))
    return Drawing(svg.frame(words, width, height, *parts, css=_STYLE), words)
