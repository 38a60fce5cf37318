"""Renders a receipt as self-contained HTML, which works in nbconvert and in viewers without our views."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from jupyter_mlgpu.record.record import LogLine, Record
from jupyter_mlgpu.record.translation import translated
from jupyter_mlgpu.record.visible import visible
from jupyter_mlgpu.show.markup import Markup, coded, element, image, joined, one_line
from jupyter_mlgpu.show.page import svg
from jupyter_mlgpu.show.page.html import TOGETHER, table
from jupyter_mlgpu.show.page.model import Table
from jupyter_mlgpu.show.receipts import notes, page, strip
from jupyter_mlgpu.show.receipts.page import OpenReceipt

# One line high, so that figures that wrap are hidden.
_FIGURES = (
    "display:inline-flex;flex-wrap:wrap;max-width:95%;height:1.5em;line-height:1.5;overflow:hidden;"
    "white-space:pre;vertical-align:top"
)

# The limit of a cell if it is not certain.
_DOUBTFUL = "opacity:.7"

# The title of a receipt that shows nothing until it is opened.
_FOLDED = "Receipt"

# Distinguishable without colour, which other people's pages may not have.
_MARKS = {"fatal": "✖", "action": "▲", "performance": "◆", "info": "●", "harmless": "✓", "unknown": "?"}


def receipt(record: Record, cut: Mapping[str, int] | None = None, language: str = "en") -> str:
    """Return a record's receipt as HTML text. `cut` counts the parts that were left out."""
    return str(render(record, page.of(record, cut, language)))


def render(record: Record, shown: OpenReceipt) -> Markup:
    """Return a line of the most important figures, which opens to all others.

    It is only a title if the cell computed nothing. The open part has the strip's legend, the limit, what to
    do, the code lines, operations of a profiled cell, and messages to act on. All else is folded.
    """
    return element(
        "details",
        *_head(record, shown),
        *map(_line, shown.notes),
        *strip.legend(record, shown.word),
        *map(_line, shown.runs),
        *([element("div", element("b", _text(shown.answer)))] if shown.answer else []),
        *([_line(shown.advice)] if shown.advice else []),
        table(shown.lines),
        *_roof(shown),
        *([element("div", shown.profiled)] if shown.profiled else []),
        *map(table, shown.operations),
        *(note(one, shown.language) for one in shown.to_act_on),
        _fold(shown.evidence.summary, *map(_line, filter(None, [shown.doubt])), _evidence(shown)),
        _fold(shown.word(page.WHERE), *map(_line, shown.places), *map(table, shown.work)),
        _fold(shown.word(shown.messages_title), *(note(one, shown.language) for one in shown.messages)),
        _fold(shown.word(page.MEASURED), _measured(shown), *map(_line, shown.left_out)),
        _fold(shown.missing_title, *map(_line, shown.missing)),
        style="font-size:90%;opacity:.85",
    )


def _head(record: Record, shown: OpenReceipt) -> list[Markup]:
    """Return the visible part of a closed receipt. If that is only a title, the figures come below it."""
    head = shown.head
    if not head.folded:
        # Viewers that remove <details> would put the title of the first fold next to the figures.
        return [_closed(record, shown), element("div")]
    folded = shown.word(_FOLDED)
    name = f"{folded} ({head.label})" if head.label else folded
    return [element("summary", name), element("div", head.line)]


def _closed(record: Record, shown: OpenReceipt) -> Markup:
    """Return the answer, messages and figures on one line, hiding what does not fit, and the strip.

    The styles are inline, because viewers remove style sheets from untrusted HTML.
    """
    head = shown.head
    answer = [
        element(
            "span", f" · {one}" if at else one, style=_DOUBTFUL if head.doubt and name == "limit" else None
        )
        for at, (name, one) in enumerate(head.answer)
    ]
    return element(
        "summary",
        joined(element("b", head.label), ": ") if head.label else None,
        element(
            "span",
            element("span", *answer),
            *(element("span", f" · {one}") for one in head.others),
            style=_FIGURES,
        ),
        *(joined(element("br"), one) for one in strip.picture(record, shown.word)),
    )


def _evidence(shown: OpenReceipt) -> Markup:
    return table(replace(shown.evidence, summary=""))


def _roof(shown: OpenReceipt) -> list[Markup]:
    """Return the chart and table of a profiled cell under its machine's roof."""
    render = shown.roof
    picture = element("div", image(svg.draw(render), render.words)) if render else joined()
    return [picture, table(shown.under_roof) if shown.under_roof else joined()]


def _measured(shown: OpenReceipt) -> Markup:
    return table(Table((), (*map(_together, shown.measured.rows), *shown.facts.rows)))


def _together(row: tuple[str, ...]) -> tuple[str, ...]:
    """Return the row with its figure and unit on one line. The text after a comma may wrap."""
    name, figure, source = row
    value, *more = figure.split(", ", 1)
    return name, ", ".join([value.translate(TOGETHER), *more]), source


def _fold(title: str, *inside: Markup) -> Markup:
    parts = [one for one in inside if one]
    return element("details", element("summary", title), *parts) if parts else joined()


def note(line: LogLine, language: str = "en") -> Markup:
    """Return one log line: its verdict in a language, its meaning, the advice, and the original text."""
    rank = notes.rank(line)
    times = notes.times(line)
    explained = [joined(element("br"), _said(one)) for one in (line.meaning, line.advice) if one]
    return element(
        "div",
        f"{_MARKS[rank]} ",
        element("b", translated(notes.VERDICTS[rank], language)),
        f" {times}" if times else None,
        *explained,
        element("pre", _text(line.text), style="white-space:pre-wrap;overflow-wrap:anywhere"),
    )


def _text(text: str) -> Markup:
    # Without line ends, because a notebook file would store each line of a text on a line of its own.
    return one_line(visible(text))


def _line(sentence: str) -> Markup:
    return element("div", _said(sentence))


@lru_cache(maxsize=128)  # most are the same in every receipt
def _said(sentence: str) -> Markup:
    return coded(visible(sentence))
