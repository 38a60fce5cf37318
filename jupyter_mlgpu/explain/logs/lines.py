"""Split a stream of bytes into lines, in blocks of any size and with bounded memory.

`\\n`, `\\r\\n` and a lone `\\r` end a line. A line that a lone `\\r` ended keeps it, because it is one state
of a progress bar, overwritten by the next. Lines stay bytes; `text_of` decodes them.
"""

from __future__ import annotations

import re

#: Longer lines are cut to their first MOST_BYTES bytes.
LONGEST = 64 * 1024
MOST_BYTES = 8 * 1024

# Colours, cursor movements, window titles, and the backspaces of old progress bars.
_ESCAPES = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-Z\\^-~])|\x08+")


def text_of(line: bytes) -> str:
    """Return a line as text, without its `\\r` and terminal escapes.

    Bytes that are not UTF-8 become `\\xe9`.
    """
    line = line.rstrip(b"\r")
    if b"\x1b" in line or b"\x08" in line:
        line = _ESCAPES.sub(b"", line)
    return line.decode("utf-8", "backslashreplace")


def _split(data: bytes) -> list[bytes]:
    lines = []
    for line in data.replace(b"\r\n", b"\n").split(b"\n"):
        *overwritten, last = line.split(b"\r")
        lines += [state + b"\r" for state in overwritten]
        lines.append(last)
    return lines


class LineSplitter:
    """Splits one stream into lines and keeps the last one until it is complete."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._length = 0
        self._return_pending = False
        #: The number of lines that were too long, and the number of bytes that were dropped.
        self.cut_lines = 0
        self.cut_bytes = 0

    def feed(self, data: bytes) -> list[bytes]:
        """Add some bytes and return the lines that they complete."""
        if self._return_pending:
            data = b"\r" + data
        # A \r at the end may be the first half of \r\n, so it is read again with the next block.
        self._return_pending = data.endswith(b"\r")
        if self._return_pending:
            data = data[:-1]
        lines = data.split(b"\n") if b"\r" not in data else _split(data)
        if len(lines) == 1:
            self._keep(lines[0])
            return []
        if self._pieces:
            self._keep(lines[0])
            lines[0] = self._take()
        self._keep(lines.pop())
        if max(map(len, lines)) > LONGEST:
            lines = [line if len(line) <= LONGEST else self._cut(line, len(line)) for line in lines]
        return lines

    def finish(self) -> list[bytes]:
        """Return the last line if it has no end."""
        if self._return_pending:
            self._return_pending = False
            self._keep(b"\r")
        return [self._take()] if self._pieces else []

    def _keep(self, piece: bytes) -> None:
        """Add to the incomplete line; only the beginning of an endless line is kept."""
        if not piece:
            return
        if self._length + len(piece) <= LONGEST:
            self._pieces.append(piece)
        elif self._length <= LONGEST:
            self._pieces = [b"".join([*self._pieces, piece[: MOST_BYTES + 1]])[: MOST_BYTES + 1]]
        self._length += len(piece)

    def _take(self) -> bytes:
        line, length = b"".join(self._pieces), self._length
        self._pieces, self._length = [], 0
        return line if length <= LONGEST else self._cut(line, length)

    def _cut(self, line: bytes, length: int) -> bytes:
        end = MOST_BYTES
        while end > MOST_BYTES - 4 and line[end] & 0xC0 == 0x80:
            end -= 1  # do not split a character
        self.cut_lines += 1
        self.cut_bytes += length - end
        return line[:end] + f"… [{length - end:,} more bytes not kept]".encode()
