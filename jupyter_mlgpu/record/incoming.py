"""Files that somebody else made, opened so that they can do no harm: regular, up to a size, never waiting.

A FIFO waits for its writer, a device may never end, and a link may lead to a file that is none of the
sender's; what is not a regular file is refused before anything is read from it.
"""

from __future__ import annotations

import errno
import io
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from jupyter_mlgpu.record.errors import RecordError, UsageError
from jupyter_mlgpu.record.visible import visible_line

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe (FIFO)",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFLNK: "a link",
}
#: A notebook that was handed in has a few MB, with many pictures 10. One of this size takes less than 300 MB
#: of memory, whatever is in it; the notebooks of one's own may be larger.
MOST_OF_ANOTHERS = 20_000_000
MOST_OF_ONES_OWN = 100_000_000
#: Lists and objects in a notebook. An empty one is 2 bytes of a file, and 64 in memory.
MOST_PARTS = 500_000

_PIECE = 1024**2
# Without O_NONBLOCK, opening a FIFO that has taken the place of a file waits for its writer.
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def read_bytes(path: Path, *, most: int, what: str, follow: bool = True) -> bytes:
    """All of a regular file of at most `most` bytes; messages call it `what` ("a records file").

    Raises UsageError, in one sentence, for what is missing, unreadable, too large or no regular file;
    with follow=False for a link, too.
    """
    with opened(path, most=most, what=what, follow=follow) as file:
        try:
            return file.read()
        except OSError as error:
            raise unreadable(path, what, error) from error


def read_json(path: Path, *, most: int, what: str) -> Any:
    """The JSON in a file, which may still be anything: see `read_bytes`, and `decoding` for what to do next.

    Raises RecordError for what is no JSON; the sentence goes on behind the file's name.
    """
    data = read_bytes(path, most=most, what=what)
    try:
        return json.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise RecordError("it holds no JSON") from error


def read_notebook(path: Path, *, most: int = MOST_OF_ANOTHERS, follow: bool = True) -> bytes:
    """The bytes of a notebook file. Raises UsageError, saying why, for one that is not to be read."""
    data = read_bytes(path, most=most, what="a notebook", follow=follow)
    if data.count(b"[") + data.count(b"{") > MOST_PARTS:
        raise UsageError(
            f"{visible_line(path)} is not read, for it holds more than {MOST_PARTS:,} lists and objects; "
            "clear its largest outputs and save it again."
        )
    return data


@contextmanager
def opened(path: Path, *, most: int, what: str, follow: bool = True) -> Iterator[BinaryIO]:
    """A regular file of at most `most` bytes to read from, and to seek in; see `read_bytes`.

    Nothing behind byte `most` is ever read, also where the file grows meanwhile: that raises UsageError.
    """
    try:
        # Looked at before it is opened, for to open a device may already do something.
        _refuse(path, what, os.stat(path, follow_symlinks=follow))
        handle = os.open(path, _FLAGS | (0 if follow else os.O_NOFOLLOW))
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL in it
        raise unreadable(path, what, error) from error
    with _Bounded(handle, path=path, most=most, what=what) as raw:
        there = os.fstat(handle)
        _refuse(path, what, there)
        if there.st_size > most:
            raise _too_large(path, what, most)
        with io.BufferedReader(raw) as file:
            yield file


class _Bounded(io.FileIO):
    """A file of which nothing behind byte `most` is read."""

    def __init__(self, handle: int, *, path: Path, most: int, what: str) -> None:
        super().__init__(handle, "rb")
        self._path, self._most, self._what = path, most, what

    def readinto(self, buffer: Any) -> int:
        count = super().readinto(buffer)
        self._check()
        return count or 0

    def readall(self) -> bytes:
        pieces = []
        while piece := self.read(_PIECE):
            pieces.append(piece)
            self._check()
        return b"".join(pieces)

    def _check(self) -> None:
        if self.tell() > self._most:
            raise _too_large(self._path, self._what, self._most)


def _refuse(path: Path, what: str, there: os.stat_result) -> None:
    if not stat.S_ISREG(there.st_mode):
        kind = _KINDS.get(stat.S_IFMT(there.st_mode), "no regular file")
        raise UsageError(
            f"{visible_line(path)} cannot be read as {what}, for it is {kind}; give the name of a file."
        )


def _too_large(path: Path, what: str, most: int) -> UsageError:
    size = f"{most / 1e6:g} MB" if most >= 1e6 else f"{most:,} bytes"
    return UsageError(
        f"{visible_line(path)} cannot be read as {what}, for it has more than {size}; give a smaller file."
    )


def unreadable(path: Path, what: str, error: OSError | ValueError) -> UsageError:
    """Why something cannot be read, as an error to raise; `-` is standard input."""
    if isinstance(error, OSError) and error.errno == errno.ELOOP:
        why = "it is a link, or its links lead nowhere"
        return UsageError(
            f"{visible_line(path)} cannot be read as {what}, for {why}; give the name of a file."
        )
    why = (error.strerror if isinstance(error, OSError) else None) or str(error)
    name = "Standard input" if str(path) == "-" else visible_line(path)
    return UsageError(f"{name} cannot be read as {what} ({why}); check the path and try again.")
