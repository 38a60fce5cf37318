"""Whether a sandbox worker waits for its next question, told by the kernel from outside the sandbox.

An answer does not prove that the work is done: a thread of the student's is in the same process, and can
write an answer, too. What it cannot write is where the worker's first thread is: the kernel shows the system
call in which that thread waits, and counts how often it has begun to wait. So an answer counts once the
thread that runs the cells has left its wait and waits for the next question again.
"""

from __future__ import annotations

import os
from pathlib import Path


def waits_of(process: int, channel: int) -> int | None:
    """How often the first thread of a process has waited so far; None where it does not wait for us now.

    `channel` is the inode of the socket on which it reads questions. Also None where the kernel may not tell.
    """
    folder = Path(f"/proc/{process}/task/{process}")
    try:
        # "running", or the number of the call and its arguments; the first one of `read` is a descriptor.
        call = (folder / "syscall").read_text("ascii").split()
        if len(call) < 2 or os.stat(f"/proc/{process}/fd/{int(call[1], 16)}").st_ino != channel:
            return None
        told = (folder / "status").read_text("ascii", "replace")
    except (OSError, ValueError):
        return None
    line = next((one for one in told.splitlines() if one.startswith("voluntary_ctxt_switches:")), "")
    return int(line.split()[1]) if line else None
