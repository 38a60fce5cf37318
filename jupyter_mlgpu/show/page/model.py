"""A page as plain data, in reading order; how it looks is for the renderers beside this module."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.show.markup import Markup
from jupyter_mlgpu.show.page.chart import Chart

#: Under which a table is folded that says the same as the chart above it.
FIGURES = say("The figures as a table")


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under the names of their columns; without names there is no head.

    `figures` names the columns of numbers, which end under each other; words begin under each other. `below`
    says what was cut, empty where nothing was. A page shows `most` rows, None for all, and folds the table
    under `summary` where there is one; a text has all.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    figures: tuple[str, ...] = ()
    caption: str = ""
    below: str = ""
    most: int | None = None
    summary: str = ""


def with_head(lines: Iterable[Sequence[str]], *, figures: tuple[str, ...] = ()) -> Table:
    """The table of lines whose first one is the head; empty where there is none."""
    head, *rows = [*map(tuple, lines)] or [()]
    return Table(head, tuple(rows), figures)


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing as SVG, and `words` that say the same for who cannot see it.

    `live` makes the data of the same drawing for our own view, where one can move in it.
    """

    drawing: Markup
    words: str
    live: Callable[[], Live] | None = None


@dataclass(frozen=True, slots=True)
class Live:
    """A drawing that our own view draws itself, and its data, as decoding.to_json takes it."""

    kind: Literal["graph"]
    data: Any


#: What a page is about; our own view names its tab by it.
Kind = Literal["page", "plan", "race", "bench", "engines"]

#: A text is a sentence in a paragraph of its own.
Part = str | Table | Picture


@dataclass(frozen=True, slots=True)
class Page:
    """The `headline`, which is the answer in one sentence, then parts in reading order.

    `notes` say how the figures came about and how to read them: below a headline they are folded. `charts`
    say the same as the tables; the first one is what the page is about, further ones are folded. `details`
    are tables that only our own view has, folded. There, pages are listed by `title`.
    """

    parts: tuple[Part, ...]
    notes: tuple[str, ...] = ()
    charts: tuple[Chart, ...] = ()
    details: tuple[Table, ...] = ()
    title: str = ""
    kind: Kind = "page"
    headline: str = ""
