"""Locates flight records, finds them by a kernel's connection file, and removes old ones.

They are in the machine's memory if it has a file system for that (Linux's /dev/shm), otherwise in Jupyter's
runtime folder. A memory-mapped file on a disk can make its kernel wait for a file server that does not
answer. On some file systems it can even end the kernel by SIGBUS if the disk is full. A file in memory can do
neither.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from jupyter_mlgpu.record import decoding
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.errors import MlgpuError, RecordError
from jupyter_mlgpu.record.flight import flight_record
from jupyter_mlgpu.record.flight.exit_report import ExitReport
from jupyter_mlgpu.record.flight.flight_record import FlightRecord
from jupyter_mlgpu.record.incoming import opened, read_json
from jupyter_mlgpu.record.visible import visible_line

_MEMORY = Path("/dev/shm")
_BEGIN, _END = "jupyter_mlgpu-", ".account"
_NAME = re.compile(r"[\w.-]{1,100}", re.ASCII)
#: Most bytes of an exit report's file. It needs fewer: 20 lines of 300 characters.
_MOST = 64 * 1024
#: Seconds after which the flight record of a kernel that no longer runs is removed.
_OLD = 24 * 3600.0
#: The same if its process may run on another machine that shares the folder.
_VERY_OLD = 30 * 24 * 3600.0


def folder() -> Path:
    """Return the folder of this machine's flight records."""
    if os.path.ismount(_MEMORY) and os.access(_MEMORY, os.W_OK | os.X_OK):
        return _MEMORY
    from jupyter_core.paths import jupyter_runtime_dir

    return Path(jupyter_runtime_dir())


def name_for(connection_file: str) -> str | None:
    """Return the flight record's file name for a kernel's connection file, or None for an invalid name."""
    stem = Path(connection_file).name.removesuffix(".json")
    return f"{_BEGIN}{stem}{_END}" if _NAME.fullmatch(stem) else None


def is_name(text: object) -> bool:
    """Return True if `text` is a name that `name_for` returns."""
    return isinstance(text, str) and text == name_for(text.removeprefix(_BEGIN).removesuffix(_END))


def read(path: Path) -> FlightRecord | None:
    """Return the flight record in a file, or None if it is missing, unreadable or another user's."""
    try:
        with opened(path, most=flight_record.SIZE, what="a kernel's account", follow=False) as file:
            if os.fstat(file.fileno()).st_uid != os.getuid():
                return None
            return flight_record.decode(file.read())
    except (MlgpuError, OSError):
        return None


def read_all() -> list[FlightRecord]:
    """Return the flight records of this user's kernels on this machine, also of those that have ended."""
    found = (read(path) for path in sorted(folder().glob(f"{_BEGIN}*{_END}")))
    return [one for one in found if one is not None]


def exit_report_path(path: Path) -> Path:
    """Return the path of the exit report for the kernel of this flight record."""
    return path.with_suffix(".ending")


def read_exit_report(path: Path) -> ExitReport | None:
    """Return the exit report for the kernel of a flight record, or None if no server has written one."""
    try:
        if os.lstat(exit_report_path(path)).st_uid != os.getuid():
            return None
        return decoding.decode(
            ExitReport, read_json(exit_report_path(path), most=_MOST, what="a kernel's ending"), "the ending"
        )
    except (MlgpuError, OSError):
        return None


def write_exit_report(path: Path, exit_report: ExitReport) -> None:
    """Write the exit report of a kernel, which the next kernel reads.

    Raises RecordError if that is not possible.
    """
    target = exit_report_path(path)
    with suppress(OSError):
        target.unlink(missing_ok=True)
    try:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with open(descriptor, "wb") as file:
            file.write(decoding.to_bytes(exit_report))
    except OSError as error:
        raise RecordError(f"{visible_line(target)} cannot be written ({error.strerror or error}).") from error


def remove(path: Path) -> None:
    """Remove a flight record and its exit report."""
    for one in (path, exit_report_path(path)):
        with suppress(OSError):
            one.unlink(missing_ok=True)


def remove_old(where: Path, is_alive: Callable[[FlightRecord], bool | None]) -> None:
    """Remove old flight records. `is_alive` returns None if it cannot know if a kernel still runs."""
    now = real_time.time()
    with suppress(OSError):
        for path in where.glob(f"{_BEGIN}*{_END}"):
            with suppress(OSError):
                there = path.lstat()
                age = now - there.st_mtime
                if there.st_uid != os.getuid() or age < _OLD:
                    continue
                kernel = read(path)
                alive = is_alive(kernel) if kernel is not None else None
                if alive is False or (alive is None and age > _VERY_OLD):
                    remove(path)
