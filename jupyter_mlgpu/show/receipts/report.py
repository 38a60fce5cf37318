"""Renders all records of a run as one self-contained HTML page, without network or other files.

It begins with the answer in one sentence, the slowest cells and a table of all cells. Everything else is
folded. Its pictures are images, and its content security policy forbids all scripts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record import cellnumbers, units
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import say, say_count
from jupyter_mlgpu.record.translation import in_language, translated
from jupyter_mlgpu.show.markup import Child, Markup, document, element, image, joined
from jupyter_mlgpu.show.page import svg
from jupyter_mlgpu.show.page.html import table as html_table
from jupyter_mlgpu.show.page.model import Table
from jupyter_mlgpu.show.receipts import (
    counted_cells,
    figures,
    figures_in_words,
    gpu,
    head,
    html,
    limits,
    notebook_answer,
    notes,
    page,
    strip,
)

# Screen readers and printers use the tables. The charts draw the same figures.
_STYLE = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

_SLOWEST = 5
#: Bytes of a page of 100 cells: large receipts are shortened until the page has no more.
_LARGEST = 490_000
#: Most lines of code in a shortened receipt.
_LINES = 3


def report(
    records: Sequence[Record], *, title: str, notices: Sequence[str] = (), language: str = "en"
) -> str:
    """Return the page. `notices` are sentences for its top about missing content and the reasons."""
    return _Report(records, language).page(title, notices)


class _Report:
    """The parts of the page, with their sentences in a language."""

    def __init__(self, records: Sequence[Record], language: str) -> None:
        self.records = records
        self.language = language

    def page(self, title: str, notices: Sequence[str]) -> str:
        top = [
            element("h1", title),
            *self._head(),
            *(element("p", self._word(notice), class_="notice") for notice in notices),
            *self._slowest(),
            *self._all_cells(),
            self._folded(say("Charts"), *self._charts()),
        ]
        room = _LARGEST - sum(len(str(one).encode()) for one in top)
        return document(
            self._word(say("{title}: receipts", title=title)),
            _STYLE,
            element(
                "main",
                joined(
                    *top,
                    self._folded(say("Receipts"), *self._receipts(room)),
                    self._folded(say("Versions"), *self._versions()),
                    between="\n",
                ),
            ),
            policy=_POLICY,
            language=self.language,
            wide=True,
        )

    def _word(self, sentence: str) -> str:
        return translated(sentence, self.language)

    def _folded(self, title: str, *inside: Child) -> Markup:
        summary = element("summary", element("h2", self._word(title)))
        return element("details", summary, "\n", joined(*inside, between="\n")) if inside else joined()

    def _head(self) -> Iterator[Markup]:
        records = self.records
        if not records:
            yield element("p", self._word(say("No cell left a record.")))
            return
        answer = notebook_answer.answer(records)
        if answer is not None:
            yield element("p", self._word(answer), class_="answer")
        failed = sum(record.outcome == "error" for record in records)
        act = sum(notes.to_act_on(line) for record in records for line in record.logs)
        places = dict.fromkeys(
            f"{entry.device} ({registry.title(entry.framework)})"
            for record in records
            for entry in record.device.ran_on or ()
        )
        facts = [say_count("{count} cell measured", "{count} cells measured", len(records))]
        if failed:
            facts.append(say("{count} ended with an error", count=failed))
        if act:
            facts.append(say_count("{count} message to act on", "{count} messages to act on", act))
        ran_on = say("ran on {devices}", devices=", ".join(places))
        facts.append(ran_on if places else say("no framework operations seen"))
        yield element("p", " · ".join(map(self._word, facts)), class_="soft")

    def _slowest(self) -> Iterator[Markup]:
        cells = sorted(counted_cells.counted(self.records), key=lambda one: -one.seconds)[:_SLOWEST]
        if cells:
            yield element("h2", self._word(say("Slowest cells")))
        for record, _ in cells:
            yield self._article(
                record,
                element("p", self._line(record)),
                *strip.picture(record, self._word),
                *strip.legend(record, self._word),
            )

    def _line(self, record: Record) -> str:
        shown = in_language(head.of(record), self.language)
        return f"{shown.label}: {shown.line}" if shown.label else str(shown.line)

    def _article(self, record: Record, *inside: Markup) -> Markup:
        return element("article", element("h3", _name(record)), *inside, class_=record.outcome)

    def _all_cells(self) -> Iterator[Markup]:
        columns = (say("Cell"), say("Time"), say("Most of the time"), say("GPU"), say("Peak memory"))
        rows = list(map(_row, self.records))
        kept = [at for at in range(len(columns)) if any(row[at] for row in rows)]
        if rows:
            table = Table(
                tuple(columns[at] for at in kept), tuple(tuple(row[at] for at in kept) for row in rows)
            )
            yield element("h2", self._word(say("All cells")))
            yield element("div", html_table(in_language(table, self.language)), class_="all")

    def _charts(self) -> Iterator[Markup]:
        for one in figures.charts(self.records):
            if not one.table.rows or (one.chart is None and one.title == "Energy"):
                continue
            shown = in_language(one, self.language)
            picture = shown.chart and element(
                "div", image(svg.draw(shown.chart, dark=True), shown.chart.words)
            )
            pair = element("div", picture, element("div", html_table(shown.table)), class_="pair")
            note = element("p", shown.note, class_="soft")
            yield element("section", element("h3", shown.title), "\n", note, "\n", pair)

    def _receipts(self, room: int) -> list[Markup]:
        """Return the receipts. Those that are larger than their part of the room are shortened."""
        whole = {record.key: self._receipt(record, {}) for record in self.records}
        by_size = sorted(self.records, key=lambda record: len(str(whole[record.key])))
        for done, record in enumerate(by_size):
            part = room // (len(by_size) - done)
            for make in (lambda one: whole[one.key], self._short_receipt, self._closed_receipt):
                made = make(record)
                if len(str(made).encode()) <= part:
                    break
            whole[record.key] = made
            room -= len(str(made).encode())
        return [whole[record.key] for record in self.records]

    def _receipt(self, record: Record, cut: dict[str, int]) -> Markup:
        return self._article(record, html.render(record, page.of(record, cut, self.language)))

    def _short_receipt(self, record: Record) -> Markup:
        return self._receipt(*_shortened(record))

    def _closed_receipt(self, record: Record) -> Markup:
        left_out = say("This receipt is left out for its size; the saved records have it.")
        return self._article(
            record, element("p", self._line(record)), element("p", self._word(left_out), class_="soft")
        )

    def _versions(self) -> Iterator[Markup]:
        versions = {name: number for record in self.records for name, number in record.versions.items()}
        if self.records:
            began = say("Began {time} UTC", time=self.records[0].started_at[:19].replace("T", " "))
            named = [f"{registry.title(name)} {number}" for name, number in versions.items()]
            yield element("p", " · ".join([self._word(began), *named]), class_="soft")


def _name(record: Record) -> str:
    return f"{cellnumbers.name(record)} {record.cell.name}"


def _row(record: Record) -> tuple[str, ...]:
    """Return a cell's row in the table of all cells. Empty: not measured, or nothing to say."""
    wall, memory = record.reading("wall_time"), record.find("peak_memory_process")
    label, clause = head.label(record), limits.clause(record.limit) or ""
    return (
        _name(record),
        say("no timing") if figures_in_words.is_slowed(wall, record) else units.figure(wall),
        say("{one}, {other}", one=label, other=clause) if label and clause else label or clause,
        gpu.busy(record),
        units.figure(memory) if memory else "",
    )


def _shortened(record: Record) -> tuple[Record, dict[str, int]]:
    """Return a record with its answer, its first lines and its messages to act on, and counts of the rest."""
    lost = Counter(notes.CUT + notes.rank(line) for line in record.logs if not notes.to_act_on(line))
    lost["evidence"] = len(record.limit.evidence) if record.limit else 0
    lost["lines"] = max(0, len(record.lines) - _LINES)
    lost["gpu_work"] = sum(bool(one.copies or one.kernels) for one in record.gpu_work)
    short = replace(
        record,
        host_lane=None,
        gpu_work=tuple(replace(one, copies=(), kernels=(), lane=None) for one in record.gpu_work),
        limit=record.limit and replace(record.limit, evidence=()),
        lines=record.lines[:_LINES],
        logs=tuple(filter(notes.to_act_on, record.logs)),
    )
    return short, {part: count for part, count in lost.items() if count}
