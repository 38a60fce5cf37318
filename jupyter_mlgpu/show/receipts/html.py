"""A receipt as HTML that needs nothing else: it survives nbconvert and viewers that know nothing of us."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.record import LogLine, Record
from jupyter_mlgpu.record.visible import visible
from jupyter_mlgpu.show.markup import Markup, coded, element, image, joined, one_line
from jupyter_mlgpu.show.page.html import TOGETHER, table
from jupyter_mlgpu.show.page.model import Table
from jupyter_mlgpu.show.receipts import gpu, head, limits, notes, operations, repeats, strip, words
from jupyter_mlgpu.show.receipts.head import Head

_TIMES = ("wall_time", "cpu_time", "device_time")

# One line high: what wraps out of it is not seen.
_FIGURES = (
    "display:inline-flex;flex-wrap:wrap;max-width:95%;height:1.5em;line-height:1.5;overflow:hidden;"
    "white-space:pre;vertical-align:top"
)

# What is seen of a receipt that has nothing to say until it is opened.
_FOLDED = "Receipt"

# Told apart without colour, which a page of somebody else's may not have.
_MARKS = {"fatal": "✖", "action": "▲", "performance": "◆", "info": "●", "harmless": "✓", "unknown": "?"}


def receipt(record: Record, cut: Mapping[str, int] | None = None) -> str:
    """`drawn` as text."""
    return str(drawn(record, cut))


def drawn(record: Record, cut: Mapping[str, int] | None = None) -> Markup:
    """A line of the figures that matter, which opens to all others; a word where its cell computed nothing.

    The strip's legend, or times as bars, what limits the cell, where it ran, operations, messages to act on;
    folded within it how all was measured, what was not, and the other messages.
    """
    act = [line for line in notes.worst_first(record.logs) if notes.to_act_on(line)]
    other = [line for line in notes.worst_first(record.logs) if not notes.to_act_on(line)]
    missing = [*words.missing(record), *limits.why_not(record)]
    return element(
        "details",
        *_head(record, head.of(record, cut)),
        *(element("div", _said(one)) for one in [*record.notes, *words.left_out(cut)]),
        *(strip.legend(record) or _bars(record)),
        *(element("div", _said(one)) for one in repeats.strip(record)),
        *_limit(record),
        *(element("div", _said(one)) for one in words.places(record)),
        *map(table, gpu.tables(record)),
        *_roofline(record),
        *_operations(record),
        *map(note, act),
        _fold(notes.other(len(other), beside=len(act)), *map(note, other)),
        _fold("How it was measured", _measured(record)),
        _fold(words.not_measured(record), *(element("div", _said(one)) for one in missing)),
        style="font-size:90%;opacity:.85",
    )


def _head(record: Record, shown: Head) -> list[Markup]:
    """What is seen of it closed; the figures stand below where that is its name alone."""
    if not shown.folded:
        return [_closed(record, shown)]
    name = f"{_FOLDED} ({shown.label})" if shown.label else _FOLDED
    return [element("summary", name), element("div", shown.line)]


def _closed(record: Record, shown: Head) -> Markup:
    """The figures on one line, where those that do not fit wrap out of sight; messages and the strip follow.

    Viewers take style sheets out of strangers' HTML, and leave the style of an element.
    """
    first, *others = shown.figures
    figures = [element("span", first), *(element("span", f" · {one}") for one in others)]
    return element(
        "summary",
        joined(element("b", shown.label), ": ") if shown.label else None,
        element("span", *figures, style=_FIGURES),
        *(f" · {one}" for one in shown.messages),
        *(joined(element("br"), one) for one in strip.picture(record)),
    )


def _bars(record: Record) -> list[Markup]:
    """Times on one scale; one alone would be a bar of nothing."""
    times = [one for one in record.readings if one.quantity in _TIMES and one.value is not None]
    told = [one for one in times if not words.slowed(one, record)]
    longest = max((one.value or 0 for one in told), default=0)
    if len(told) < 2 or not longest:
        return []
    return [_bar(one, (one.value or 0) / longest) for one in told]


def _bar(reading: Reading, part: float) -> Markup:
    width = f"{max(part * 100, 1):.0f}%"
    bar = element("div", style=f"width:{width};height:3px;background:gray")
    return element("div", f"{units.title(reading.quantity)} {units.figure(reading)}", bar)


def _measured(record: Record) -> Markup:
    figures = [_row(reading, record) for reading in record.readings if reading.value is not None]
    facts = [
        (words.fact_title(name), words.fact_value(fact.value), fact.source)
        for name, fact in sorted(record.facts.items())  # as in a notebook's file
    ]
    return table(Table((), (*figures, *facts)))


def _fold(title: str, *inside: Markup) -> Markup:
    shown = [one for one in inside if one]
    return element("details", element("summary", title), *shown) if shown else joined()


def note(line: LogLine) -> Markup:
    """One log line: its verdict, what it means, what to do, and how it was printed."""
    rank = notes.rank(line)
    times = notes.times(line)
    explained = [joined(element("br"), _said(one)) for one in (line.meaning, line.advice) if one]
    return element(
        "div",
        f"{_MARKS[rank]} ",
        element("b", notes.VERDICTS[rank]),
        f" {times}" if times else None,
        *explained,
        element("pre", _text(line.text), style="white-space:pre-wrap;overflow-wrap:anywhere"),
    )


def _text(text: str) -> Markup:
    # A notebook file would store each line of a text on a line of its own.
    return one_line(visible(text))


@lru_cache(maxsize=128)  # most are the same in every receipt
def _said(sentence: str) -> Markup:
    return coded(visible(sentence))


def _limit(record: Record) -> list[Markup]:
    """What limits the cell and what to do, what that rests on, and the lines of code where it was seen."""
    lines = table(limits.hot_lines(record.lines))
    if record.limit is None:
        return [lines]
    answer, advice = limits.answer(record.limit), record.limit.next
    return [
        element("div", element("b", _text(answer))),
        element("div", _said(advice)) if advice else joined(),
        table(limits.evidence(record.limit.evidence, summary="Evidence")),
        lines,
    ]


def _roofline(record: Record) -> list[Markup]:
    """The cell under its machine's roof: of a profiled cell, whose receipt has the room for a chart."""
    if record.mode != "profiled":
        return []
    from jupyter_mlgpu.show.page import svg
    from jupyter_mlgpu.show.receipts import roofline

    drawn, below = roofline.chart(record), roofline.table(record)
    picture = element("div", image(svg.draw(drawn), drawn.words)) if drawn else joined()
    return [picture, table(below) if below else joined()]


def _operations(record: Record) -> list[Markup]:
    if record.mode != "profiled":
        return []
    return [element("div", operations.SENTENCE), *map(table, operations.tables(record, 80))]


def _row(reading: Reading, record: Record) -> tuple[str, ...]:
    source = f"{reading.scope}, {reading.instrument}"
    value, *more = words.shown(reading, record).split(", ", 1)
    return units.title(reading.quantity), ", ".join([value.translate(TOGETHER), *more]), source
