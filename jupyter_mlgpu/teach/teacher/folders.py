"""Creates the folders of the database and of the socket when the service starts.

A service that ends at its start takes JupyterHub with it, so a missing folder is created if its parent is
there. Otherwise the error says which command creates it.
"""

from __future__ import annotations

import os
import pwd
import shlex
from pathlib import Path

from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.visible import visible_line

#: Students reach the socket through its folder, but may not put another one there.
_ENTERED_BY_ALL = 0o755
_OWNERS_ALONE = 0o700


def make_folders(database: str, socket: Path | None) -> None:
    """Create the socket's folder and that of an SQLite database, each if it is missing.

    Raises UsageError if a folder cannot be created, or if the service may not write to it.
    """
    if socket is not None:
        _make(socket.absolute().parent, _ENTERED_BY_ALL, "--socket")
    file = _sqlite_file(database)
    if file is not None:
        _make(file.absolute().parent, _OWNERS_ALONE, "--database")


def _sqlite_file(database: str) -> Path | None:
    """Return the file that a URL names; None if it names none, or is no URL."""
    try:
        url = make_url(database)
    except (ArgumentError, ValueError):
        return None
    return Path(url.database) if url.get_backend_name() == "sqlite" and url.database else None


def _make(folder: Path, mode: int, option: str) -> None:
    user = _user()
    try:
        folder.mkdir(mode=_OWNERS_ALONE)
        folder.chmod(mode)  # the mode of mkdir is changed by the umask
    except FileExistsError:
        if not os.access(folder, os.W_OK | os.X_OK):
            raise UsageError(
                f"The service runs as {user}, who may not write to the folder {visible_line(folder)} of "
                f"{option}: give {option} a path in a folder of that user's own."
            ) from None
    except OSError as error:
        path = shlex.quote(visible_line(folder))
        raise UsageError(
            f"The folder {visible_line(folder)} of {option} is missing, and {user}, who runs the service, "
            f"cannot create it ({error.strerror or error}): run `sudo install --directory --mode {mode:04o} "
            f"--owner {user} {path}`, then start JupyterHub again."
        ) from error


def _user() -> str:
    """Return the name of the user who runs this process, or the number of one without a name."""
    number = os.geteuid()
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)
