"""Reads from the kernel whether a sandbox worker is waiting for its next question.

An answer alone does not prove that the work is done: a thread of the student's runs in the same process and
can write an answer, too. It cannot change what the kernel reports about the worker's main thread: the system
call in which that thread waits, and how often it has begun to wait. So an answer counts only when the main
thread has left its wait and waits for the next question again.
"""

from __future__ import annotations

import os
from pathlib import Path


def waits_of(process: int, channel: int) -> int | None:
    """Return how often a process's main thread has waited, or None if it waits for no question.

    `channel` is the inode of the socket from which it reads questions. None also means that the kernel does
    not allow reading the state.
    """
    folder = Path(f"/proc/{process}/task/{process}")
    try:
        # "running", or the number of the call and its arguments; the first one of `read` is a descriptor.
        call = (folder / "syscall").read_text("ascii").split()
        if len(call) < 2 or os.stat(f"/proc/{process}/fd/{int(call[1], 16)}").st_ino != channel:
            return None
        status = (folder / "status").read_text("ascii", "replace")
    except (OSError, ValueError):
        return None
    line = next((one for one in status.splitlines() if one.startswith("voluntary_ctxt_switches:")), "")
    return int(line.split()[1]) if line else None
