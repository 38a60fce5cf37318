"""Pages and tables as HTML that needs nothing else: it survives nbconvert, and viewers without our views.

Whatever a stranger wrote is escaped, and a text's line ends add no lines to a notebook file.
"""

from __future__ import annotations

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.show.markup import Markup, bullets, element, image, joined, one_line, unended
from jupyter_mlgpu.show.page.model import Page, Part, Picture, Table
from jupyter_mlgpu.show.page.text import visible


def page(shown: Page) -> Markup:
    """The parts one below the other, the notes last and smaller."""
    notes = element("small", bullets(map(_shown, shown.notes))) if shown.notes else None
    return joined(*map(_part, shown.parts), notes)


def table(shown: Table) -> Markup:
    """A table with its caption and the heads of its columns; nothing where there are no rows."""
    if not shown.rows:
        return joined()
    made = element(
        "table",
        element("caption", _shown(shown.caption)) if shown.caption else None,
        unended("tr", *(unended("th", one, scope="col") for one in shown.columns)) if shown.columns else None,
        *(_row(shown, row) for row in shown.rows[: shown.most]),
    )
    below = shown.below
    if shown.most is not None and len(shown.rows) > shown.most:
        below = say("{count} more are in its text: print it.", count=len(shown.rows) - shown.most)
    whole = joined(made, element("div", below) if below else None)
    return element("details", element("summary", shown.summary), whole) if shown.summary else whole


def _row(shown: Table, row: tuple[str, ...]) -> Markup:
    """The cells of a row; under a head, the first one names it."""
    if not shown.columns:
        return unended("tr", *(unended("td", _shown(one)) for one in row))
    # Notebooks put all cells at the right, other pages at the left.
    sides = [f"text-align:{'right' if one in shown.figures else 'left'}" for one in shown.columns]
    first = unended("th", _shown(row[0]), scope="row", style=sides[0])
    cells = zip(row[1:], sides[1:], strict=True)
    return unended("tr", first, *(unended("td", _shown(one), style=side) for one, side in cells))


def _part(part: Part) -> Markup:
    match part:
        case Table():
            return table(part)
        case Picture(drawing, words):
            return image(drawing, words)
    return element("p", _shown(part))


def _shown(text: str) -> Markup:
    return one_line(visible(text))
