"""Fold messages into log lines with counts, collect their facts, and note what was not kept.

Messages that differ only in time, process or thread are one line. Of messages that differ more, a limited
number is kept of each kind, and the rest is counted. A kind is a message of the catalogue or, for unknown
messages, a shape: the text without its numbers.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from jupyter_mlgpu.explain.logs import placement
from jupyter_mlgpu.explain.logs.catalogue import Catalogue, Explanation
from jupyter_mlgpu.explain.logs.parse import Message
from jupyter_mlgpu.explain.logs.placement import PlacementTable
from jupyter_mlgpu.explain.logs.subgraphs import SUBGRAPH, Subgraphs
from jupyter_mlgpu.record.record import Fact, LogLine
from jupyter_mlgpu.record.sentence import Sentence, say

#: The most different texts of a kind, and in all; then one of each further kind, up to KINDS lines.
DISTINCT_OF_A_KIND = 100
DISTINCT = 1_000
KINDS = 2_000
CHARACTERS = 4 * 1024 * 1024
#: The most different values of one fact, and the most kinds that notes name.
FACT_VALUES = 50
KINDS_NAMED = 20

_VARYING = re.compile(r"0x[0-9a-fA-F]+|\d+(?:[.,:]\d+)*")
_NOT_LETTERS = re.compile(r"[\W\d_]+")


def shape_of(message: Message) -> str:
    """Return the text without what varies: numbers and addresses, and the bars of progress bars."""
    if message.overwritten:
        return _NOT_LETTERS.sub(" ", message.body)
    return _VARYING.sub("0", message.body)


@dataclass(slots=True)
class CountedLines:
    """Lines that are only counted."""

    count: int = 0


@dataclass(slots=True)
class FoldedLine(CountedLines):
    """A line of the result."""

    text: str = ""
    explanation: Explanation | None = None
    stream: str = ""
    time: str = ""

    def log_line(self, *, late: bool = False, more: int = 0) -> LogLine:
        """Return the line for a record, with `more` that were counted elsewhere."""
        known = self.explanation
        return LogLine(
            text=self.text,
            id=known.id if known else None,
            verdict=known.verdict if known else "unknown",
            meaning=known.meaning() if known else None,
            advice=known.advice() if known else None,
            fields=dict(known.fields) if known else {},
            count=self.count + more,
            stream=self.stream,
            time=self.time,
            late=late,
        )


@dataclass(slots=True)
class Kind:
    """Lines of one kind: the first, and those that are only counted."""

    first: FoldedLine
    distinct: int = 1
    #: Further lines of this kind with a new text are only counted.
    is_full: bool = False
    beyond: CountedLines = field(default_factory=CountedLines)


class LineFolder:
    """The log lines of one cell."""

    def __init__(self, catalogue: Catalogue, clean: Callable[[str], str]) -> None:
        self._catalogue = catalogue
        self._clean = clean
        self.entries: list[FoldedLine] = []
        self._by_key: dict[tuple[Any, ...], FoldedLine] = {}
        self._kinds: dict[tuple[Any, ...], Kind] = {}
        self._characters = 0
        self._dropped = 0
        self._placement = PlacementTable()
        self._subgraphs = Subgraphs()
        self._facts: dict[str, tuple[list[Any], str]] = {}

    def take(self, message: Message, stream: str, time: str) -> tuple[CountedLines | None, Kind | None]:
        """Count a message, and return its counter and kind; None if there is no room for another kind."""
        explanation = self._catalogue.explain(message)
        if explanation:
            explanation = self._without_secrets(explanation)
            kind_key: tuple[Any, ...] = (stream, explanation.id)
            is_one = explanation.definition.fold
            if explanation.id in placement.MESSAGES:
                kind_key = (*kind_key, self._placement.add(explanation.fields))
                self._facts["placement"] = ([self._placement.fact()], explanation.id)
        else:
            kind_key = (stream, message.origin, message.level, shape_of(message), message.overwritten)
            is_one = message.overwritten
        key = kind_key if is_one else (stream, message.level, message.origin, message.body)
        kind, entry = self._kinds.get(kind_key), self._by_key.get(key)
        if entry is None or is_one:
            self._note_facts(explanation, message)
        if entry is not None:
            entry.count += 1
            return entry, kind
        if kind is not None and (kind.is_full or len(self.entries) >= DISTINCT or self._is_long()):
            kind.is_full = True
            kind.beyond.count += 1
            return kind.beyond, kind
        if kind is None and not self._has_room(explanation):
            self._dropped += 1
            return None, None
        entry = FoldedLine(1, self._clean(message.text), explanation, stream, time)
        self._characters += len(message.text)
        self.entries.append(entry)
        self._by_key[key] = entry
        if kind is None:
            kind = self._kinds[kind_key] = Kind(entry)
        else:
            kind.distinct += 1
            kind.is_full = kind.distinct >= DISTINCT_OF_A_KIND
        return entry, kind

    def lines(self, *, late: bool) -> tuple[LogLine, ...]:
        """Return all lines in the order in which they first appeared."""
        more = {id(kind.first): kind.beyond.count for kind in self._kinds.values()}
        return tuple(entry.log_line(late=late, more=more.get(id(entry), 0)) for entry in self.entries)

    def facts(self) -> Mapping[str, Fact]:
        """Return the facts in the messages; a fact with several values has a list."""
        facts = {
            name: Fact(values[0] if len(values) == 1 else values, say("log message {id}", id=source))
            for name, (values, source) in self._facts.items()
        }
        subgraphs = self._subgraphs.fact()
        if subgraphs:
            facts["mlc_subgraphs"] = Fact(subgraphs, say("log messages from ML Compute"))
        return facts

    def notes(self) -> Iterator[Sentence]:
        """Yield sentences about messages that are not in the lines."""
        full = sorted(
            (kind for kind in self._kinds.values() if kind.beyond.count), key=lambda kind: -kind.beyond.count
        )
        for kind in full[:KINDS_NAMED]:
            line = kind.first.text.partition("\n")[0]
            shortened = line if len(line) <= 80 else line[:79] + "…"
            yield say(
                "{count} more messages like '{line}' were counted but not kept.",
                count=kind.beyond.count,
                line=shortened,
            )
        rest = sum(kind.beyond.count for kind in full[KINDS_NAMED:])
        if rest:
            yield say(
                "{count} more messages of {shapes} other forms were counted but not kept.",
                count=rest,
                shapes=len(full) - KINDS_NAMED,
            )
        if self._dropped:
            yield say(
                "{count} more messages were not kept: there were too many different ones.",
                count=self._dropped,
            )
        yield from self._placement.notes()

    def _is_long(self) -> bool:
        return self._characters >= CHARACTERS

    def _has_room(self, explanation: Explanation | None) -> bool:
        # Known messages are always kept, because the catalogue has only so many.
        return explanation is not None or (len(self.entries) < KINDS and not self._is_long())

    def _without_secrets(self, explanation: Explanation) -> Explanation:
        fields = {
            name: self._clean(value) if isinstance(value, str) else value
            for name, value in explanation.fields.items()
        }
        return dataclasses.replace(explanation, fields=fields)

    def _note_facts(self, explanation: Explanation | None, message: Message) -> None:
        if SUBGRAPH in message.body:
            self._subgraphs.add(self._clean(message.body))
        for name, value in explanation.facts.items() if explanation else ():
            values, _ = self._facts.setdefault(name, ([], explanation.id if explanation else ""))
            if value not in values and len(values) < FACT_VALUES:
                values.append(value)
