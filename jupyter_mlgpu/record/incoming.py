"""Opens files from other people safely: only regular files, up to a maximum size, without waiting.

Reading a FIFO waits for its writer, a device may never end, and a link may lead to a file that does not
belong to its sender. Anything that is not a regular file is refused before it is read.
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
#: Most bytes of a submitted notebook. Submissions have a few MB, or 10 MB with many pictures. Reading one of
#: this size takes less than 300 MB of memory, whatever its content. The user's own notebooks may be larger.
MOST_OF_ANOTHERS = 20_000_000
MOST_OF_ONES_OWN = 100_000_000
#: Most lists and objects in a notebook. An empty one takes 2 bytes in a file, and 64 in memory.
MOST_PARTS = 500_000

_PIECE = 1024**2
# Without O_NONBLOCK, opening a FIFO that has replaced a file waits for its writer.
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def read_bytes(path: Path, *, most: int, what: str, follow: bool = True) -> bytes:
    """Return the content of a regular file of at most `most` bytes.

    `what` names it in errors ("a records file"). Raises UsageError, one sentence, if the file is missing,
    unreadable, too large or not a regular file, and with follow=False if it is a link.
    """
    with opened(path, most=most, what=what, follow=follow) as file:
        try:
            return file.read()
        except OSError as error:
            raise unreadable(path, what, error) from error


def read_json(path: Path, *, most: int, what: str) -> Any:
    """Return the decoded JSON of a file, as in `read_bytes`.

    The data may have any form: check it with `decoding`. Raises RecordError if the file is not JSON. Its text
    continues a sentence that begins with the file's name.
    """
    data = read_bytes(path, most=most, what=what)
    try:
        return json.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise RecordError("it holds no JSON") from error


def read_notebook(path: Path, *, most: int = MOST_OF_ANOTHERS, follow: bool = True) -> bytes:
    """Return the bytes of a notebook file. Raises UsageError, with the reason, if the notebook is refused."""
    data = read_bytes(path, most=most, what="a notebook", follow=follow)
    if data.count(b"[") + data.count(b"{") > MOST_PARTS:
        raise UsageError(
            f"{visible_line(path)} is not read, for it holds more than {MOST_PARTS:,} lists and objects; "
            "clear its largest outputs and save it again."
        )
    return data


@contextmanager
def opened(path: Path, *, most: int, what: str, follow: bool = True) -> Iterator[BinaryIO]:
    """Yield a regular file of at most `most` bytes that can be read and sought. See `read_bytes`.

    Nothing after byte `most` is ever read. If the file grows beyond it meanwhile, UsageError is raised.
    """
    try:
        # Checked before it is opened, because opening a device may already have an effect.
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
    """A file that refuses to read beyond byte `most`."""

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
    """Return an error to raise that explains why something cannot be read. The path `-` is standard input."""
    if isinstance(error, OSError) and error.errno == errno.ELOOP:
        why = "it is a link, or its links lead nowhere"
        return UsageError(
            f"{visible_line(path)} cannot be read as {what}, for {why}; give the name of a file."
        )
    why = (error.strerror if isinstance(error, OSError) else None) or str(error)
    name = "Standard input" if str(path) == "-" else visible_line(path)
    return UsageError(f"{name} cannot be read as {what} ({why}); check the path and try again.")
