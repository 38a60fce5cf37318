"""One sentence about a whole notebook: what most of its time was, and how much of it the GPU worked.

Only this module makes it. A cell's time counts for a cause as far as its limit says so. Everything else is
the rest: cells without a limit, causes that are not certain, and the time that a limit does not explain.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum

from jupyter_mlgpu.explain.limits.kinds import IMPORTING, KINDS
from jupyter_mlgpu.explain.limits.limit_sentences import is_importing
from jupyter_mlgpu.explain.limits.most import MOST
from jupyter_mlgpu.explain.limits.precision import NEARLY_ALL, rounded_share, samples_of
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record import cellnumbers, strip, units
from jupyter_mlgpu.record.limit import Limit
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import Sentence, listed, say, with_commas
from jupyter_mlgpu.show.receipts.counted_cells import CellTime, counted

#: Most records that a page's sentence is made of, because it is made again with each record: it takes 10 to
#: 30 ms.
NEWEST = 1_000

#: Where no cause took most of the time, at most so many are named, each with at least this share of it.
_NAMED, _NAMED_FROM = 3, 0.1


@dataclass(slots=True)
class _Cause:
    """The seconds of one cause, those of them that are only likely, and the cells that they are from.

    `variance` is the sum over these cells of the squared seconds of a cell divided by its number of samples.
    """

    seconds: float = 0.0
    likely: float = 0.0
    variance: float = 0.0
    cells: list[CellTime] = field(default_factory=list)


def answer(records: Sequence[Record]) -> Sentence | None:
    """Return `95 % of 8.5 s was importing TensorFlow and other modules; the GPU worked 21 %`.

    If no cause took most of the time, it names the largest ones. If none is known, it names the slowest cell.
    None without timed cells.
    """
    cells = counted(records)
    total = fsum(one.seconds for one in cells)
    if not total:
        return None
    said = _causes_in_words(cells, total, records) or _slowest_in_words(cells, total)
    return _with_gpu(said, cells, total)


def newest_in_words(records: Sequence[Record], most: int = NEWEST) -> Sentence | None:
    """Return the answer for at most the newest records, saying so if there are more."""
    found = answer(records[-most:])
    if found is None or len(records) <= most:
        return found
    return say("The last {count} cells: {answer}", count=most, answer=found)


def _causes_in_words(cells: Sequence[CellTime], total: float, records: Sequence[Record]) -> Sentence | None:
    causes = _causes(cells)
    largest = sorted(causes, key=lambda word: -causes[word].seconds)[:_NAMED]
    named = [word for word in largest if causes[word].seconds >= _NAMED_FROM * total]
    if not named:
        return None
    shares = [_share(causes[word], total) for word in named]
    words = [_modules(causes[word], records) if word == IMPORTING.word else word for word in named]
    first = _first(shares[0], units.seconds(total), words[0])
    if causes[named[0]].seconds >= MOST * total:
        return first
    others = [
        say("{share} {kind}", share=share, kind=word)
        for share, word in zip(shares[1:], words[1:], strict=True)
    ]
    if not others:
        return say("{first}, the rest smaller or unclear", first=first)
    return say(
        "{first}, {others}, the rest smaller or unclear",
        first=first,
        others=with_commas(others),
    )


def _causes(cells: Iterable[CellTime]) -> Mapping[Sentence, _Cause]:
    """Return the causes by their word."""
    causes: dict[Sentence, _Cause] = defaultdict(_Cause)
    for cell in cells:
        limit = cell.record.limit
        if limit is None or cell.record.mode != "light":
            continue
        samples = samples_of(limit)
        for word, share in _shares(limit, cell.record).items():
            cause = causes[word]
            cause.seconds += share * cell.seconds
            cause.likely += 0.0 if limit.confidence == "sure" else share * cell.seconds
            cause.variance += cell.seconds**2 / samples if samples else 0.0
            cause.cells.append(cell)
    return causes


def _shares(limit: Limit, record: Record) -> Mapping[Sentence, float]:
    """Return the shares of a cell's time by the word for their cause, as far as its limit is certain."""
    main = limit.share or 0.0
    if limit.confidence == "open" and main >= MOST:
        return {}  # its causes may be others
    shares = limit.parts or {limit.kind: main}
    words = {KINDS[kind].word: share for kind, share in shares.items() if kind != "unknown"}
    compiling = KINDS["compiling"].word
    if compiling in words:  # the kind of imports, too
        imports = words[compiling] * _imports(limit, record)
        words |= {compiling: words[compiling] - imports, IMPORTING.word: imports}
    return {word: share for word, share in words.items() if share > 0}


def _imports(limit: Limit, record: Record) -> float:
    """Return the part of a cell's compiling that is importing, from 0 to 1."""
    if limit.parts is None or record.host_lane is None:
        return float(is_importing(limit))
    spent = {one.did: one.seconds for one in record.host_lane.spent}
    importing, compiling = spent.get(strip.IMPORTING, 0.0), spent.get(strip.COMPILING, 0.0)
    return importing / (importing + compiling) if importing else 0.0


def _share(cause: _Cause, total: float) -> str:
    """Return a cause's share of the time, as precise as its samples and its confidence allow."""
    samples = max(1, int(total**2 / cause.variance)) if cause.variance else None
    certain = cause.likely < MOST * cause.seconds
    return rounded_share(min(1.0, cause.seconds / total), samples, certain=certain)


def _first(share: str, time: str, cause: Sentence) -> Sentence:
    """Return the beginning of the sentence, with a capital letter."""
    if share == NEARLY_ALL:
        return say("Nearly all of {time} was {cause}", time=time, cause=cause)
    if isinstance(share, Sentence):
        return say("About {share} of {time} was {cause}", share=share.fields["share"], time=time, cause=cause)
    return say("{share} of {time} was {cause}", share=share, time=time, cause=cause)


def _modules(cause: _Cause, records: Sequence[Record]) -> Sentence:
    """Return `importing`, with the frameworks that most of the imports loaded."""
    before: dict[tuple[str, int], Record] = {}
    previous: dict[str, Record] = {}
    for record in sorted(records, key=lambda one: one.started_monotonic_ns):
        if record.run.id in previous:
            before[record.key] = previous[record.run.id]
        previous[record.run.id] = record
    loaded = [(_loaded(one.record, before.get(one.record.key)), one.seconds) for one in cause.cells]
    if fsum(seconds for names, seconds in loaded if names) < MOST * fsum(one.seconds for one in cause.cells):
        return IMPORTING.word
    names = dict.fromkeys(registry.title(name) for names, _ in loaded for name in names)
    return say("importing {frameworks}", frameworks=listed([*names, say("other modules")]))


def _loaded(record: Record, before: Record | None) -> list[str]:
    """Return the frameworks that a cell loaded: those that were not there before, or that its title imports.

    A kernel's first record does not tell what was there before.
    """
    title = record.cell.name.split()
    imported = title[1].split(".")[0] if title[:1] in (["import"], ["from"]) and len(title) > 1 else ""
    return [
        name
        for name in registry.FRAMEWORKS
        if name in record.versions and (name == imported if before is None else name not in before.versions)
    ]


def _slowest_in_words(cells: Sequence[CellTime], total: float) -> Sentence:
    slowest = max(cells, key=lambda one: one.seconds)
    return say(
        "{total} in all; the slowest cell, {cell}, took {time}",
        total=units.seconds(total),
        cell=cellnumbers.name(slowest.record),
        time=units.seconds(slowest.seconds),
    )


def _with_gpu(said: Sentence, cells: Iterable[CellTime], total: float) -> Sentence:
    """Return the sentence with the share of the time that the busiest GPU worked, if that is known."""
    busy: dict[str | None, float] = defaultdict(float)
    unknown, coarse = 0.0, False
    for record, seconds in cells:
        times = [one for one in record.readings if one.quantity == "device_time" and one.value is not None]
        unknown += 0.0 if times and record.mode == "light" else seconds
        coarse |= any(one.scope == "process" and bool(one.value) for one in times)
        for one in times if record.mode == "light" else ():
            busy[one.device] += one.value or 0.0
    most = max(busy.values(), default=0.0)
    if not most:
        return said
    share: str = units.percent(min(1.0, most / total))
    if share != units.percent(min(1.0, (most + unknown) / total)):
        share = say("at least {share}", share=share)
    elif coarse:
        share = say("about {share}", share=share)
    gpu = say("the GPU") if sum(map(bool, busy.values())) == 1 else say("the busiest GPU")
    return say("{said}; {gpu} worked {share}", said=said, gpu=gpu, share=share)
