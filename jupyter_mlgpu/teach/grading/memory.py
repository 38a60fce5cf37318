"""Memory in use by a sandbox, measured from outside: in its processes, its folders, and shared."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

#: Names in a process's maps of shared memory that belongs to no folder.
_SHARED = ("/dev/zero (deleted)", "/memfd:", "/SYSV")


def resident(processes: Iterable[psutil.Process]) -> int:
    """Return the resident bytes of these processes; shared pages count for each process."""
    total = 0
    for one in processes:
        with suppress(psutil.Error):
            total += int(one.memory_info().rss) or _without_first_thread(one)
    return total


def proportional(processes: Iterable[psutil.Process]) -> int:
    """Return the resident bytes of these processes, with each shared page divided among them.

    This is exact for forked processes, and takes the kernel a millisecond for each.
    """
    total = 0
    for one in processes:
        with suppress(psutil.Error):
            info = one.memory_full_info()
            total += int(getattr(info, "pss", info.rss)) or _without_first_thread(one)
    return total


def _without_first_thread(process: psutil.Process) -> int:
    """Return the resident bytes of a process whose main thread has ended.

    Linux reports such a process as empty although other threads run; each of these threads reports the
    memory.
    """
    with suppress(OSError, ValueError, IndexError):
        for thread in Path(f"/proc/{process.pid}/task").iterdir():
            pages = int((thread / "statm").read_text().split()[1])
            if pages:
                return pages * os.sysconf("SC_PAGE_SIZE")
    return 0


def in_folders(process: int | None, folders: Sequence[str]) -> int:
    """Return the bytes in folders in memory, as seen by a process in the sandbox; 0 if unavailable."""
    with suppress(OSError):
        statistics = [os.statvfs(f"/proc/{process}/root{folder}") for folder in folders]
        return sum((each.f_blocks - each.f_bfree) * each.f_frsize for each in statistics)
    return 0


def shared(processes: Iterable[psutil.Process]) -> int:
    """Return the bytes that processes share, each mapping once, even if they are not resident.

    Mappings count in full, because the kernel does not report how much of them was written.
    """
    largest: dict[str, int] = {}
    for one in processes:
        with suppress(OSError):
            for line in _maps(one).splitlines():
                # addresses, rights, offset, device, inode, name
                words = line.split(maxsplit=5)
                if len(words) == 6 and words[1].endswith("s") and words[5].startswith(_SHARED):
                    begin, end = (int(word, 16) for word in words[0].split("-"))
                    part = f"{words[3]} {words[4]}"
                    largest[part] = max(largest.get(part, 0), int(words[2], 16) + end - begin)
    return sum(largest.values())


def _maps(process: psutil.Process) -> str:
    """Return the text of a process's maps, from another thread if the main thread has ended."""
    folder = Path(f"/proc/{process.pid}")
    found = (folder / "maps").read_text("utf-8", "replace")
    others = () if found else (folder / "task").iterdir()
    return found or max(((one / "maps").read_text("utf-8", "replace") for one in others), key=len, default="")
