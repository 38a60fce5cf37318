"""A chart as plain data: series and axes. `svg` and `plotly` beside this module draw it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from jupyter_mlgpu.show.page.scales import written

#: Eight colours that readers with colour vision deficiency can distinguish, on white and on black: after
#: M. Okabe and K. Ito, Color Universal Design, 2008 (https://jfly.uni-koeln.de/color/). Their yellow is
#: hardly visible on white and is replaced by a rose. Their black is replaced by grey, for series without a
#: colour.
COLOURS = ("#3a87c8", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#ff8796", "#6e6e6e")

#: The colour of texts and lines that are not data. Its contrast is 4.5 to 1 on white and 4.2 to 1 on black.
NEUTRAL = "#777777"

#: A line with a mark at each point, marks only, a thin line as a bound of others, bars from 0, or bars from
#: the low to the high end of each point.
Mark = Literal["line", "points", "roof", "bar", "span"]

#: The part of the distance between two names that bars side by side, or rows of spans, take.
ROOM = 0.75


@dataclass(frozen=True, slots=True)
class Point:
    """A place in the axes' units, and its label, which is shown when the pointer is over it.

    `low` and `high` are the ends of its spread on the value axis, or None.
    """

    x: float
    y: float
    label: str = ""
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """Points with one name. The same `colour` number means the same thing in all charts of a page.

    `dashed`: it was not measured here but replayed from elsewhere.
    """

    name: str
    points: tuple[Point, ...]
    colour: int
    mark: Mark = "line"
    dashed: bool = False

    @property
    def hue(self) -> str:
        """Its colour as a CSS value."""
        return COLOURS[self.colour % len(COLOURS)]


@dataclass(frozen=True, slots=True)
class Axis:
    """The meaning of an axis, with its unit. `log`: it is logarithmic. `zero`: it begins at 0.

    With `names`, the places 0, 1, 2, … have these names. `written` formats a number beside the axis.
    """

    title: str
    log: bool = False
    zero: bool = False
    names: tuple[str, ...] = ()
    written: Callable[[float], str] = written


@dataclass(frozen=True, slots=True)
class Rule:
    """A dashed line across the chart at a value of its x axis, with a label.

    The value lies between `low` and `high`, or None if that is unknown.
    """

    at: float
    label: str = ""
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Chart:
    """Series over two axes. A chart without series is not drawn.

    `title` holds one line each, `words` is a text alternative, `notes` say what the chart does not show. If
    the y axis has names, values go along x. Bars at one place are drawn on each other if `stacked` is true.
    `rows` is the number of rows of spans per name.
    """

    title: tuple[str, ...]
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    words: str
    rules: tuple[Rule, ...] = ()
    notes: tuple[str, ...] = ()
    stacked: bool = True
    rows: int = 1

    @property
    def lies(self) -> bool:
        """True if values go from left to right."""
        return bool(self.y.names)
