"""A chart as plain data: what is drawn over which axes. `svg` and `plotly` beside this module draw it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from jupyter_mlgpu.show.page.scales import written

#: Eight colours that readers who see fewer colours tell apart, on white and on black: after M. Okabe and
#: K. Ito, Color Universal Design, 2008 (https://jfly.uni-koeln.de/color/). Their yellow can hardly be seen on
#: white and is a rose here, their black is grey: it stands for whatever has no colour of its own.
COLOURS = ("#3a87c8", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#ff8796", "#6e6e6e")

#: What is no data: a text or a line that is read on white and on black, 4.5 to 1 and 4.2 to 1.
NEUTRAL = "#777777"

#: A line with a mark at each point, marks alone, a thin line as a bound of others, bars from 0 on, or bars
#: from the low to the high end of each point.
Mark = Literal["line", "points", "roof", "bar", "span"]

#: How much of the distance between two names bars side by side take, or rows of spans.
ROOM = 0.75


@dataclass(frozen=True, slots=True)
class Point:
    """A place in the axes' units, and what it says when it is pointed at.

    `low` and `high` end its spread, on the axis of its value; None where there is none.
    """

    x: float
    y: float
    label: str = ""
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """Points of one name. The same `colour`, a number, is the same thing in all charts of a page.

    `dashed` was not measured here: it is replayed from elsewhere.
    """

    name: str
    points: tuple[Point, ...]
    colour: int
    mark: Mark = "line"
    dashed: bool = False

    @property
    def hue(self) -> str:
        """Its colour for a page."""
        return COLOURS[self.colour % len(COLOURS)]


@dataclass(frozen=True, slots=True)
class Axis:
    """What an axis means, with its unit; `log`: each step is a multiple; `zero`: it begins at 0.

    With `names` its places are 0, 1, 2, … and bear these. `written` is how a number stands beside it.
    """

    title: str
    log: bool = False
    zero: bool = False
    names: tuple[str, ...] = ()
    written: Callable[[float], str] = written


@dataclass(frozen=True, slots=True)
class Rule:
    """A dashed line across the chart at a value of its x axis, and what it says.

    The value lies between `low` and `high`; None where that is not known.
    """

    at: float
    label: str = ""
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Chart:
    """Series over two axes; without any there is nothing to draw.

    `title` is a line each, `words` say what the chart says, `notes` what is not seen in it. Where the y axis
    has names, values go along x. Bars at one place stand on each other where they are `stacked`. `rows` is
    how many rows of spans there are at a name.
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
        """Whether values go from left to right."""
        return bool(self.y.names)
