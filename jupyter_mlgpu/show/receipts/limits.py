"""Texts for the limit of a cell, common to receipts, tables and pages.

`record/limit.py` explains the kinds.
"""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_mlgpu.explain.limits.kinds import IMPORTING, KINDS
from jupyter_mlgpu.explain.limits.limit_sentences import is_importing
from jupyter_mlgpu.explain.limits.precision import NEARLY_ALL, rounded_share, samples_of
from jupyter_mlgpu.explain.statistics import share_interval
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.limit import HotLine, Limit
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import Sentence, joined, say
from jupyter_mlgpu.show.page.model import Table


def answer(limit: Limit) -> Sentence:
    """Return the limit and what removing it can gain.

    It begins with the confidence unless that is certain.
    """
    match limit.confidence:
        case "likely":
            sentence = say("Likely: {said}", said=limit.said)
        case "open":
            sentence = say("Not sure: {said}", said=limit.said)
        case "sure":
            sentence = limit.said
    return sentence if limit.bound is None else joined(sentence, limit.bound)


def clause(limit: Limit | None) -> Sentence | None:
    """Return the limit as a part of a line: `likely: about 90 % waiting`. None if it is unknown."""
    if limit is None or limit.kind == "unknown" or limit.share is None:
        return kind_of(limit)
    share, kind = rounded_share(limit.share, samples_of(limit)), _kind(limit)
    if share == NEARLY_ALL:
        return _as_sure(limit, say("{kind} nearly all the time", kind=kind))
    return _as_sure(limit, say("{share} {kind}", share=share, kind=kind))


def is_gpu_time(limit: Limit | None) -> bool:
    """Return True if the limit is recorded GPU busy time, which a headline contains anyway."""
    return limit is not None and limit.kind == "device" and samples_of(limit) is None


def kind_of(limit: Limit | None) -> Sentence | None:
    """Return the kind alone: `likely: waiting`. None if it is unknown."""
    return None if limit is None or limit.kind == "unknown" else _as_sure(limit, _kind(limit))


def _kind(limit: Limit) -> Sentence:
    return (IMPORTING if is_importing(limit) else KINDS[limit.kind]).word


def with_kind(time: str, record: Record) -> str:
    """Return a cell's wall time and its limit for a table: `14.7 s, likely: waiting`."""
    kind = kind_of(record.limit)
    return time if kind is None else f"{time}, {kind}"


def _as_sure(limit: Limit, said: Sentence) -> Sentence:
    match limit.confidence:
        case "likely":
            return say("likely: {said}", said=said)
        case "open":
            return say("not sure: {said}", said=said)
    return said


def why_not(record: Record) -> list[Sentence]:
    """Return why the limit is unknown. Empty if it is known, or if the record gives no reason."""
    if record.limit is not None or record.why_no_limit is None:
        return []
    return [joined(say("What limits this cell is not known."), record.why_no_limit)]


def evidence(readings: Sequence[Reading], *, caption: str = "", summary: str = "") -> Table:
    """Return a table of evidence in the given order, folded under `summary` if there is one."""
    columns = (say("Quantity"), say("Value"), say("Source"))
    return Table(columns, tuple(map(_reading, readings)), caption=caption, summary=summary)


def hot_lines(lines: Sequence[HotLine]) -> Table:
    """Return a table of the code lines with the most samples, with their share and its interval."""
    share, samples = say("Share"), say("Samples")
    columns = (say("Line"), share, samples, say("95 % interval"), say("Called most"))
    caption = say("Lines of code, by samples taken there")
    return Table(columns, tuple(map(_line, lines)), (share, samples), caption)


def _reading(one: Reading) -> tuple[str, ...]:
    if one.why_missing is not None:
        return units.title(one.quantity), one.why_missing, ""
    return (
        units.title(one.quantity),
        _value(one),
        say("{scope}, {source}", scope=one.device or units.scope(one.scope), source=_said(one.instrument)),
    )


def _value(one: Reading) -> str:
    """Return a figure, and for a share of samples its confidence interval."""
    if one.quantity != "samples_share" or one.value is None or one.value > 1 or not one.samples:
        return units.figure(one)
    low, high = map(units.percent, share_interval(one.value * one.samples, one.samples))
    return say("{share}, 95 % interval {low} to {high}", share=units.figure(one), low=low, high=high)


def _line(one: HotLine) -> tuple[str, ...]:
    line = say("line {line}", line=str(one.line))
    place = line if one.cell is None else say("[{cell}] {line}", cell=str(one.cell), line=line)
    interval = say("{low} to {high}", low=units.percent(one.low), high=units.percent(one.high))
    return place, units.percent(one.share), f"{one.samples:,}", interval, one.calls or ""


def _said(words: str) -> Sentence:
    # A text would be data, which is not translated.
    return words if isinstance(words, Sentence) else Sentence(words)
