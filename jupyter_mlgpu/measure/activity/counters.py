"""Counters of the process and the machine that show what a cell waited for."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple

from jupyter_mlgpu.measure.probes.systemfile import SystemFile
from jupyter_mlgpu.record.clock import real_time

#: These files are of the whole machine, so forked children may read them, too.
_PRESSURE = SystemFile("/proc/pressure/memory", 256)
_VMSTAT = SystemFile("/proc/vmstat", 1 << 14)
_STAT = SystemFile("/proc/stat", 256)
_SWAPPED_IN = b"\npswpin "


class Counters(NamedTuple):
    """All counters at one moment. Times are in seconds since a fixed moment. None: the system has none."""

    process_time: float
    children_time: float
    thread_time: float | None
    processor_wait: float | None
    machine_busy: float | None
    memory_stall: float | None
    swapped_in: float | None
    major_faults: float | None


def cores() -> int:
    """Return the number of CPUs that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class WaitClock:
    """Reads how long a thread was ready to run while no CPU was free (Linux, sched-stats.rst)."""

    def __init__(self, task: int | str) -> None:
        self._file = SystemFile(f"/proc/self/task/{task}/schedstat", 64)

    def read(self) -> float:
        """Return the seconds so far. Raises IndexError if the kernel does not report them."""
        return int(self._file.read().split()[1]) / 1e9

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class ThreadClock:
    """Reads the CPU time of a thread from another one (Unix except macOS)."""

    def __init__(self, thread: int) -> None:
        self._clock: int | None = None
        if sys.platform != "win32" and hasattr(real_time, "pthread_getcpuclockid"):
            try:
                self._clock = real_time.pthread_getcpuclockid(thread)
            except (OSError, OverflowError):  # the thread has gone
                self._clock = None

    def read(self) -> float | None:
        """Return the seconds so far, None if unknown."""
        if self._clock is None:
            return None
        try:
            return real_time.clock_gettime(self._clock)
        except OSError:
            return None


def read(clock: ThreadClock, waits: WaitClock) -> Counters:
    """Return all counters. This takes some 100 µs on Linux."""
    times = os.times()
    stalled = attempt(_memory_stall)
    return Counters(
        real_time.process_time(),
        times.children_user + times.children_system,
        clock.read(),
        attempt(waits.read),
        attempt(_machine_busy),
        stalled,
        _swapped.read(stalled),
        attempt(_major_faults),
    )


def processor_waits() -> float | None:
    """Return how long all threads of the process together were ready to run while no CPU was free."""
    try:
        tasks = os.listdir("/proc/self/task")
    except OSError:
        return None
    clocks = [WaitClock(task) for task in tasks]
    waits = [attempt(clock.read) for clock in clocks]
    for clock in clocks:
        clock.close()
    return sum(seconds for seconds in waits if seconds is not None)


def growth(last: float | None, first: float | None) -> float | None:
    """Return the growth of a counter of seconds, None if unknown."""
    return None if last is None or first is None else max(0.0, last - first)


def count_growth(last: float | None, first: float | None) -> int | None:
    """Return the growth of a counter of things, None if unknown."""
    by = growth(last, first)
    return None if by is None else round(by)


def attempt(sample: Callable[[], float | int]) -> float | None:
    """Return a reading, None if the system does not have it."""
    try:
        return sample()
    except (OSError, ValueError, IndexError, ImportError):  # not Linux, or a kernel without it
        return None


def _major_faults() -> int:
    """Return how often a thread of this process waited for a page from a disk or the swap (getrusage(2))."""
    resource = import_module("resource")
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_majflt)


def _machine_busy() -> float:
    """Return the seconds that all CPUs worked, with time stolen by the machine's host (proc_stat(5))."""
    fields = [int(field) for field in _STAT.read().split(b"\n", 1)[0].split()[1:9]]
    user, nice, system, _idle, _waiting, interrupts, soft_interrupts, stolen = fields
    return (user + nice + system + interrupts + soft_interrupts + stolen) / os.sysconf("SC_CLK_TCK")


def _memory_stall() -> float:
    """Return the seconds in which some task waited for memory (Linux, psi.rst)."""
    line = _PRESSURE.read().split(b"\n", 1)[0]
    return int(line[line.index(b"total=") + 6 :]) / 1e6


def _swapped_in() -> int:
    text = _VMSTAT.read()
    start = text.index(_SWAPPED_IN) + len(_SWAPPED_IN)
    return int(text[start : text.index(b"\n", start)])


class SwappedIn:
    """Reads the number of pages read from the swap, only if some task has waited for memory since.

    The file is expensive to read, and so it is read in hardly any cell.
    """

    def __init__(self, pages: Callable[[], int]) -> None:
        """`pages` reads them."""
        self._pages = pages
        self._last: tuple[float, float] | None = None

    def read(self, stalled: float | None) -> float | None:
        """Return the count, None if unknown. `stalled`: seconds that tasks have waited for memory so far."""
        last = self._last
        if last is not None and last[0] == stalled:
            return last[1]
        now = attempt(self._pages)
        self._last = None if stalled is None or now is None else (stalled, now)
        return now


_swapped = SwappedIn(_swapped_in)
