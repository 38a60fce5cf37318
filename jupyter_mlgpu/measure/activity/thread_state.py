"""Reads if a thread runs while the sampler holds the GIL, and if the calling thread is traced.

A thread that runs while the sampler holds the GIL runs code that needs no GIL. Linux has the state in
/proc/self/task/TID/syscall (proc_pid_syscall(5)): `running`, or the call in which the thread waits. The file
is read without releasing the GIL (`systemfile`). Otherwise the thread could take the GIL and run Python code.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import NamedTuple, cast

from jupyter_mlgpu.measure.probes.systemfile import SystemFile

#: Microseconds for which the sampler gives up its CPU. A thread that waited for that CPU runs in this time,
#: long enough for a short call to end.
_YIELD_US = 60

_monitoring = getattr(sys, "monitoring", None)


class ThreadStateReader(NamedTuple):
    """Functions to read one thread's state. Call them while holding the GIL.

    Attributes:
        running: returns True if the thread runs or is ready to run; None if unknown.
        yield_processor: gives up the caller's CPU for a moment, and keeps the GIL.
        close: closes the file.
    """

    running: Callable[[], bool | None]
    yield_processor: Callable[[], object]
    close: Callable[[], object]


def thread_state_reader(task: int) -> ThreadStateReader:
    """Return functions to read the state of the thread with the system's id `task`."""
    if not sys.platform.startswith("linux"):
        return ThreadStateReader(_unknown_state, _do_nothing, _do_nothing)
    file = SystemFile(f"/proc/self/task/{task}/syscall", 7)
    usleep = _usleep()

    def running() -> bool | None:
        text = file.read()
        return text == b"running" if text else None

    return ThreadStateReader(running, lambda: usleep(_YIELD_US), file.close)


def is_traced() -> bool:
    """Return True if a trace or profile function is on in the calling thread, which makes Python much slower.

    From Python 3.12 on, also return True if a debugger or profiler uses `sys.monitoring`, which is on in all
    threads.
    """
    return sys.gettrace() is not None or sys.getprofile() is not None or is_traced_in_all_threads()


def is_traced_in_all_threads() -> bool:
    """Return True if a debugger or profiler uses `sys.monitoring`. The result is the same in every thread."""
    if _monitoring is None:
        return False
    return any(_monitoring.get_tool(tool) for tool in (_monitoring.DEBUGGER_ID, _monitoring.PROFILER_ID))


@cache
def _usleep() -> Callable[[int], object]:
    """Return the system's `usleep`, called without releasing the GIL."""
    import ctypes

    return cast(Callable[[int], object], ctypes.PyDLL(None).usleep)


def _unknown_state() -> bool | None:
    return None


def _do_nothing() -> None:
    return
