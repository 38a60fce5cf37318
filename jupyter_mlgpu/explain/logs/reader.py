"""Read the bytes of one cell into log lines.

A kernel may print 140,000 lines in a cell, so most of them must cost almost nothing. Once the parser has
found that a line is a message of its own, further lines of its shape (all but the digits) are counted after
two lookups.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from jupyter_mlgpu.explain.logs import prefixes
from jupyter_mlgpu.explain.logs.catalogue import Catalogue
from jupyter_mlgpu.explain.logs.fold import DISTINCT_OF_A_KIND, CountedLines, Kind, LineFolder
from jupyter_mlgpu.explain.logs.lines import LineSplitter, text_of
from jupyter_mlgpu.explain.logs.parse import ALLOCATOR, Message, Parser, begins_traceback
from jupyter_mlgpu.measure.capture.stretch import EXCEPTION, Notes
from jupyter_mlgpu.record.record import LogLine
from jupyter_mlgpu.record.sentence import Sentence, say_count

#: The number of a cell's lines that are returned before all have been read.
FIRST = 20

_BLOCK = 64 * 1024
_DIGITS = b"0123456789"
_SHAPES_REMEMBERED = 5_000
_TEXTS_REMEMBERED = 2 * DISTINCT_OF_A_KIND


@dataclass(slots=True)
class _Shape:
    """Lines that differ only in their digits, each of them a message of its own."""

    kind: Kind
    #: With a prefix of native code, a line begins a message. Without one it may belong to the message before.
    has_prefix: bool
    #: The next lines may belong to such a line, or even (`takes_plain`) some that are not indented.
    may_go_on: bool
    takes_plain: bool
    #: It means nothing and is not indented: few messages take such a line.
    is_plain: bool
    #: The end of the prefix if time, process and thread stand before it, which make no difference.
    marker: bytes
    #: The counter of each known text.
    texts: dict[bytes, CountedLines]


#: A line that is a message of its own unless the next one belongs to it, with its counter in the first case.
_Waiting = tuple[bytes, CountedLines, _Shape]


class _Stream:
    """The state of reading one stream."""

    def __init__(self, name: str, catalogue: Catalogue) -> None:
        self.name = name
        self.splitter = LineSplitter()
        self.parser = Parser(catalogue)
        #: The only line so far of the parser's open message.
        self.first_line: bytes | None = None
        self.waiting: _Waiting | None = None


class LogReader:
    """Reads what one cell printed. It is not safe for several threads at once."""

    def __init__(self, catalogue: Catalogue, *, clean: Callable[[str], str] = str) -> None:
        self._catalogue = catalogue
        self._folder = LineFolder(catalogue, clean)
        self._streams: dict[str, _Stream] = {}
        self._shapes: dict[tuple[str, bytes], _Shape] = {}
        self._taken = 0
        self._lost: dict[Sentence, None] = {}
        self._time = ""

    def feed(self, stream: str, data: bytes, time: str) -> None:
        """Add what was written to a stream; `time` is the time for the log lines."""
        self._time = time
        reading = self._streams.get(stream)
        if reading is None:
            reading = self._streams[stream] = _Stream(stream, self._catalogue)
        for start in range(0, len(data), _BLOCK):
            self._read(reading, reading.splitter.feed(data[start : start + _BLOCK]))

    def add(self, stream: str, text: str, *, level: str, origin: str, time: str) -> None:
        """Add a whole message of Python's logging or warnings, or an exception if it is known."""
        if origin == EXCEPTION:
            self._add_exception(stream, text, time)
            return
        prefix = prefixes.read(text)
        body = text[prefix.end :] if prefix else text
        self._folder.take(Message(text.rstrip("\n"), body.strip(), origin, level), stream, time)

    def _add_exception(self, stream: str, text: str, time: str) -> None:
        """Add the part of an exception that the catalogue knows; the traceback is in the cell's output."""
        parser = Parser(self._catalogue)
        lines = [text_of(line.encode("utf-8", "surrogatepass")) for line in text.splitlines()]
        messages = [*(message for line in lines for message in parser.push(line)), *parser.finish()]
        known = next((one for one in messages if self._catalogue.explain(one) is not None), None)
        if known is not None:
            self._folder.take(known, stream, time)

    def lost(self, sentence: Sentence) -> None:
        """Note that something never reached this reader."""
        self._lost[sentence] = None

    def take_new(self, limit: int) -> tuple[LogLine, ...]:
        """Return at most `limit` lines that were not returned before; their counts may still grow."""
        new = self._folder.entries[self._taken : self._taken + limit]
        self._taken += len(new)
        return tuple(entry.log_line() for entry in new)

    def settle(self) -> None:
        """Close messages that waited for further lines, because nothing has come for a while."""
        for reading in self._streams.values():
            self._close_waiting(reading)

    def so_far(self) -> Notes:
        """Return the first lines of what has been read until now."""
        lines = tuple(entry.log_line() for entry in self._folder.entries[:FIRST])
        return Notes(lines, {}, (), whole=False)

    def finish(self, *, late: bool = False) -> Notes:
        """Return all that was read; nothing may be added afterwards.

        `late`: the lines came after their cell had ended.
        """
        for reading in self._streams.values():
            self._read(reading, reading.splitter.finish())
            self._close_waiting(reading)
        return Notes(self._folder.lines(late=late), self._folder.facts(), tuple(self._notes()))

    def _notes(self) -> list[Sentence]:
        notes = [*self._lost, *self._folder.notes()]
        cut_lines = sum(reading.splitter.cut_lines for reading in self._streams.values())
        cut_bytes = sum(reading.splitter.cut_bytes for reading in self._streams.values())
        if cut_lines:
            notes.append(
                say_count(
                    "{count} line was too long to keep whole: {bytes} bytes were left out.",
                    "{count} lines were too long to keep whole: {bytes} bytes were left out.",
                    cut_lines,
                    bytes=cut_bytes,
                )
            )
        return notes

    def _read(self, reading: _Stream, lines: list[bytes]) -> None:
        """Count the lines of known shapes, and give the others to the parser."""
        shapes, stream = self._shapes, reading.name
        waiting = reading.waiting
        for line in lines:
            shape = shapes.get((stream, line.translate(None, _DIGITS)))
            if shape is not None and (shape.has_prefix or not _may_belong(shape, waiting, reading.parser)):
                counter = shape.texts.get(line[line.find(shape.marker) + len(shape.marker) :])
                if counter is None and shape.kind.is_full:
                    counter = shape.kind.beyond
                if counter is not None:
                    if waiting is not None:
                        waiting[1].count += 1
                        waiting = None
                    elif reading.parser.is_open:
                        self._close(reading)
                    if shape.may_go_on:
                        waiting = (line, counter, shape)
                    else:
                        counter.count += 1
                    continue
            if waiting is not None:  # this line may belong to the waiting one: the parser decides
                reading.first_line = waiting[0]
                reading.parser.push(text_of(waiting[0]))
                waiting = None
            self._parse(reading, line)
        reading.waiting = waiting

    def _parse(self, reading: _Stream, line: bytes) -> None:
        parser = reading.parser
        for message in parser.push(text_of(line), overwritten=line.endswith(b"\r")):
            self._take(reading, message)
        if parser.open_lines != 1:
            reading.first_line = None
        elif reading.first_line is None:
            reading.first_line = line
        if parser.is_open and parser.takes_nothing:
            self._close(reading)

    def _close_waiting(self, reading: _Stream) -> None:
        if reading.waiting:
            reading.waiting[1].count += 1
            reading.waiting = None
        self._close(reading)

    def _close(self, reading: _Stream) -> None:
        for message in reading.parser.finish():
            self._take(reading, message)

    def _take(self, reading: _Stream, message: Message) -> None:
        """Count a message. If it was one line, further lines of its shape skip the parser."""
        line, reading.first_line = reading.first_line, None
        counter, kind = self._folder.take(message, reading.name, self._time)
        if line is None or counter is None or kind is None or message.origin == ALLOCATOR:
            return
        if message.text != text_of(line) or begins_traceback(message.text):
            return
        key = (reading.name, line.translate(None, _DIGITS))
        shape = self._shapes.get(key)
        if shape is None:
            if len(self._shapes) >= _SHAPES_REMEMBERED:
                self._shapes.clear()
            shape = self._shapes[key] = _shape(line, message, kind)
        if len(shape.texts) < _TEXTS_REMEMBERED:
            shape.texts[line[line.find(shape.marker) + len(shape.marker) :]] = counter


def _may_belong(shape: _Shape, waiting: _Waiting | None, parser: Parser) -> bool:
    """Return True if a line without a prefix may belong to the message before it."""
    if waiting is not None:
        return waiting[2].takes_plain or not shape.is_plain
    return parser.is_open and (parser.takes_plain or not shape.is_plain)


def _shape(line: bytes, message: Message, kind: Kind) -> _Shape:
    text = message.text
    start = prefixes.undecorated(text)
    prefix = prefixes.read(text, start)
    native = prefix is not None and prefix.native
    at = line.find(b"] ")
    marked = native and prefix is not None and at >= 0 and len(text_of(line[: at + 2])) <= prefix.end
    known = kind.first.explanation
    heads_more = native and (not message.body or message.body.endswith(":"))
    return _Shape(
        kind=kind,
        has_prefix=native,
        may_go_on=native or known is not None,
        takes_plain=heads_more or (known is not None and known.may_continue),
        is_plain=not (prefix or known or start or message.overwritten or text[:1].isspace()),
        marker=b"] " if marked else b"",
        texts={},
    )
