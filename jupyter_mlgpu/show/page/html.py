"""Pages and tables as HTML that needs nothing else: it survives nbconvert, and viewers without our views.

Whatever a stranger wrote is escaped, and a text's line ends add no lines to a notebook file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.record.visible import visible
from jupyter_mlgpu.show.markup import Markup, bullets, coded, element, image, joined, one_line, unended
from jupyter_mlgpu.show.page import svg
from jupyter_mlgpu.show.page.chart import Chart
from jupyter_mlgpu.show.page.model import Page, Part, Picture, Table

#: A number and its unit stay on one line. No style sheet comes along to where this is read, and a style for
#: each cell would cost a notebook more than these: a blank and a slash at which no line breaks.
TOGETHER = str.maketrans({" ": "\u00a0", "/": "/\u2060"})
#: A number, and its unit where it has one.
_NUMBER = re.compile(r"[-+±]?\d+(,\d{3})*(\.\d+)?( \S+)?")
#: Letters of a table's cell that is kept, for the next table has it, too.
_SHORT = 100
#: What is folded: notes, and charts besides the first one.
NOTES, CHARTS = say("How to read these figures"), say("More charts")


def page(shown: Page, *, charted: bool = False) -> Markup:
    """The headline, the parts one below the other, and the notes last and smaller, below a headline folded.

    With `charted` its charts stand behind what is said, and before the tables.
    """
    said = [one for one in shown.parts if isinstance(one, str)] if charted else []
    charts = [one for one in shown.charts if one.series] if charted else []
    others = [one for one in shown.parts if not charted or not isinstance(one, str)]
    head = element("p", element("strong", _said(shown.headline))) if shown.headline else None
    notes = element("small", bullets(map(_said, shown.notes))) if shown.notes else None
    return joined(
        head,
        *map(_part, said),
        *(_chart(one, (shown.headline, *said)) for one in charts[:1]),
        *map(_part, others),
        _folded(CHARTS, *(_chart(one, (shown.headline, *said)) for one in charts[1:])),
        _folded(NOTES, notes) if notes and shown.headline else notes,
    )


def _folded(label: str, *parts: Markup) -> Markup:
    return element("details", element("summary", label), *parts) if parts else joined()


def _chart(shown: Chart, said: Sequence[str]) -> Markup:
    """A chart as an image; what stands above it already is not said again."""
    title = tuple(one for one in shown.title if one not in said)
    return image(svg.draw(replace(shown, title=title)), shown.words)


def table(shown: Table) -> Markup:
    """A table with its caption and the heads of its columns; nothing where there are no rows."""
    if not shown.rows:
        return joined()
    made = element(
        "table",
        # Folded under the same words, it needs them no second time.
        element("caption", _shown(shown.caption)) if shown.caption not in ("", shown.summary) else None,
        unended("tr", *(unended("th", one, scope="col") for one in shown.columns)) if shown.columns else None,
        *_rows(shown),
    )
    below = shown.below
    if shown.most is not None and len(shown.rows) > shown.most:
        below = say("{count} more: print the result to see them all.", count=len(shown.rows) - shown.most)
    whole = joined(made, element("div", _said(below)) if below else None)
    return _folded(shown.summary, whole) if shown.summary else whole


def _rows(shown: Table) -> list[Markup]:
    """The rows with their cells; under a head, the first cell of each names it."""
    rows = shown.rows[: shown.most]
    if not shown.columns:
        return [unended("tr", *[unended("td", _cell(one)) for one in row]) for row in rows]
    # Notebooks put all cells at the right, other pages at the left.
    figures = [one in shown.figures for one in shown.columns]
    sides = [f"text-align:{'right' if one else 'left'}" for one in figures]
    made = []
    for row in rows:
        name, *cells = [_cell(one, is_figure) for one, is_figure in zip(row, figures, strict=True)]
        others = [unended("td", one, style=side) for one, side in zip(cells, sides[1:], strict=True)]
        made.append(unended("tr", unended("th", name, scope="row", style=sides[0]), *others))
    return made


def _cell(text: str, is_figure: bool = False) -> Markup:
    """A figure on one line; outside of columns of figures that is a number with its unit."""
    # Most are the same in every receipt; long ones, a stranger's perhaps, are not kept.
    return _known(text, is_figure) if len(text) < _SHORT else _made(text, is_figure)


def _made(text: str, is_figure: bool) -> Markup:
    together = is_figure or _NUMBER.fullmatch(text) is not None
    return _shown(text.translate(TOGETHER) if together else text)


_known = lru_cache(maxsize=512)(_made)


def _part(part: Part) -> Markup:
    match part:
        case Table():
            return table(part)
        case Picture(drawing, words):
            return image(drawing, words)
    return element("p", _said(part))


def _shown(text: str) -> Markup:
    return one_line(visible(text))


def _said(text: str) -> Markup:
    return coded(visible(text))
