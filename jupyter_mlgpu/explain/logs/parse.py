"""Group lines into messages, and split each message into prefix and body.

A line with a prefix (prefixes.py) begins a message. A line without one belongs to the message before it if
that message's `continues` in the catalogue match. It also belongs to it if it means nothing by itself and is
indented, or if the message's first line ended with a colon or was empty after its prefix. A Python traceback
is one message, which is explained by its last line. The allocator's dump (some 400 lines from
bfc_allocator.cc) is one message, without its lists of chunks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from jupyter_mlgpu.explain.logs import prefixes

MAX_LINES = 200
MAX_CHARACTERS = 64 * 1024

#: The source of the allocator's dump: its consecutive messages are one.
ALLOCATOR = "bfc_allocator.cc"
# The lists of the dump, of which only the first lines are kept, and its last line, a picture of the memory.
_CHUNKS = re.compile(
    r"\s*(?:(?:InUse|Free|Chunk) +at |Next region of size|\d+ Chunks of size|Bin \(\d+\):|Size: )"
)
_CHUNKS_KEPT = 20
_MEMORY_PICTURE = re.compile(r"[*_x]+$")

_TRACEBACK = "Traceback (most recent call last):"
_CHAINED = ("During handling of the above exception,", "The above exception was the direct cause of")
_BARE_EXCEPTION = re.compile(r"[A-Za-z_][\w.]*:?$")


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a log.

    `text` is what was printed, `body` is what follows the prefix, which patterns match. `origin` is the
    source file's base name, the logger or the exception's class; `level` is None if none is printed.
    `overwritten` marks one state of a progress bar: the line ended with a carriage return.
    """

    text: str
    body: str
    origin: str | None = None
    level: str | None = None
    overwritten: bool = False


class Explained(Protocol):
    """A message that the catalogue knows."""

    @property
    def may_continue(self) -> bool:
        """True if lines without a prefix can belong to the message."""
        ...

    def continued_by(self, line: str) -> bool:
        """Return True if a line without a prefix belongs to the message."""
        ...


class Explainer(Protocol):
    """The part of the catalogue that the parser uses, which keeps the parser free of the catalogue."""

    def explain(self, message: Message) -> Explained | None:
        """Return the explanation of a message, or None."""
        ...

    def knows(self, line: str) -> bool:
        """Return True if a line without a prefix has a meaning by itself."""
        ...


class Parser:
    """Groups the lines of one stream into messages. A message is returned when the next one begins."""

    def __init__(self, catalogue: Explainer) -> None:
        self._catalogue = catalogue
        self._open: _Open | None = None

    @property
    def is_open(self) -> bool:
        """True if a message waits for its end."""
        return self._open is not None

    @property
    def open_lines(self) -> int:
        """The number of lines that the open message has so far."""
        return len(self._open.lines) if self._open else 0

    @property
    def takes_nothing(self) -> bool:
        """True if no further line can belong to the open message."""
        return self._open is None or self._open.takes_nothing(self._catalogue)

    @property
    def takes_plain(self) -> bool:
        """True if the open message may take an unknown line without prefix and indent."""
        return self._open is not None and self._open.takes_plain(self._catalogue)

    def push(self, line: str, *, overwritten: bool = False) -> list[Message]:
        """Add one line and return the messages that it completes."""
        finished: list[Message] = []
        while True:
            start = prefixes.undecorated(line)
            prefix = prefixes.read(line, start)
            inside = prefixes.split_inside(line, (prefix.end if prefix else start) + 1)
            self._push(line[:inside] if inside else line, start, prefix, overwritten and not inside, finished)
            if not inside:
                return finished
            line = line[inside:]

    def finish(self) -> list[Message]:
        """Return the open message, if any: no further lines will come."""
        opened, self._open = self._open, None
        return [opened.message()] if opened else []

    def _push(
        self,
        line: str,
        start: int,
        prefix: prefixes.Prefix | None,
        overwritten: bool,
        finished: list[Message],
    ) -> None:
        rest = line[start:]
        if not rest.strip():
            if self._open:
                self._open.blank_lines += 1
            return
        opened = self._open
        if opened and not overwritten and opened.has_room(line):
            if prefix is None:
                belongs = opened.takes(rest, self._catalogue)
            else:
                belongs = opened.takes_prefixed(prefix, line, self._catalogue)
            if belongs:
                opened.add(line, rest, prefix)
                return
        finished += self.finish()
        self._open = _Open.begin(line, start, prefix, overwritten)


@dataclass(slots=True)
class _Open:
    """A message whose lines are still coming."""

    lines: list[str]
    bodies: list[str]
    origin: str | None
    level: str | None
    native: bool
    decorated: bool
    overwritten: bool
    prefix_end: int
    in_traceback: bool = False
    blank_lines: int = 0
    characters: int = 0
    chunks: int = 0
    so_far: Message | None = None
    looked_up: bool = False
    explained: Explained | None = None

    @classmethod
    def begin(cls, line: str, start: int, prefix: prefixes.Prefix | None, overwritten: bool) -> _Open:
        opened = cls(
            lines=[line],
            bodies=[line[prefix.end if prefix else start :]],
            origin=prefix.origin if prefix else None,
            level=prefix.level if prefix else None,
            native=prefix is not None and prefix.native,
            decorated=start > 0,
            overwritten=overwritten,
            prefix_end=prefix.end if prefix else 0,
        )
        opened.characters = len(line)
        opened.in_traceback = prefix is None and begins_traceback(line[start:])
        return opened

    def message(self) -> Message:
        if self.so_far is None:
            body = "\n".join(self.bodies).strip()
            text = "\n".join(self.lines)
            if self.decorated:
                body = body.rstrip("`*")
            if self.chunks > _CHUNKS_KEPT:
                text += f"\n… [{self.chunks - _CHUNKS_KEPT:,} more lines of chunks not kept]"
            self.so_far = Message(text, body, self.origin, self.level, self.overwritten)
        return self.so_far

    def has_room(self, line: str) -> bool:
        return len(self.lines) < MAX_LINES and self.characters + len(line) < MAX_CHARACTERS

    def takes_nothing(self, catalogue: Explainer) -> bool:
        """Return True if the message is complete, whatever follows."""
        if self.native or self.in_traceback or self._says_nothing():
            return False
        return self._look_up(catalogue) is None

    def takes_plain(self, catalogue: Explainer) -> bool:
        """Return True if this message may take an unknown line without prefix and indent."""
        if self.in_traceback or self._heads_more():
            return True
        explained = self._look_up(catalogue)
        return explained is not None and explained.may_continue

    def takes(self, rest: str, catalogue: Explainer) -> bool:
        """Return True if a line without a prefix belongs to this message."""
        indented = rest[0].isspace()
        if self.in_traceback:
            return indented or begins_traceback(rest) or _BARE_EXCEPTION.match(rest) is not None
        if self._says_nothing():
            return True
        explained = self._look_up(catalogue)
        if explained and explained.continued_by(rest.strip()):
            return True
        if not self.native and explained is None:
            return False
        # After an empty line, an indented one is more likely a new output.
        if not self._heads_more() and (not indented or self.blank_lines):
            return False
        return not catalogue.knows(rest.strip())

    def takes_prefixed(self, prefix: prefixes.Prefix, line: str, catalogue: Explainer) -> bool:
        """Return True if a line with a prefix belongs to this message, which is rare."""
        if self.in_traceback:
            return not prefix.native
        if not prefix.native:  # the exception may end a traceback that was logged with this message
            explained = self._look_up(catalogue)
            return explained is not None and explained.continued_by(line.strip())
        if (prefix.origin or "").endswith(".py"):
            # Python code prints its prefix before each line of a message, with the same time and place.
            return prefix.end == self.prefix_end and line.startswith(self.lines[0][: prefix.end])
        if self.origin != ALLOCATOR or prefix.origin != ALLOCATOR or self.level != "INFO":
            return False
        return prefix.level == "INFO" or _MEMORY_PICTURE.match(line, prefix.end) is not None

    def add(self, line: str, rest: str, prefix: prefixes.Prefix | None) -> None:
        """Add a line that belongs to the message."""
        self.so_far = None
        body = line[prefix.end :] if prefix else rest
        if self.in_traceback:
            if not rest[0].isspace() and not begins_traceback(rest):
                self.in_traceback = False
                self.origin = prefix.origin if prefix else rest.strip().rstrip(":").rpartition(".")[2]
                self.level = prefix.level if prefix else "ERROR"
                self.bodies = [body]
                self.looked_up = False
        elif self.origin == ALLOCATOR and prefix and _CHUNKS.match(body):
            self.chunks += 1
            if self.chunks > _CHUNKS_KEPT:
                return
            self.bodies.append(body)
        else:
            self.bodies += [""] * self.blank_lines + [body]
        self.lines += [""] * self.blank_lines + [line]
        self.blank_lines = 0
        self.characters += len(line)

    def _says_nothing(self) -> bool:
        """Return True if there is only a prefix: the message itself is on the next line."""
        return self.prefix_end > 0 and not self.bodies[0].strip() and len(self.bodies) == 1

    def _heads_more(self) -> bool:
        head = self.bodies[0].rstrip()
        return self._says_nothing() or (self.native and (not head or head.endswith(":")))

    def _look_up(self, catalogue: Explainer) -> Explained | None:
        # The first line decides what may follow; the meaning is looked up again when the message is complete.
        if not self.looked_up:
            self.looked_up = True
            self.explained = catalogue.explain(self.message())
        return self.explained


def begins_traceback(line: str) -> bool:
    """Return True if a line is the head of a traceback, or joins it to the one before."""
    return line.startswith(_TRACEBACK) or line.startswith(_CHAINED)
