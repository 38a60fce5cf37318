"""Records in files: JSON Lines, one record a line, UTF-8."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from jupyter_mlgpu.record import cellnumbers, destinations
from jupyter_mlgpu.record.errors import RecordError, UsageError
from jupyter_mlgpu.record.incoming import opened
from jupyter_mlgpu.record.lines import FILE, LINE, from_line, lines, to_line
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import Sentence, say
from jupyter_mlgpu.record.visible import visible_line

_BLOCK = 1024**2


def save_records(path: str | os.PathLike[str], records: Iterable[Record]) -> int:
    """Write records to a file in one step: an existing file stays whole until the new one is complete.

    Returns the number of records written. Each record that could not be written gives a warning with the
    reason. Raises RecordError, with the path, if the file cannot be written.
    """
    count, problems = save_valid_records(path, records)
    for problem in problems:
        warnings.warn(problem, stacklevel=2)
    return count


def save_valid_records(path: str | os.PathLike[str], records: Iterable[Record]) -> tuple[int, list[Sentence]]:
    """Write records like `save_records`, but return a sentence for each problem instead of warning."""
    made, problems = [], []
    for record in records:
        try:
            made.append(to_line(record))
        except RecordError as error:
            problems.append(
                say(
                    "The record of cell {number} was not saved: {error}.",
                    number=cellnumbers.name(record),
                    error=error,
                )
            )
    data = b"".join(made)
    if len(data) > FILE:
        problems.append(
            say(
                "The file is {size} MB, but files over {most} MB are never loaded: split it first.",
                size=f"{len(data) / 1e6:.0f}",
                most=f"{FILE / 1e6:g}",
            )
        )
    write_atomically(Path(path).expanduser(), data)
    return len(made), problems


def write_atomically(path: Path, data: bytes, *, follow: bool = True, private: bool = False) -> None:
    """Write `data` to a file in one step. See `writing`."""
    with writing(path, follow=follow, private=private) as file:
        file.write(data)


@contextmanager
def writing(path: Path, *, follow: bool = True, private: bool = False) -> Iterator[BinaryIO]:
    """Yield a file that replaces `path` in one step when the block ends without an error.

    An existing file keeps its permissions, and a link its target. Missing folders are created. Data for a
    FIFO with a reader, or for a device such as /dev/stdout, is written at the end. Raises RecordError, with
    the path, if it cannot be written. The old file is then unchanged.

    Use follow=False for a name that no user typed, such as `class_report.html` in a folder that students may
    write to. A link or FIFO of that name is then replaced itself. A `private` file is readable by its owner
    only.
    """
    try:
        target = destinations.resolve(path) if follow else destinations.resolve_folder(path)
        through = destinations.open_through(path, target) if follow else None
        with _replacing(target, private) if through is None else _through(through) as file:
            yield file
    except OSError as error:
        raise cannot_write(path, error) from error


@contextmanager
def _replacing(target: Path, private: bool) -> Iterator[BinaryIO]:
    temporary = None
    done = False
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o600 if private else _permissions(target))
        os.replace(temporary, target)
        done = True
    finally:
        if temporary is not None and not done:
            Path(temporary).unlink(missing_ok=True)


@contextmanager
def _through(handle: int) -> Iterator[BinaryIO]:
    """Yield a temporary file, and copy it to the descriptor when the block ends without an error."""
    try:
        with tempfile.TemporaryFile() as file:
            yield file
            file.seek(0)
            while block := file.read(_BLOCK):
                destinations.write_through(handle, block)
    finally:
        os.close(handle)


class Journal:
    """A records file that grows by one line per record. A kernel that dies loses no finished record."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def append(self, record: Record) -> None:
        """Append a record. A line that cannot be written whole is removed again. Raises RecordError.

        If a kernel died while it wrote, its incomplete line stays a line of its own. Nothing can be removed
        from a FIFO or a device, and a cell never waits for its reader.
        """
        line = to_line(record)
        try:
            handle = destinations.open_to_append(self.path)
            try:
                before = os.fstat(handle)
                if _is_torn(self.path, before):
                    line = b"\n" + line
                if os.write(handle, line) != len(line):
                    if not stat.S_ISREG(before.st_mode):
                        raise OSError(say("its reader is too slow"))
                    os.ftruncate(handle, before.st_size)
                    raise OSError(say("the disk is full"))
            finally:
                os.close(handle)
        except OSError as error:
            raise cannot_write(self.path, error) from error


def _is_torn(path: Path, there: os.stat_result) -> bool:
    """Return True if a journal's last line has no end, or cannot be read.

    The extra empty line does no harm.
    """
    if not stat.S_ISREG(there.st_mode) or there.st_size == 0:
        return False
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return True
    try:
        return os.pread(handle, 1, there.st_size - 1) != b"\n"
    finally:
        os.close(handle)


def load_records(path: str | os.PathLike[str]) -> tuple[list[Record], list[Sentence]]:
    """Return the records of a file, marked as loaded, and one sentence for each unreadable line.

    A journal may hold a record twice, the second time with messages that arrived after its cell. The last one
    counts and takes the place of the first.

    A broken line, one of more than `LINE` bytes, or one of a newer schema costs only itself. Raises
    RecordError if the file itself cannot be read, is not a regular file, or is larger than `FILE` bytes.
    """
    source = Path(path).expanduser()
    records: dict[tuple[str, int], Record] = {}
    problems: list[Sentence] = []
    try:
        with opened(source, most=FILE, what="a records file") as file:
            for number, line in enumerate(lines(file), start=1):
                record = _read(
                    line,
                    say("Line {number} of {file}", number=str(number), file=visible_line(source.name)),
                    problems,
                )
                if record is not None:
                    record = record.with_origin("loaded") if record.origin == "live" else record
                    records[record.key] = record
    except UsageError as error:
        raise RecordError(str(error)) from error
    except OSError as error:  # while it is read
        raise RecordError(
            f"{visible_line(source)} cannot be read ({error.strerror or error}); "
            "check the path and try again."
        ) from error
    return list(records.values()), problems


def _read(line: bytes | None, named: Sentence, problems: list[Sentence]) -> Record | None:
    """Return the record in a line, or None.

    If a line that is not empty has no readable record, add to `problems`.
    """
    if line is None:
        problems.append(
            say("{line} is larger than {most} MB and was left out.", line=named, most=f"{LINE / 1e6:g}")
        )
    elif line.strip():
        try:
            return from_line(line)
        except (ValueError, RecursionError) as error:
            if isinstance(error, UnicodeDecodeError):
                problems.append(say("{line} is not UTF-8 text and was left out.", line=named))
            else:
                problems.append(say("{line} is not JSON and was left out.", line=named))
        except RecordError as error:
            problems.append(say("{line} was left out: {error}.", line=named, error=error))
    return None


def keep_last_states(path: Path) -> None:
    """Reduce a journal to one line per record: its last state, in its first place.

    Unreadable lines stay. Raises RecordError. The journal is then unchanged.
    """
    kept: dict[tuple[str, int] | int, bytes] = {}
    twice = False
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file):
                key: tuple[str, int] | int = number
                with suppress(ValueError, RecursionError, RecordError):
                    key = from_line(line).key
                twice = twice or key in kept
                kept[key] = line
    except OSError as error:
        raise cannot_write(path, error) from error
    if twice:
        write_atomically(path, b"".join(kept.values()))


def cannot_write(path: Path, error: OSError) -> RecordError:
    """Return an error to raise that explains why a file cannot be written."""
    if error.errno in (errno.ENXIO, errno.EISDIR):
        try:
            destinations.refuse(path, stat.S_IFMT(os.stat(path).st_mode))
        except RecordError as refused:
            return refused
        return RecordError(
            say("{path} cannot be written because nothing reads from it; start its reader first.", path=path)
        )
    return RecordError(
        say(
            "{path} cannot be written ({error}); choose a folder with free space that you can write to.",
            path=path,
            error=error.strerror or error,
        )
    )


def _permissions(target: Path) -> int:
    """Return the permissions of the existing file, or those of a new file, which mkstemp does not give.

    The permissions of a file planted by another user are not taken over: they would let that user write to
    ours.
    """
    with suppress(FileNotFoundError):
        there = os.lstat(target)
        if stat.S_ISREG(there.st_mode) and not destinations.is_strangers(there, os.stat(target.parent)):
            return stat.S_IMODE(there.st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
