"""An open receipt in reading order. Only this module chooses its content, for HTML and for the browser."""

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

#: Most characters of an operation's name.
_NAME = 80

MEASURED = say("How it was measured")
WHERE = say("Where it ran")


@dataclass(frozen=True, slots=True)
class OpenReceipt:
    """The content of a receipt, from its closed line to its folded end. Empty parts have nothing to show.

    `notes` are the kernel's remarks on the cell, `left_out` what the receipt has no room for. `runs` are
    those of a cell that repeats. `answer` is the limit of the cell, `doubt` the reason why that is not
    certain, `advice` what to do, `evidence` what supports the answer. `lines` are the code lines with the
    most samples, `places` the devices where it ran. `work` is the GPUs' work. For a profiled cell, `roof`
    draws its place under its machine's roof from the `under_roof` figures, `operations` are its operations,
    and `profiled` is a remark on their times. Messages to act on are separate. `measured` are readings, and
    `facts` other knowledge, each with its source. `language` is that of the sentences.
    """

    head: Head
    notes: tuple[str, ...]
    left_out: tuple[str, ...]
    runs: tuple[str, ...]
    answer: str
    doubt: str
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
        """Return a sentence, or a plain text that the catalogue contains, in the receipt's language."""
        return translated(sentence, self.language)

    @property
    def messages_title(self) -> Sentence:
        """The title of the messages that ask for no action."""
        count = len(self.messages)
        if self.to_act_on:
            return say("Other messages ({count})", count=count)
        return say("Messages ({count})", count=count)


def of(record: Record, cut: Mapping[str, int] | None = None, language: str = "en") -> OpenReceipt:
    """Return the receipt of a record, with sentences in a language.

    `cut` counts the parts that were left out.
    """
    lines = notes.worst_first(record.logs)
    limit = record.limit
    profiled = record.mode == "profiled"
    receipt = OpenReceipt(
        head.of(record, cut),
        record.notes,
        tuple(figures_in_words.left_out(cut)),
        tuple(repeats.strip(record)),
        "" if limit is None else limits.answer(limit),
        limits.doubt(limit) or "",
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
    translated_receipt: OpenReceipt = receipt if language == "en" else in_language(receipt, language)
    return translated_receipt


def _roof(record: Record) -> tuple[Chart | None, Table | None]:
    from jupyter_mlgpu.show.receipts import roofline  # here because it loads the benchmark's charts

    return roofline.chart(record), roofline.table(record)


def _row(reading: Reading, record: Record) -> tuple[str, ...]:
    source = say("{scope}, {source}", scope=units.scope(reading.scope), source=reading.instrument)
    return units.title(reading.quantity), figures_in_words.figure_text(reading, record), source


def _facts(record: Record) -> list[tuple[str, ...]]:
    return [
        (figures_in_words.fact_title(name), figures_in_words.fact_value(fact.value), fact.source)
        for name, fact in sorted(record.facts.items())  # as in a notebook's file
    ]
