"""Opens a path for writing: a regular file, a FIFO or a device. Refuses what cannot be written safely.

Links are followed, except those that another user may have planted. The rule is Linux's
`fs.protected_symlinks`, applied here on every system, to each link on the way, in every folder that everybody
may write to. Nor is anything appended to a file, or written through a FIFO, that another user has put into
such a folder (`fs.protected_regular`, `fs.protected_fifos`). If the package chose the file's name, such as
`class_report.html`, the name itself is replaced: see `itself`.
"""

from __future__ import annotations

import errno
import os
import select
import stat
from pathlib import Path

from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.sentence import say

_MOST_LINKS = 40
#: Seconds to wait for a reader that takes nothing.
PATIENCE = 10.0
#: With O_NONBLOCK, opening a FIFO without a reader fails. Otherwise it would wait for a reader.
_THROUGH = os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK | os.O_NOCTTY
_REFUSED = {
    stat.S_IFDIR: say("a folder"),
    stat.S_IFSOCK: say("a socket"),
    stat.S_IFBLK: say("a block device"),
}


def resolve(path: Path) -> Path:
    """Return the path with all links resolved, except a /proc link to an open file.

    The latter is what /dev/stdout leads to.

    Raises RecordError for a link that another user may have planted, and OSError.
    """
    path = path.absolute()
    place, rest = Path(path.anchor), list(reversed(path.parts[1:]))
    links = 0
    while rest:
        name = rest.pop()
        here = place.parent if name == ".." else place / name
        link = _link(here)
        if link is None or is_open_file(here):
            place = here
            continue
        links += 1
        if links > _MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if is_strangers(link, os.stat(place)):
            raise RecordError(
                say(
                    "{path} was not written: {here} is another user's link in a folder that "
                    "everyone can write to; choose another location.",
                    path=path,
                    here=here,
                )
            )
        leads = Path(os.readlink(here))
        place = Path(leads.anchor) if leads.is_absolute() else place
        rest += reversed(leads.parts[1:] if leads.is_absolute() else leads.parts)
    return place


def resolve_folder(path: Path) -> Path:
    """Return the path with only its folder resolved.

    Use it if the name itself is replaced, even if it is a link.
    """
    path = path.absolute()
    return resolve(path.parent) / path.name


def is_open_file(path: Path) -> bool:
    """Return True if a path is Linux's name for a process's open file, which may have no other name."""
    return path.parent.name == "fd" and path.parts[1:2] == ("proc",)


def open_through(path: Path, target: Path) -> int | None:
    """Return a descriptor to write to a FIFO or a device, or None for a regular file or a missing one.

    `target` is the path that `path` resolves to. Raises RecordError for kinds of files that cannot be
    written, and OSError.
    """
    try:
        kind = stat.S_IFMT(os.stat(target).st_mode)
    except FileNotFoundError:
        return None
    if kind == stat.S_IFREG and not is_open_file(target):
        return None
    refuse(path, kind)
    if target.parent == Path(f"/proc/{os.getpid()}/fd"):
        # One of this process's descriptors: a duplicate shares its offset, so later writes come after these.
        return os.dup(int(target.name))
    handle = os.open(target, _THROUGH | no_link(target))
    try:
        # Checked again, because the file may have been replaced in the meantime.
        there = os.fstat(handle)
        if stat.S_IFMT(there.st_mode) != kind:
            raise OSError(say("it was changed in the meantime"))
        refuse_strangers(path, target, there)
    except BaseException:
        os.close(handle)
        raise
    return handle


def write_through(handle: int, data: bytes) -> None:
    """Write all of `data` as fast as it is read. Raises OSError if nothing is read for PATIENCE seconds."""
    poll = select.poll()
    poll.register(handle, select.POLLOUT)
    rest = memoryview(data)
    while rest:
        if not poll.poll(1000 * PATIENCE):
            raise TimeoutError(
                errno.ETIMEDOUT, say("nothing has read from it for {seconds} s", seconds=f"{PATIENCE:g}")
            )
        try:
            # A pipe that poll reports as writable has room for PIPE_BUF bytes: this write never blocks.
            rest = rest[os.write(handle, rest[: select.PIPE_BUF]) :]
        except BlockingIOError:
            continue


def open_to_append(path: Path) -> int:
    """Return a descriptor to append to a file, which is created if it is missing.

    Never waits for a reader. Raises RecordError and OSError.
    """
    target = resolve(path)
    handle = os.open(target, _THROUGH | os.O_CREAT | no_link(target), 0o666)
    try:
        there = os.fstat(handle)
        refuse(path, stat.S_IFMT(there.st_mode))
        refuse_strangers(path, target, there)
    except BaseException:
        os.close(handle)
        raise
    return handle


def refuse(path: Path, kind: int) -> None:
    """Raise RecordError if a file of this kind cannot be written like a regular file."""
    what = _REFUSED.get(kind)
    if what is not None:
        raise RecordError(
            say("{path} cannot be written because it is {what}; choose a file name.", path=path, what=what)
        )


def no_link(target: Path) -> int:
    """Return the flag that makes opening the resolved path fail if it has become a link."""
    return 0 if is_open_file(target) else os.O_NOFOLLOW


def _link(path: Path) -> os.stat_result | None:
    """Return the status of the link at this path, or None if there is no link."""
    try:
        there = os.lstat(path)
    except OSError:  # opening the path reports this error
        return None
    return there if stat.S_ISLNK(there.st_mode) else None


def is_strangers(there: os.stat_result, folder: os.stat_result) -> bool:
    """Return True if another user put this file into a folder that everybody may write to.

    The folder's owner is trusted.
    """
    return bool(folder.st_mode & stat.S_IWOTH) and there.st_uid not in (os.geteuid(), folder.st_uid)


def refuse_strangers(path: Path, target: Path, there: os.stat_result) -> None:
    """Raise RecordError for another user's file or FIFO in a folder that everybody may write to."""
    if is_open_file(target) or stat.S_ISCHR(there.st_mode):
        return
    if is_strangers(there, os.stat(target.parent)):
        raise RecordError(
            say(
                "{path} was not written: it belongs to another user, in a folder that "
                "everyone can write to; choose another location.",
                path=path,
            )
        )
