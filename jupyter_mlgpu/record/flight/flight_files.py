"""Where accounts lie, how they are found again by the kernel's connection file, and when they go.

In the machine's memory where it has a file system for that (/dev/shm of Linux), else in Jupyter's runtime
folder. A page of a file that lies on a disk can make its kernel wait, for a file server that does not answer,
and on some file systems even end it, by SIGBUS, where the disk is full; one in memory does neither.
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
#: A file of an ending has less: 20 lines of 300 characters.
_MOST = 64 * 1024
#: Seconds after which the account of a kernel that is gone is removed.
_OLD = 24 * 3600.0
#: The same where its process may live on another machine that shares the folder.
_VERY_OLD = 30 * 24 * 3600.0


def folder() -> Path:
    """Where this machine's accounts lie."""
    if os.path.ismount(_MEMORY) and os.access(_MEMORY, os.W_OK | os.X_OK):
        return _MEMORY
    from jupyter_core.paths import jupyter_runtime_dir

    return Path(jupyter_runtime_dir())


def name_for(connection_file: str) -> str | None:
    """The account's file name, of the name of the kernel's connection file; None for a name that is none."""
    stem = Path(connection_file).name.removesuffix(".json")
    return f"{_BEGIN}{stem}{_END}" if _NAME.fullmatch(stem) else None


def is_name(text: object) -> bool:
    """Whether that is a name that `name_for` gives."""
    return isinstance(text, str) and text == name_for(text.removeprefix(_BEGIN).removesuffix(_END))


def read(path: Path) -> FlightRecord | None:
    """The account in a file; None where there is none of ours, or it cannot be read."""
    try:
        with opened(path, most=flight_record.SIZE, what="a kernel's account", follow=False) as file:
            if os.fstat(file.fileno()).st_uid != os.getuid():
                return None
            return flight_record.decode(file.read())
    except (MlgpuError, OSError):
        return None


def exit_report_path(path: Path) -> Path:
    """Where it is written down how the kernel of this account ended."""
    return path.with_suffix(".ending")


def read_exit_report(path: Path) -> ExitReport | None:
    """How the kernel of an account ended, where a server has written that down."""
    try:
        if os.lstat(exit_report_path(path)).st_uid != os.getuid():
            return None
        return decoding.decode(
            ExitReport, read_json(exit_report_path(path), most=_MOST, what="a kernel's ending"), "the ending"
        )
    except (MlgpuError, OSError):
        return None


def write_exit_report(path: Path, exit_report: ExitReport) -> None:
    """Write down how the kernel of an account ended, for the kernel that comes after it.

    Raises RecordError where that is not possible.
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
    """Take an account away, with how its kernel ended."""
    for one in (path, exit_report_path(path)):
        with suppress(OSError):
            one.unlink(missing_ok=True)


def remove_old(where: Path, is_alive: Callable[[FlightRecord], bool | None]) -> None:
    """Take away accounts that nobody has asked for; `is_alive` answers None where it cannot know."""
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
