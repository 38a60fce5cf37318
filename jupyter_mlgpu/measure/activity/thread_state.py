"""Tells whether a thread runs while the sampler holds the GIL, and whether it is traced.

A thread that runs then runs code that needs no GIL. Linux has the state in /proc/self/task/TID/syscall
(proc_pid_syscall(5)): `running`, or the call in which the thread waits. The file is read without releasing
the GIL (`systemfile`): else the thread would get it and work.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import NamedTuple, cast

from jupyter_mlgpu.measure.probes.systemfile import SystemFile

#: Microseconds that a thread gets to go on if another had its CPU: a short call ends in that time.
_YIELD_US = 60

_monitoring = getattr(sys, "monitoring", None)


class ThreadState(NamedTuple):
    """Functions to read one thread's state. Call them while holding the GIL.

    Attributes:
        running: returns True if it runs or is ready to run; None if unknown.
        yield_processor: gives the CPU away for a moment, and keeps the GIL.
        close: closes the file.
    """

    running: Callable[[], bool | None]
    yield_processor: Callable[[], object]
    close: Callable[[], object]


def thread_state(task: int) -> ThreadState:
    """Return the state of the thread with the system's id `task`."""
    if not sys.platform.startswith("linux"):
        return ThreadState(_unknown, _nothing, _nothing)
    file = SystemFile(f"/proc/self/task/{task}/syscall", 7)
    usleep = _usleep()

    def running() -> bool | None:
        text = file.read()
        return text == b"running" if text else None

    return ThreadState(running, lambda: usleep(_YIELD_US), file.close)


def is_traced() -> bool:
    """Return True if a trace or profile function is on in this thread, which makes Python much slower.

    From Python 3.12 on, tools for all threads count as well (`sys.monitoring`).
    """
    return sys.gettrace() is not None or sys.getprofile() is not None or is_traced_in_all_threads()


def is_traced_in_all_threads() -> bool:
    """Return True if a debugger or profiler is on in all threads. Any thread can call this."""
    if _monitoring is None:
        return False
    return any(_monitoring.get_tool(tool) for tool in (_monitoring.DEBUGGER_ID, _monitoring.PROFILER_ID))


@cache
def _usleep() -> Callable[[int], object]:
    """Return the system's `usleep`, called without releasing the GIL."""
    import ctypes

    return cast(Callable[[int], object], ctypes.PyDLL(None).usleep)


def _unknown() -> bool | None:
    return None


def _nothing() -> None:
    return
