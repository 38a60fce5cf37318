"""Texts for the limit of a cell, common to receipts, tables and pages.

`record/limit.py` explains the kinds.
"""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_mlgpu.explain.limits.kinds import IMPORTING, KINDS, WAITING_FOR_GPU
from jupyter_mlgpu.explain.limits.limit_sentences import is_importing, is_waiting_for_gpu
from jupyter_mlgpu.explain.limits.most import MOST
from jupyter_mlgpu.explain.limits.precision import (
    FEWEST_FOR_SURE,
    NEARLY_ALL,
    coarse_share,
    rounded_share,
    samples_of,
)
from jupyter_mlgpu.explain.statistics import share_interval
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.limit import HotLine, Limit, LimitKind
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import Sentence, joined, say, with_commas
from jupyter_mlgpu.show.page.model import Table


def answer(limit: Limit) -> Sentence:
    """Return the limit and what removing it can gain."""
    doubtful = limit.confidence == "open" and _is_one(limit)
    sentence = say("Possibly: {said}", said=limit.said) if doubtful else limit.said
    return sentence if limit.bound is None else joined(sentence, limit.bound)


def doubt(limit: Limit | None) -> Sentence | None:
    """Return why the limit is not certain, in one sentence. None if it is certain or unknown."""
    if limit is None or limit.kind == "unknown" or limit.confidence == "sure":
        return None
    samples = samples_of(limit)
    if samples is not None and samples < FEWEST_FOR_SURE:
        return say("This is not certain: it rests on {count} samples.", count=samples)
    if limit.confidence == "likely":
        return say("This is likely: the evidence supports it but does not rule out everything else.")
    return say("This is not certain: the evidence supports it no more than another answer.")


def clause(limit: Limit | None) -> Sentence | None:
    """Return the limit as a part of a line: `about 90 % waiting`. None if it is unknown.

    An unclear one is named with the second largest part, or with `possibly` if it has no other.
    """
    if limit is None or limit.kind == "unknown" or limit.share is None:
        return kind_of(limit)
    kind, samples, certain = _kind(limit), samples_of(limit), limit.confidence != "likely"
    if limit.confidence == "open" and not _is_one(limit) and limit.parts:
        return _parts(limit, samples)
    share = rounded_share(limit.share, samples, certain=certain)
    if share == NEARLY_ALL:
        said = say("{kind} nearly all the time", kind=kind)
    else:
        said = say("{share} {kind}", share=share, kind=kind)
    return say("possibly {said}", said=said) if limit.confidence == "open" else said


def is_gpu_time(limit: Limit | None) -> bool:
    """Return True if the limit is recorded GPU busy time, which a headline contains anyway."""
    return limit is not None and limit.kind == "device" and samples_of(limit) is None


def kind_of(limit: Limit | None) -> Sentence | None:
    """Return the kind alone: `waiting`, or `possibly waiting` if it is unclear. None if it is unknown."""
    if limit is None or limit.kind == "unknown":
        return None
    return say("possibly {said}", said=_kind(limit)) if limit.confidence == "open" else _kind(limit)


def cause(limit: Limit | None) -> tuple[Sentence | None, str]:
    """Return the word of a limit and its kind, or `importing` as the kind of imports; None if unknown."""
    if limit is None or limit.kind == "unknown":
        return None, ""
    return _kind(limit), "importing" if is_importing(limit) else limit.kind


def _is_one(limit: Limit) -> bool:
    """Return True if one kind has most of the time."""
    return limit.kind != "unknown" and limit.share is not None and limit.share >= MOST


def _parts(limit: Limit, samples: int | None) -> Sentence:
    """Return the two largest parts: `50 % importing, 18 % computing, the rest unclear`."""
    # Not in the order of the record: a notebook's file has all keys sorted.
    by_size = sorted((limit.parts or {}).items(), key=lambda part: (-part[1], part[0]))
    largest = [
        say("{share} {kind}", share=coarse_share(share, samples), kind=_word(limit, kind))
        for kind, share in by_size[:2]
    ]
    return say("{parts}, the rest unclear", parts=with_commas(largest))


def _kind(limit: Limit) -> Sentence:
    return _word(limit, limit.kind)


def _word(limit: Limit, kind: LimitKind) -> Sentence:
    """Return the word of a kind of this limit, of which `importing` is a part."""
    if kind == limit.kind == "device" and is_waiting_for_gpu(limit):
        return WAITING_FOR_GPU
    return (IMPORTING if kind == limit.kind and is_importing(limit) else KINDS[kind]).word


def with_kind(time: str, record: Record) -> str:
    """Return a cell's wall time and its limit for a table: `14.7 s, waiting`."""
    kind = kind_of(record.limit)
    return time if kind is None else say("{one}, {other}", one=time, other=kind)


def why_not(record: Record) -> list[Sentence]:
    """Return why the limit is unknown. Empty if it is known, or if the record gives no reason."""
    if record.limit is not None or record.why_no_limit is None:
        return []
    return [joined(say("What limits this cell is not known."), record.why_no_limit)]


def evidence(readings: Sequence[Reading], *, caption: str = "", summary: str = "") -> Table:
    """Return a table of evidence in the given order, folded under `summary` if there is one."""
    columns = (say("Quantity"), say("Value"), say("Source"))
    return Table(columns, tuple(map(_reading, readings)), caption=caption, summary=summary)


def hot_lines(lines: Sequence[HotLine], *, intervals: bool = False) -> Table:
    """Return a table of the code lines with the most samples and their share, and with its interval if asked.

    The browser shows the interval on hover.
    """
    share, samples = say("Share"), say("Samples")
    middle = (say("95 % interval"),) if intervals else ()
    columns = (say("Line"), share, samples, *middle, say("Called most"))
    caption = say("Lines of code, by samples taken there")
    return Table(columns, tuple(_line(one, intervals) for one in lines), (share, samples), caption)


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


def _line(one: HotLine, intervals: bool) -> tuple[str, ...]:
    line = say("line {line}", line=str(one.line))
    place = line if one.cell is None else say("[{cell}] {line}", cell=str(one.cell), line=line)
    interval = say("{low} to {high}", low=units.percent(one.low), high=units.percent(one.high))
    middle = (interval,) if intervals else ()
    return place, units.percent(one.share), f"{one.samples:,}", *middle, one.calls or ""


def _said(words: str) -> Sentence:
    # A text would be data, which is not translated.
    return words if isinstance(words, Sentence) else Sentence(words)
