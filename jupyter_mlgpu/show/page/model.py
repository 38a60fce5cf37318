"""A page as plain data, in reading order. The renderers beside this module determine its look."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.show.markup import Markup
from jupyter_mlgpu.show.page.chart import Chart

#: The title of a folded table that repeats the chart above it.
FIGURES = say("The figures as a table")


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells below column names. Without names there is no head.

    `figures` names the number columns, which are aligned to the right; others are aligned to the left.
    `below` says what was cut, or is empty. A page shows `most` rows, None for all, and folds the table under
    `summary` if there is one. Text output has all rows.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    figures: tuple[str, ...] = ()
    caption: str = ""
    below: str = ""
    most: int | None = None
    summary: str = ""


def with_head(lines: Iterable[Sequence[str]], *, figures: tuple[str, ...] = ()) -> Table:
    """Return a table of lines whose first one is the head, or an empty table if there are no lines."""
    head, *rows = [*map(tuple, lines)] or [()]
    return Table(head, tuple(rows), figures)


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing as SVG, and `words` as its text alternative.

    `live` makes the data of the same drawing for the package's own view, where it can be zoomed and moved.
    """

    drawing: Markup
    words: str
    live: Callable[[], Live] | None = None


@dataclass(frozen=True, slots=True)
class Live:
    """A drawing that the package's own view draws from `data`, in a form that decoding.to_json accepts."""

    kind: Literal["graph"]
    data: Any


#: The subject of a page, after which the package's own view names its tab.
Kind = Literal["page", "plan", "race", "bench", "engines"]

#: A text is a sentence in its own paragraph.
Part = str | Table | Picture


@dataclass(frozen=True, slots=True)
class Page:
    """The `headline`, which is the answer in one sentence, followed by parts in reading order.

    `notes` say how the figures were obtained and how to read them. They are folded if there is a headline.
    `charts` repeat the tables; the first one is the main one, and the others are folded. `details` are tables
    that only the package's own view shows, folded. It lists pages by `title`.
    """

    parts: tuple[Part, ...]
    notes: tuple[str, ...] = ()
    charts: tuple[Chart, ...] = ()
    details: tuple[Table, ...] = ()
    title: str = ""
    kind: Kind = "page"
    headline: str = ""
