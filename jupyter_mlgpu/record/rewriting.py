"""Replaces the content of a file and keeps its hard links.

`files.write_atomically` replaces the file itself, so its other names would keep the old content. A file with
more than one name is therefore written in place, and a reader may see it half written. Nothing is lost: until
the write has succeeded, a temporary file in the same folder holds the new content and memory holds the old,
which is restored if writing fails. If restoring fails as well, or the process dies, the temporary file stays.
"""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from jupyter_mlgpu.record import destinations
from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.files import cannot_write, write_atomically
from jupyter_mlgpu.record.sentence import say


def rewrite(path: Path, data: bytes) -> None:
    """Replace the content of an existing file. A link keeps its target, and a file all its names.

    Raises RecordError, with the path, if the file cannot be written. The file is then unchanged, or the
    sentence names the temporary file with the new content.
    """
    try:
        target = destinations.resolve(path)
        if os.stat(target).st_nlink > 1:
            _write_in_place(path, target, data)
            return
    except OSError as error:
        raise cannot_write(path, error) from error
    write_atomically(path, data)


def _write_in_place(path: Path, target: Path, data: bytes) -> None:
    handle = os.open(target, os.O_RDWR | os.O_NONBLOCK | os.O_NOCTTY | destinations.no_link(target))
    try:
        there = os.fstat(handle)
        destinations.refuse(path, stat.S_IFMT(there.st_mode))
        destinations.refuse_strangers(path, target, there)
        old = _read(handle, there.st_size)
        temporary = _temporary_copy(target, data)
        is_whole = False
        try:
            _fill(handle, data)
            is_whole = True
        except OSError as error:
            _put_back(path, handle, old, error, temporary)
            is_whole = True
            raise
        finally:
            if is_whole:  # else only the temporary file may have all of the content
                temporary.unlink(missing_ok=True)
    finally:
        os.close(handle)


def _put_back(path: Path, handle: int, old: bytes, why: OSError, temporary: Path) -> None:
    """Restore the old content. Raises RecordError, which names the file with the new content."""
    try:
        _fill(handle, old)
    except OSError as error:
        raise RecordError(
            say(
                "{path} could not be written whole ({error}); copy its new content from {kept}.",
                path=path,
                error=why.strerror or why,
                kept=temporary,
            )
        ) from error


def _temporary_copy(target: Path, data: bytes) -> Path:
    """Write the data to a temporary file in the same folder, flush it to disk and return its path."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return Path(name)


def _read(handle: int, size: int) -> bytes:
    pieces = []
    at = 0
    while at < size and (piece := os.pread(handle, size - at, at)):
        pieces.append(piece)
        at += len(piece)
    return b"".join(pieces)


def _fill(handle: int, data: bytes) -> None:
    """Make `data` the whole content of a file on disk.

    The file is shortened only after all data is written.
    """
    at = 0
    while at < len(data):
        at += os.pwrite(handle, data[at:], at)
    os.ftruncate(handle, len(data))
    os.fsync(handle)
