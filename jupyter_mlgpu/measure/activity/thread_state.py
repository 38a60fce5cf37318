"""Whether a thread is at work while the interpreter's lock is ours: then it runs code that needs none.

Linux tells it in /proc/self/task/TID/syscall (proc_pid_syscall(5)): `running`, or the call that it waits in.
Such a file is read with the lock kept (`systemfile`): else the thread would have it, and work.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import NamedTuple, cast

from jupyter_mlgpu.measure.probes.systemfile import SystemFile

#: Microseconds that a thread is given for going on, where somebody else had its processor: a short call ends
#: in that time.
_GIVEN = 60


class ThreadState(NamedTuple):
    """Questions about one thread, to be asked while the interpreter's lock is ours.

    Attributes:
        running: whether it runs, or would if it had a processor; None where that is not told.
        rest: gives the processor away for a moment, and keeps the lock.
        close: ends the asking.
    """

    running: Callable[[], bool | None]
    yield_processor: Callable[[], object]
    close: Callable[[], object]


def watching(task: int) -> ThreadState:
    """The state of the thread with the system's number `task`."""
    if not sys.platform.startswith("linux"):
        return ThreadState(_unknown, _nothing, _nothing)
    told = SystemFile(f"/proc/self/task/{task}/syscall", 7)
    usleep = _usleep()

    def running() -> bool | None:
        got = told.read()
        return got == b"running" if got else None

    return ThreadState(running, lambda: usleep(_GIVEN), told.close)


@cache
def _usleep() -> Callable[[int], object]:
    """The system's, called with the interpreter's lock kept."""
    import ctypes

    return cast(Callable[[int], object], ctypes.PyDLL(None).usleep)


def _unknown() -> bool | None:
    return None


def _nothing() -> None:
    return
