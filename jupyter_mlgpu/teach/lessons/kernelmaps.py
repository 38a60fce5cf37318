"""Draws an access of a warp: memory as rows of numbers, the sectors moved, and the threads that use them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jupyter_mlgpu.record.language import translate
from jupyter_mlgpu.record.sentence import say, say_count
from jupyter_mlgpu.show.markup import Markup, element
from jupyter_mlgpu.show.page import svg
from jupyter_mlgpu.show.page.rendering import Drawing
from jupyter_mlgpu.show.page.text import aligned
from jupyter_mlgpu.teach.lessons.palettes import SEQUENTIAL, readable_on

# In points of the drawing.
_WIDE, _HIGH, _GAP, _LEFT, _TOP, _MARGIN = 20, 16, 4, 56, 46, 12
#: Sectors side by side, and lines of the text alternative.
_ACROSS, _LINES = 4, 8
_STYLE = "text{text-anchor:start}.number{font-size:10px;text-anchor:middle}.place{text-anchor:end}"


def draw(array: str, sectors: Sequence[int], numbers: int, threads: Mapping[int, Sequence[int]]) -> Drawing:
    """Draw these sectors of `numbers` numbers each, and the numbers of the `threads` that use each place."""
    count = sum(map(len, threads.values()))
    head = translate(
        say(
            "Simulated: {threads} threads use {used} numbers of {array}; {sectors} sectors are moved, with "
            "{moved} numbers.",
            threads=str(count),
            used=str(len(threads)),
            array=array,
            sectors=str(len(sectors)),
            moved=str(len(sectors) * numbers),
        )
    )
    lines = [
        (
            f"{array}[{numbers * sector}] … {array}[{numbers * (sector + 1) - 1}]",
            " ".join(_named(threads.get(place, ())) for place in _places(sector, numbers)),
        )
        for sector in sectors
    ]
    titles = (translate(say("sector")), translate(say("threads that use its numbers")))
    words = "\n".join([head, *aligned([titles, *lines[:_LINES]])])
    if len(lines) > _LINES:
        more = say_count("And {count} more sector.", "And {count} more sectors.", len(lines) - _LINES)
        words += f"\n{translate(more)}"
    rows = -(-len(sectors) // _ACROSS)
    width = _LEFT + _ACROSS * (numbers * _WIDE + _GAP) + _MARGIN
    height = _TOP + rows * (_HIGH + _GAP) + _MARGIN
    parts = [element("text", head, x=_MARGIN, y=26)]
    for at, sector in enumerate(sectors):
        row, column = divmod(at, _ACROSS)
        left, top = _LEFT + column * (numbers * _WIDE + _GAP), _TOP + row * (_HIGH + _GAP)
        if column == 0:
            parts.append(
                element("text", f"{array}[{numbers * sector}]", class_="small place", x=_LEFT - 6, y=top + 12)
            )
        parts += _sector(left, top, [threads.get(place, ()) for place in _places(sector, numbers)])
    return Drawing(svg.frame(words, width, height, *parts, css=_STYLE), words)


def _places(sector: int, numbers: int) -> range:
    return range(numbers * sector, numbers * (sector + 1))


def _named(threads: Sequence[int]) -> str:
    """Return the thread of a number, "3+" if there are more of them, or a dot if there is none."""
    return "·" if not threads else str(threads[0]) if len(threads) == 1 else f"{threads[0]}+"


def _sector(left: float, top: float, users: Sequence[Sequence[int]]) -> list[Markup]:
    parts = []
    for at, threads in enumerate(users):
        ground = SEQUENTIAL[2] if threads else SEQUENTIAL[0]
        x = left + at * _WIDE
        parts.append(_box(x, top, _WIDE, fill=ground, stroke="#d1d9e0", stroke_width="0.5"))
        if threads:
            look = {"class_": "number", "style": f"fill:{readable_on(ground)}"}
            parts.append(element("text", _named(threads), x=f"{x + _WIDE / 2:g}", y=f"{top + 12:g}", **look))
    return [*parts, _box(left, top, len(users) * _WIDE, fill="none", stroke="#59636e")]


def _box(x: float, y: float, width: float, **look: str) -> Markup:
    return element("rect", x=f"{x:g}", y=f"{y:g}", width=f"{width:g}", height=_HIGH, **look)
