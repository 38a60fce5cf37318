"""Memory of the machine and of its container, and the program names of processes.

psutil reads the machine's memory. In a container that is the whole host's, so the container's own limit is
read as well, from Linux's control groups (cgroup v2: memory.max and memory.current; v1: memory.limit_in_bytes
and memory.usage_in_bytes; the kernel's Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst).
"""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

#: The inode of the machine's own process namespace (PROC_PID_INIT_INO in Linux's include/linux/proc_ns.h).
_MACHINES_OWN = "pid:[4026531836]"


class Memory(Struct, frozen=True):
    """Bytes: `free` is available without swapping, `used` is the rest of `total`."""

    total: int
    used: int
    free: int


def machine() -> Memory:
    """Return the machine's memory. What the system keeps only as a cache counts as free."""
    import psutil

    memory = psutil.virtual_memory()
    return Memory(int(memory.total), int(memory.total - memory.available), int(memory.available))


def unified() -> bool:
    """Return True if the GPU shares the machine's memory: on every Mac with Apple's own chip."""
    return sys.platform == "darwin" and platform.machine() == "arm64"


class GroupLimit(NamedTuple):
    """The memory limit of a control group, in bytes; `used` is the file with the memory in use."""

    total: int
    used: Path

    def read(self) -> Memory | None:
        """Return the memory in use now, None if the group no longer exists."""
        used = _number(self.used)
        return None if used is None else Memory(self.total, used, max(0, self.total - used))


def container(total: int, root: Path = Path("/")) -> Memory | None:
    """Return the tightest memory limit on this process's control groups, with the memory in use.

    The system's file cache is part of `used`. Returns None if there is no limit below `total`, the machine's
    memory in bytes. `root` is the file system to read.
    """
    limit = tightest_limit(total, root)
    return None if limit is None else limit.read()


def tightest_limit(total: int, root: Path = Path("/")) -> GroupLimit | None:
    """Return the limit of `container`. To find it takes longer than to read the memory in use."""
    limits = [
        (limit, folder / used)
        for folder, most, used in groups(root)
        if (limit := _number(folder / most)) is not None and limit < total
    ]
    return GroupLimit(*min(limits)) if limits else None


def sees_the_machines_processes() -> bool:
    """Return True if process ids here are the machine's own; in most containers they are not."""
    try:
        return os.readlink("/proc/self/ns/pid") == _MACHINES_OWN
    except OSError:  # not Linux
        return True


def program(pid: int) -> str:
    """Return the short name of a process's program, never its command line or its user."""
    import psutil

    try:
        return str(psutil.Process(pid).name())
    except psutil.AccessDenied:
        return "another user's"
    except psutil.Error:
        return "not seen from here"


def groups(root: Path = Path("/"), pid: int | None = None) -> list[tuple[Path, str, str]]:
    """Return every folder that may limit a process (this one without `pid`), innermost first.

    Each comes with the names of its files for the limit and for the memory in use.
    """
    try:
        lines = (root / f"proc/{pid or 'self'}/cgroup").read_text().splitlines()
    except OSError:
        return []
    folders = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            top, names = root / "sys/fs/cgroup", ("memory.max", "memory.current")
        elif "memory" in controllers.split(","):
            top = root / "sys/fs/cgroup/memory"
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes")
        else:
            continue
        # A limit on a parent group holds for its children. Inside a container the path is often the host's,
        # and only the top exists.
        own = top / path.strip("/")
        folders += [(folder, *names) for folder in (own, *own.parents) if folder.is_relative_to(top)]
    return folders


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):  # no such group, or the text `max`
        return None
