"""What stands where we are to write: a file, a FIFO or a device to write through; or what is refused.

Links are followed, but for one that somebody else may have planted: the rule is `fs.protected_symlinks` of
Linux, here for each link on the way, on every system, and in every folder where everybody may write. Nor is
anything added to a file, or written through a FIFO, that somebody else has put into such a folder
(`fs.protected_regular`, `fs.protected_fifos`). Of a file whose name is ours, such as `class_report.html`, the
name itself is replaced: see `itself`.
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
#: Seconds for which somebody who reads may take nothing.
PATIENCE = 10.0
#: A FIFO that nobody reads from is then refused; to open it plainly would wait for a reader.
_THROUGH = os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK | os.O_NOCTTY
_REFUSED = {
    stat.S_IFDIR: say("a folder"),
    stat.S_IFSOCK: say("a socket"),
    stat.S_IFBLK: say("a block device"),
}


def followed(path: Path) -> Path:
    """Where a path leads, with no link left but one of /proc to an open file, such as /dev/stdout leads to.

    Raises RecordError for a link that somebody else may have planted, and OSError.
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


def itself(path: Path) -> Path:
    """The same for a name that is replaced itself, also where it is a link: only its folder is followed."""
    path = path.absolute()
    return followed(path.parent) / path.name


def is_open_file(path: Path) -> bool:
    """Whether a path is Linux's name for a file that a process has open, which may have no other name."""
    return path.parent.name == "fd" and path.parts[1:2] == ("proc",)


def open_through(path: Path, target: Path) -> int | None:
    """A descriptor to write through to a FIFO or a device; None where a regular file is, or nothing.

    `target` is what `path` leads to. Raises RecordError for what cannot be written so, and OSError.
    """
    try:
        kind = stat.S_IFMT(os.stat(target).st_mode)
    except FileNotFoundError:
        return None
    if kind == stat.S_IFREG and not is_open_file(target):
        return None
    refuse(path, kind)
    if target.parent == Path(f"/proc/{os.getpid()}/fd"):
        # Our own: it goes on where it stands, and what is written to it later comes behind.
        return os.dup(int(target.name))
    handle = os.open(target, _THROUGH | no_link(target))
    try:
        # Looked at again, for what stands there may have been changed meanwhile.
        there = os.fstat(handle)
        if stat.S_IFMT(there.st_mode) != kind:
            raise OSError(say("it was changed in the meantime"))
        refuse_strangers(path, target, there)
    except BaseException:
        os.close(handle)
        raise
    return handle


def write_through(handle: int, data: bytes) -> None:
    """Write all of it, as fast as it is taken; raises OSError where nothing is taken for PATIENCE seconds."""
    poll = select.poll()
    poll.register(handle, select.POLLOUT)
    rest = memoryview(data)
    while rest:
        if not poll.poll(1000 * PATIENCE):
            raise TimeoutError(
                errno.ETIMEDOUT, say("nothing has read from it for {seconds} s", seconds=f"{PATIENCE:g}")
            )
        try:
            # A pipe that has room has it for so much: this does not wait, with O_NONBLOCK or without.
            rest = rest[os.write(handle, rest[: select.PIPE_BUF]) :]
        except BlockingIOError:
            continue


def open_to_append(path: Path) -> int:
    """A descriptor to append to a file, made where nothing is; never waits. Raises RecordError, OSError."""
    target = followed(path)
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
    """Raise RecordError where a file of this kind cannot be written like a file."""
    what = _REFUSED.get(kind)
    if what is not None:
        raise RecordError(
            say("{path} cannot be written because it is {what}; choose a file name.", path=path, what=what)
        )


def no_link(target: Path) -> int:
    """The flag to open what no link may stand for any more."""
    return 0 if is_open_file(target) else os.O_NOFOLLOW


def _link(path: Path) -> os.stat_result | None:
    """The link that stands there, if there is one."""
    try:
        there = os.lstat(path)
    except OSError:  # whoever opens it says why
        return None
    return there if stat.S_ISLNK(there.st_mode) else None


def is_strangers(there: os.stat_result, folder: os.stat_result) -> bool:
    """Whether somebody else has put this into a folder where everybody may write; its owner is trusted."""
    return bool(folder.st_mode & stat.S_IWOTH) and there.st_uid not in (os.geteuid(), folder.st_uid)


def refuse_strangers(path: Path, target: Path, there: os.stat_result) -> None:
    """Raise RecordError for another user's file or FIFO that somebody may have laid out for us."""
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
