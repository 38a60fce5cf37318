"""An open receipt in reading order: the one place that chooses what it says, for HTML and for the browser."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.record import LogLine, Record
from jupyter_mlgpu.record.sentence import Sentence, say
from jupyter_mlgpu.record.translation import in_language, translated
from jupyter_mlgpu.show.page.chart import Chart
from jupyter_mlgpu.show.page.model import Table
from jupyter_mlgpu.show.receipts import figures_in_words, gpu, head, limits, notes, operations, repeats
from jupyter_mlgpu.show.receipts.head import Head

_TIMES = ("wall_time", "cpu_time", "device_time")
#: Characters of an operation's name.
_NAME = 80

MEASURED = say("How it was measured")


@dataclass(frozen=True, slots=True)
class TimeBar:
    """A time, its figure, and the part of the longest one that it is, 0 to 1."""

    name: str
    figure: str
    part: float


@dataclass(frozen=True, slots=True)
class OpenReceipt:
    """What a receipt says, from its closed line to what is folded at its end; empty where there is nothing.

    `notes` are what the kernel says of the cell, `left_out` what of it the receipt has no room for; `runs`
    those of a cell that repeats. `answer` is what limits the cell, `advice` what to do, `evidence` what that
    rests on. At `lines` of code it was seen, `places` where it ran. `work` is what GPUs did; of a profiled
    cell `roof` draws where it stands under its machine's, of the `under_roof` figures, and `operations` are
    its own, `profiled` what to think of their times. Messages to act on stand by themselves. `measured` are
    readings, and `facts` what else is known, each with where it comes from. `language` is the one of the
    sentences.
    """

    head: Head
    notes: tuple[str, ...]
    left_out: tuple[str, ...]
    bars: tuple[TimeBar, ...]
    runs: tuple[str, ...]
    answer: str
    advice: str
    evidence: Table
    lines: Table
    places: tuple[str, ...]
    work: tuple[Table, ...]
    roof: Chart | None
    under_roof: Table | None
    profiled: str
    operations: tuple[Table, ...]
    to_act_on: tuple[LogLine, ...]
    messages: tuple[LogLine, ...]
    measured: Table
    facts: Table
    missing: tuple[str, ...]
    missing_title: str
    language: str

    def word(self, sentence: str) -> str:
        """Return a sentence, or a text that the catalogue knows as it stands, in the receipt's language."""
        return translated(sentence, self.language)

    @property
    def messages_title(self) -> Sentence:
        """What heads the messages that ask for nothing."""
        count = len(self.messages)
        if self.to_act_on:
            return say("Other messages ({count})", count=count)
        return say("Messages ({count})", count=count)


def of(record: Record, cut: Mapping[str, int] | None = None, language: str = "en") -> OpenReceipt:
    """The receipt of a record, its sentences in a language; `cut` counts what was left out of it."""
    lines = notes.worst_first(record.logs)
    limit = record.limit
    profiled = record.mode == "profiled"
    shown = OpenReceipt(
        head.of(record, cut),
        record.notes,
        tuple(figures_in_words.left_out(cut)),
        tuple(_bars(record)),
        tuple(repeats.strip(record)),
        "" if limit is None else limits.answer(limit),
        "" if limit is None else limit.next or "",
        limits.evidence(limit.evidence if limit else (), summary=say("Evidence")),
        limits.hot_lines(record.lines),
        tuple(figures_in_words.places(record)),
        tuple(gpu.tables(record)),
        *(_roof(record) if profiled else (None, None)),
        operations.SENTENCE if profiled else "",
        tuple(operations.tables(record, _NAME)) if profiled else (),
        tuple(one for one in lines if notes.to_act_on(one)),
        tuple(one for one in lines if not notes.to_act_on(one)),
        Table((), tuple(_row(one, record) for one in record.readings if one.value is not None)),
        Table((), tuple(_facts(record))),
        (*figures_in_words.missing(record), *limits.why_not(record)),
        figures_in_words.not_measured(record),
        language,
    )
    told: OpenReceipt = shown if language == "en" else in_language(shown, language)
    return told


def _bars(record: Record) -> list[TimeBar]:
    """Times on one scale; one alone would be a bar of nothing."""
    times = [one for one in record.readings if one.quantity in _TIMES and one.value is not None]
    told = [one for one in times if not figures_in_words.slowed(one, record)]
    longest = max((one.value or 0 for one in told), default=0)
    if len(told) < 2 or not longest:
        return []
    return [TimeBar(units.title(one.quantity), units.figure(one), (one.value or 0) / longest) for one in told]


def _roof(record: Record) -> tuple[Chart | None, Table | None]:
    from jupyter_mlgpu.show.receipts import roofline  # which loads what draws benchmarks

    return roofline.chart(record), roofline.table(record)


def _row(reading: Reading, record: Record) -> tuple[str, ...]:
    source = say("{scope}, {source}", scope=units.scope(reading.scope), source=reading.instrument)
    return units.title(reading.quantity), figures_in_words.shown(reading, record), source


def _facts(record: Record) -> list[tuple[str, ...]]:
    return [
        (figures_in_words.fact_title(name), figures_in_words.fact_value(fact.value), fact.source)
        for name, fact in sorted(record.facts.items())  # as in a notebook's file
    ]
