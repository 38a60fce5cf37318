"""The page of `%mlc_trace why`: why a cell took its time."""

from __future__ import annotations

from dataclasses import dataclass

from jupyter_mlgpu.explain.limits.kinds import IMPORTING, KINDS
from jupyter_mlgpu.explain.limits.limit_sentences import is_importing
from jupyter_mlgpu.explain.limits.most import MOST
from jupyter_mlgpu.explain.limits.precision import rounded_share, samples_of
from jupyter_mlgpu.record import cellnumbers, units
from jupyter_mlgpu.record.displayable import Bundled
from jupyter_mlgpu.record.limit import Limit
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import Sentence, joined, say
from jupyter_mlgpu.show.page.model import Page, Part, Table
from jupyter_mlgpu.show.page.rendering import page_of
from jupyter_mlgpu.show.receipts import figures_in_words, limits, roofline


@dataclass(frozen=True, repr=False)
class Reasons(Bundled):
    """The limit of a record's cell, with all that is known about it."""

    record: Record


@page_of.register
def page(shown: Reasons) -> Page:
    """Return the page: answer, confidence, meaning, advice, evidence, roof, code lines and other readings."""
    record = shown.record
    head = _unknown(record) if record.limit is None else _answer(record.limit, record)
    below, chart = roofline.table(record), roofline.chart(record)
    parts = (
        *head,
        *([below] if below else []),
        limits.hot_lines(record.lines, intervals=True),
        _others(record),
    )
    return Page(parts, title=_title(record), charts=(chart,) if chart else ())


def _title(record: Record) -> Sentence:
    wall = record.reading("wall_time")
    cell = cellnumbers.name(record)
    if wall.value is None:
        return say("What limits cell {cell}", cell=cell)
    return say("Why cell {cell} took {time}", cell=cell, time=units.figure(wall))


def _answer(limit: Limit, record: Record) -> list[Part]:
    parts: list[Part] = [limits.answer(limit)]
    if limit.kind != "unknown":
        parts.append(limits.doubt(limit) or say("This is certain: the evidence leaves no other answer."))
    if limit.share is None or limit.share >= MOST:
        parts.append(joined(_meaning(limit), *_share(limit, record)))
    if limit.next is not None:
        parts.append(say("What to do: {advice}", advice=limit.next))
    return [*parts, limits.evidence(limit.evidence, caption=say("Evidence"))]


def _meaning(limit: Limit) -> Sentence:
    return IMPORTING.meaning if is_importing(limit) else KINDS[limit.kind].meaning


def _share(limit: Limit, record: Record) -> list[Sentence]:
    wall = record.find("wall_time")
    if limit.share is None or wall is None:
        return []
    duration = record.duration or wall.value or 0.0
    explained = say(
        "That explains {share} of {time}.",
        share=rounded_share(limit.share, samples_of(limit)),
        time=units.seconds(duration),
    )
    slowed = figures_in_words.is_slowed(wall, record)
    return [explained, say("The profiler was on, which makes a cell slower.")] if slowed else [explained]


def _unknown(record: Record) -> list[Part]:
    reasons = limits.why_not(record)
    return [*reasons] if reasons else [say("This record does not say what limits its cell.")]


def _others(record: Record) -> Table:
    known = record.limit.evidence if record.limit else ()
    others = [one for one in record.readings if one not in known and one.quantity not in roofline.ROWS]
    caption = say("What else was measured, and what could not be measured")
    return limits.evidence(others, caption=caption, summary=say("What else is known"))
