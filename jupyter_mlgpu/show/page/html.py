"""Renders pages and tables as self-contained HTML, which works in nbconvert and in viewers without our views.

All text is escaped, and a text's line ends add no lines to a notebook file.
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

#: Keeps a number and its unit on one line. HTML in a notebook has no style sheet, and a style for each cell
#: would take more space than these characters: a blank and a slash at which no line breaks.
TOGETHER = str.maketrans({" ": "\u00a0", "/": "/\u2060"})
#: A number with an optional unit.
_NUMBER = re.compile(r"[-+±]?\d+(,\d{3})*(\.\d+)?( \S+)?")
#: Cells shorter than this are cached, because the next table is likely to contain them, too.
_SHORT = 100
#: Titles of folded parts: notes, and charts after the first one.
NOTES, CHARTS = say("How to read these figures"), say("More charts")


def page(shown: Page, *, charted: bool = False) -> Markup:
    """Return the headline, the parts below each other, and the notes last and smaller.

    The notes are folded if there is a headline. With `charted` the charts come after the sentences and before
    the tables.
    """
    match shown.parts:
        case [Picture(drawing, words)] if not (shown.headline or shown.notes or shown.charts):
            return image(drawing, words)  # nothing stands next to it
    sentences = [one for one in shown.parts if isinstance(one, str)] if charted else []
    charts = [one for one in shown.charts if one.series] if charted else []
    others = [one for one in shown.parts if not charted or not isinstance(one, str)]
    head = element("p", element("strong", _said(shown.headline))) if shown.headline else None
    notes = element("small", bullets(map(_said, shown.notes))) if shown.notes else None
    return joined(
        head,
        *map(_part, sentences),
        *(_chart(one, (shown.headline, *sentences)) for one in charts[:1]),
        *map(_part, others),
        _folded(CHARTS, *(_chart(one, (shown.headline, *sentences)) for one in charts[1:])),
        _folded(NOTES, notes) if notes and shown.headline else notes,
    )


def _folded(label: str, *parts: Markup) -> Markup:
    return element("details", element("summary", label), *parts) if parts else joined()


def _chart(shown: Chart, above: Sequence[str]) -> Markup:
    """Return a chart as an image. Title lines that are already above it are not repeated."""
    title = tuple(one for one in shown.title if one not in above)
    return _on_its_own_line(image(svg.draw(replace(shown, title=title)), shown.words))


def _on_its_own_line(picture: Markup) -> Markup:
    # Viewers that show no data in images show the description, which would stand next to other text.
    return element("div", picture)


def table(shown: Table) -> Markup:
    """Return a table with its caption and column heads, or nothing if there are no rows."""
    if not shown.rows:
        return joined()
    made = element(
        "table",
        # The caption is left out if it equals the title of the fold.
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
    """Return the rows with their cells.

    In a table with column heads, the first cell of each row is its head.
    """
    rows = shown.rows[: shown.most]
    if not shown.columns:
        return [unended("tr", *[unended("td", _cell(one)) for one in row]) for row in rows]
    # Notebooks align all cells to the right, other pages to the left.
    figures = [one in shown.figures for one in shown.columns]
    sides = [f"text-align:{'right' if one else 'left'}" for one in figures]
    made = []
    for row in rows:
        name, *cells = [_cell(one, is_figure) for one, is_figure in zip(row, figures, strict=True)]
        others = [unended("td", one, style=side) for one, side in zip(cells, sides[1:], strict=True)]
        made.append(unended("tr", unended("th", name, scope="row", style=sides[0]), *others))
    return made


def _cell(text: str, is_figure: bool = False) -> Markup:
    """Return a cell. A figure stays on one line; outside of figure columns that is a number with its unit."""
    # Most cells are the same in every receipt. Long ones, perhaps from other people, are not cached.
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
            return _on_its_own_line(image(drawing, words))
    return element("p", _said(part))


def _shown(text: str) -> Markup:
    return one_line(visible(text))


def _said(text: str) -> Markup:
    return coded(visible(text))
