"""`vector_map`: words as points in the plane, with a colour for each group, and a table of the points."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jupyter_mlgpu.record.displayable import Displayable
from jupyter_mlgpu.record.language import translate
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.show.markup import Markup, element
from jupyter_mlgpu.show.page import svg
from jupyter_mlgpu.show.page.chart import COLOURS
from jupyter_mlgpu.show.page.model import Page, Picture, Table
from jupyter_mlgpu.show.page.rendering import page_of
from jupyter_mlgpu.teach.lessons.values import Numbers, read

# In units of the drawing: its width, the space around the words, the space above them, the height of a line,
# and the width of a letter.
_WIDTH, _MARGIN, _LEGEND, _LINE, _LETTER = 640, 70, 44, 15, 6.6

#: Smallest and largest height of the drawing, which otherwise depends on the positions of the words.
_LOWEST, _HIGHEST = 220, 480

_STYLE = "text{text-anchor:start}"


@dataclass(frozen=True, repr=False)
class VectorMap(Displayable):
    """The drawing, and the points as a table."""

    picture: Picture
    table: Table

    @property
    def svg(self) -> str:
        """Return the drawing as text."""
        return str(self.picture.drawing)


@page_of.register
def _page(shown: VectorMap) -> Page:
    return Page((shown.picture, shown.table))


def vector_map(places: object, groups: Mapping[str, Sequence[str]]) -> VectorMap:
    """Draw words at their points in the plane, `[words, 2]`, of any framework, in the order of `groups`.

    Both axes have the same scale, so distances can be compared. Raises ValueError if the numbers of points
    and words differ, or if there are fewer than two.
    """
    words = [(word, number) for number, group in enumerate(groups.values()) for word in group]
    found = read(places)
    if not isinstance(found, Numbers) or found.shape != [len(words), 2] or len(words) < 2:
        what = f"shape {found.shape}" if isinstance(found, Numbers) else "no numbers"
        raise ValueError(
            f"A map needs two words or more, and a place for each: [{len(words)}, 2]; got {what}."
        )
    plane = [(float(x), float(y)) for x, y in found.array]
    names = list(groups)
    rows = tuple(
        (word, names[number], f"{x:.2f}", f"{y:.2f}", words[_nearest(plane, place)][0])
        for place, ((word, number), (x, y)) in enumerate(zip(words, plane, strict=True))
    )
    columns = tuple(map(translate, (say("word"), say("group"), "x", "y", say("nearest on this map"))))
    description = translate(
        say("A map of {count} words: {groups}.", count=len(words), groups=", ".join(names))
    )
    table = Table(columns, rows, figures=("x", "y"), summary=translate(say("The figures")))
    return VectorMap(Picture(_draw(plane, words, names, description), description), table)


def _nearest(plane: Sequence[tuple[float, float]], place: int) -> int:
    others = [other for other in range(len(plane)) if other != place]
    return min(others, key=lambda other: math.dist(plane[other], plane[place]))


def _draw(
    plane: Sequence[tuple[float, float]],
    words: Sequence[tuple[str, int]],
    names: Sequence[str],
    description: str,
) -> Markup:
    across, up = ([place[axis] for place in plane] for axis in (0, 1))
    wide, high = (max(axis) - min(axis) or 1.0 for axis in (across, up))
    scale = min((_WIDTH - 2 * _MARGIN) / wide, _HIGHEST / high)
    height = max(_LOWEST, scale * high) + _LEGEND + 2 * _LINE
    middle = (
        _WIDTH / 2 - scale * (min(across) + wide / 2),
        (_LEGEND + height) / 2 + scale * (min(up) + high / 2),
    )
    dots = [(middle[0] + scale * x, middle[1] - scale * y) for x, y in plane]
    parts, left = [], 16.0
    for number, name in enumerate(names):
        parts += [_dot(left + 5, 22, number), svg.text(left + 14, 26, name, "left")]
        left += 34 + svg.LETTER * len(name)
    parts += [_dot(x, y, number) for (x, y), (_, number) in zip(dots, words, strict=True)]
    taken = [(x - 4, y - 4, x + 4, y + 4) for x, y in dots]
    for (x, y), (word, _) in zip(dots, words, strict=True):
        box = _free(x, y, _LETTER * len(word), taken)
        taken.append(box)
        parts.append(element("text", word, x=f"{box[0]:.1f}", y=f"{box[3] - 3:.1f}"))
    return svg.frame(description, _WIDTH, height, *parts, css=_STYLE)


_Box = tuple[float, float, float, float]


def _free(x: float, y: float, wide: float, taken: Sequence[_Box]) -> _Box:
    """Return a free box for a word next to its dot, or the one with the fewest overlaps."""
    corners = [
        (x + 7 if side > 0 else x - 7 - wide if side < 0 else x - wide / 2, y + down * _LINE - _LINE / 2)
        for side, down in ((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (-1, 1), (-1, -1), (1, 1))
    ]
    boxes = [(left, top, left + wide, top + _LINE) for left, top in corners]
    return min(
        boxes, key=lambda box: sum(_overlap(box, other) for other in taken) + 1000 * (not _inside(box))
    )


def _overlap(one: _Box, other: _Box) -> float:
    across = min(one[2], other[2]) - max(one[0], other[0])
    down = min(one[3], other[3]) - max(one[1], other[1])
    return max(0.0, across) * max(0.0, down)


def _inside(box: _Box) -> bool:
    return box[0] >= 4 and box[2] <= _WIDTH - 4


def _dot(x: float, y: float, number: int) -> Markup:
    return element("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r="4", fill=COLOURS[number % len(COLOURS)])
