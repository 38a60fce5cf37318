"""Explain the log lines of a loaded record with the current catalogue.

Apple's fork writes its records without explanations (mlcompute_fork.py), and older versions knew fewer
messages. Only lines with the verdict `unknown` are read again; the others stay as they are.
"""

from __future__ import annotations

from itertools import groupby

from msgspec.structs import replace

from jupyter_mlgpu.explain.logs import placement
from jupyter_mlgpu.explain.logs.catalogue import Catalogue, Explanation
from jupyter_mlgpu.explain.logs.fold import LineFolder
from jupyter_mlgpu.explain.logs.parse import Message, Parser
from jupyter_mlgpu.record.record import LogLine, Record


def explain_again(record: Record, catalogue: Catalogue) -> Record:
    """Return the record with its unknown log lines explained if possible, and with the facts in them.

    No line is lost: one that stays unknown stays as it is. Facts that the record has already are kept.
    """
    if not any(_is_unknown(line) for line in record.logs):
        return record
    folder = LineFolder(catalogue, str)  # for the facts only: it keeps a limited number of lines
    lines: dict[tuple[object, ...], LogLine] = {}
    # Lines with equal counts may be parts of one message: they are read together, once.
    for _, group in groupby(record.logs, key=lambda line: (_is_unknown(line), line.count, line.late)):
        run = list(group)
        if not _is_unknown(run[0]):
            lines.update({("known", len(lines), place): line for place, line in enumerate(run)})
            continue
        for message, first in _messages(run, catalogue):
            folder.take(message, first.stream, first.time or "")
            known = catalogue.explain(message)
            key = (*_message_key(message, known), first.stream, first.late)
            before = lines[key].count if key in lines else 0
            line = lines.get(key) or _explained(message, known, first)
            lines[key] = replace(line, count=before + first.count)
    return replace(record, logs=tuple(lines.values()), facts={**folder.facts(), **record.facts})


def _is_unknown(line: LogLine) -> bool:
    return line.verdict == "unknown"


def _messages(run: list[LogLine], catalogue: Catalogue) -> list[tuple[Message, LogLine]]:
    """Return the messages that some unknown lines make up, each with its first line."""
    places = {_begin(line.stream, line.text): place for place, line in reversed(list(enumerate(run)))}
    parsers: dict[str, Parser] = {}
    last: dict[str, int] = {}
    found: list[tuple[int, Message]] = []

    def take(messages: list[Message], stream: str) -> None:
        # A message is returned when the next one of its stream begins; its place is that of its first line.
        found.extend(
            (places.get(_begin(stream, message.text), last[stream]), message) for message in messages
        )

    for place, line in enumerate(run):
        last[line.stream] = place
        parser = parsers.setdefault(line.stream, Parser(catalogue))
        for text in line.text.split("\n"):
            take(parser.push(text), line.stream)
    for stream, parser in parsers.items():
        take(parser.finish(), stream)
    return [(message, run[place]) for place, message in sorted(found, key=lambda each: each[0])]


def _begin(stream: str, text: str) -> tuple[str, str]:
    return stream, text.partition("\n")[0]


def _explained(message: Message, known: Explanation | None, first: LogLine) -> LogLine:
    if known is None:
        return replace(first, text=message.text)
    return replace(
        first,
        text=message.text,
        id=known.id,
        verdict=known.verdict,
        meaning=known.meaning(),
        advice=known.advice(),
        fields=dict(known.fields),
    )


def _message_key(message: Message, known: Explanation | None) -> tuple[object, ...]:
    """Return what makes two messages one, as in fold.py; unknown ones keep their time stamps apart."""
    if known is None:
        return (message.text,)
    if known.id in placement.MESSAGES:
        return (known.id, placement.short_device(str(known.fields["device"])))
    return (known.id,) if known.definition.fold else (known.id, message.origin, message.body)
