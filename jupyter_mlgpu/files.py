"""Records in files: JSON Lines, one record a line, UTF-8."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from jupyter_mlgpu.errors import RecordError
from jupyter_mlgpu.record import Record


def save_records(path: str | os.PathLike[str], records: Iterable[Record]) -> int:
    """Write records to a file, in one step: a file already there stays whole until the new one is.

    Returns how many were written; raises RecordError, naming the path, where it cannot be written.
    """
    target = Path(path).expanduser()
    lines = [_line(record) for record in records]
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise _cannot_write(target, error) from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes files for the owner alone; a records file is as readable as any other new file.
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        raise _cannot_write(target, error) from error
    return len(lines)


class Journal:
    """A records file that grows by one line a record, so that a kernel that dies loses nothing."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def append(self, record: Record) -> None:
        """Add a record; a line that cannot be written whole is taken back. Raises RecordError."""
        line = _line(record)
        try:
            handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
            try:
                before = os.fstat(handle).st_size
                if os.write(handle, line) != len(line):
                    os.ftruncate(handle, before)
                    raise OSError("the disk is full")
            finally:
                os.close(handle)
        except OSError as error:
            raise _cannot_write(self.path, error) from error


def load_records(path: str | os.PathLike[str]) -> tuple[list[Record], list[str]]:
    """The records of a file, marked as loaded, and one sentence for each line that is not readable.

    A broken line, or one of a newer schema, costs only itself. Raises RecordError where the file itself
    cannot be read.
    """
    source = Path(path).expanduser()
    records: list[Record] = []
    problems: list[str] = []
    try:
        with source.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.strip():
                    continue
                try:
                    record = Record.from_json(json.loads(line))
                    records.append(record.with_origin("loaded") if record.origin == "live" else record)
                except (ValueError, RecursionError) as error:
                    what = "is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else "is not JSON"
                    problems.append(f"Line {number} of {source.name} {what}; it was left out.")
                except RecordError as error:
                    problems.append(f"Line {number} of {source.name} was left out: {error}.")
    except OSError as error:
        raise RecordError(
            f"{source} cannot be read ({error.strerror or error}); check the path and try again."
        ) from error
    return records, problems


def _line(record: Record) -> bytes:
    return json.dumps(record.to_json(), ensure_ascii=False, allow_nan=False).encode() + b"\n"


def _cannot_write(path: Path, error: OSError) -> RecordError:
    return RecordError(
        f"{path} cannot be written ({error.strerror or error}); "
        "choose a folder you may write to, with room in it."
    )


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
