"""What limits a cell, in words: the same ones in receipts, tables and pages.

What a kind is, `record/limit.py` says.
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
    """What held the cell up, and what mending it can give; it begins with how sure that is, if it is not."""
    match limit.confidence:
        case "likely":
            said = say("Likely: {said}", said=limit.said)
        case "open":
            said = say("Not sure: {said}", said=limit.said)
        case "sure":
            said = limit.said
    return said if limit.bound is None else joined(said, limit.bound)


def clause(limit: Limit | None) -> Sentence | None:
    """The same for one line among others: `likely: about 90 % waiting`; None where it is not known."""
    if limit is None or limit.kind == "unknown" or limit.share is None:
        return kind_of(limit)
    share, kind = rounded_share(limit.share, samples_of(limit)), _kind(limit)
    if share == NEARLY_ALL:
        return _as_sure(limit, say("{kind} nearly all the time", kind=kind))
    return _as_sure(limit, say("{share} {kind}", share=share, kind=kind))


def is_gpu_time(limit: Limit | None) -> bool:
    """Return whether it is recorded time of a GPU, which a headline says anyway."""
    return limit is not None and limit.kind == "device" and samples_of(limit) is None


def kind_of(limit: Limit | None) -> Sentence | None:
    """The kind alone: `likely: waiting`; None where it is not known."""
    return None if limit is None or limit.kind == "unknown" else _as_sure(limit, _kind(limit))


def _kind(limit: Limit) -> Sentence:
    return (IMPORTING if is_importing(limit) else KINDS[limit.kind]).word


def with_kind(time: str, record: Record) -> str:
    """A cell's wall time and what limited it, for a table: `14.7 s, likely: waiting`."""
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
    """That the limit is not known, and why; empty where it is, or where the record does not say."""
    if record.limit is not None or record.why_no_limit is None:
        return []
    return [joined(say("What limits this cell is not known."), record.why_no_limit)]


def evidence(readings: Sequence[Reading], *, caption: str = "", summary: str = "") -> Table:
    """Readings that a limit rests on, the weightiest first; folded under `summary`, where there is one."""
    columns = (say("Quantity"), say("Value"), say("Source"))
    return Table(columns, tuple(map(_reading, readings)), caption=caption, summary=summary)


def hot_lines(lines: Sequence[HotLine]) -> Table:
    """The lines of code at which the cell was seen most, with their part of the samples and its interval."""
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
    """Its figure, and of a share of looks how exactly they know it."""
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
    # As a text it would be data, which stays as it is in every language.
    return words if isinstance(words, Sentence) else Sentence(words)
