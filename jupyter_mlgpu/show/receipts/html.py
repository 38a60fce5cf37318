"""A receipt as HTML that needs nothing else: it survives nbconvert and viewers that know nothing of us."""

from __future__ import annotations

from collections.abc import Mapping

from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.record import LogLine, Record
from jupyter_mlgpu.show.markup import Markup, element, image, joined, one_line
from jupyter_mlgpu.show.page.html import table
from jupyter_mlgpu.show.page.model import Table
from jupyter_mlgpu.show.page.text import visible
from jupyter_mlgpu.show.receipts import limits, notes, operations, words

# Told apart without colour, which a page of somebody else's may not have.
_MARKS = {"fatal": "✖", "action": "▲", "performance": "◆", "info": "●", "harmless": "✓", "unknown": "?"}


def receipt(record: Record, cut: Mapping[str, int] | None = None) -> str:
    """`drawn` as text."""
    return str(drawn(record, cut))


def drawn(record: Record, cut: Mapping[str, int] | None = None) -> Markup:
    """One line that opens to what limits the cell, the notes on the log, and all readings or why not."""
    label = words.label(record)
    line = " · ".join([words.line(record), *notes.summary(record, cut)])
    device = record.device.why_missing
    figures = [_row(reading, record) for reading in record.readings if reading.value is not None]
    facts = [
        (words.fact_title(name), words.fact_value(fact.value), fact.source)
        for name, fact in sorted(record.facts.items())  # as in a notebook's file
    ]
    return element(
        "details",
        element("summary", joined(element("b", label), ": ") if label else None, line),
        *_limit(record),
        *(element("div", one) for one in [*record.notes, *words.left_out(cut)]),
        *map(note, notes.worst_first(record.logs)),
        *_roofline(record),
        *_operations(record),
        element("div", device) if device else None,
        table(Table((), (*figures, *facts))),
        *(element("div", sentence) for sentence in words.missing(record)),
        *(element("div", _text(sentence)) for sentence in limits.why_not(record)),
        style="font-size:90%;opacity:.85",
    )


def note(line: LogLine) -> Markup:
    """One log line: its verdict, what it means, what to do, and how it was printed."""
    rank = notes.rank(line)
    times = notes.times(line)
    explained = [joined(element("br"), _text(one)) for one in (line.meaning, line.advice) if one]
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


def _limit(record: Record) -> list[Markup]:
    """What limits the cell and what to do, what that rests on, and the lines of code where it was seen."""
    lines = table(limits.hot_lines(record.lines))
    if record.limit is None:
        return [lines]
    answer, advice = limits.answer(record.limit), record.limit.next
    return [
        element("div", element("b", _text(answer))),
        element("div", _text(advice)) if advice else joined(),
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
    return units.title(reading.quantity), words.shown(reading, record), source
