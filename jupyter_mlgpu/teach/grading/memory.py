"""How much memory a sandbox holds, seen from outside: in its processes, in its folders, and shared."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

#: What backs memory that processes share and no folder has, as the kernel names it in a process's maps.
_SHARED = ("/dev/zero (deleted)", "/memfd:", "/SYSV")


def resident(processes: Iterable[psutil.Process]) -> int:
    """Bytes in the memory of these processes; what several share counts for each of them."""
    total = 0
    for one in processes:
        with suppress(psutil.Error):
            total += int(one.memory_info().rss) or _without_first_thread(one)
    return total


def proportional(processes: Iterable[psutil.Process]) -> int:
    """Bytes in the memory of these processes, where each that shares a page takes its part of it.

    This is exact for processes that were forked, and takes the kernel a millisecond for each.
    """
    total = 0
    for one in processes:
        with suppress(psutil.Error):
            told = one.memory_full_info()
            total += int(getattr(told, "pss", told.rss)) or _without_first_thread(one)
    return total


def _without_first_thread(process: psutil.Process) -> int:
    """Bytes in the memory of a process whose first thread has ended.

    Linux shows such a process as empty, although the other threads go on; each of these shows the memory.
    """
    with suppress(OSError, ValueError, IndexError):
        for thread in Path(f"/proc/{process.pid}/task").iterdir():
            pages = int((thread / "statm").read_text().split()[1])
            if pages:
                return pages * os.sysconf("SC_PAGE_SIZE")
    return 0


def in_folders(process: int | None, folders: Sequence[str]) -> int:
    """Bytes in those folders in memory that a process in the sandbox sees; none where it cannot be asked."""
    with suppress(OSError):
        told = [os.statvfs(f"/proc/{process}/root{folder}") for folder in folders]
        return sum((each.f_blocks - each.f_bfree) * each.f_frsize for each in told)
    return 0


def shared(processes: Iterable[psutil.Process]) -> int:
    """Bytes that processes may hold together, each part once, although none of them has touched it lately.

    It is counted in full: how much of it was ever written, the kernel does not tell.
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
    """The text of a process's maps, which one of its other threads has where the first has ended."""
    folder = Path(f"/proc/{process.pid}")
    found = (folder / "maps").read_text("utf-8", "replace")
    others = () if found else (folder / "task").iterdir()
    return found or max(((one / "maps").read_text("utf-8", "replace") for one in others), key=len, default="")
