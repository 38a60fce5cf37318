"""Counters of the process and the machine that tell what a cell waited for; None where there are none."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple

from jupyter_mlgpu.measure.probes.systemfile import SystemFile
from jupyter_mlgpu.record.clock import real_time

#: Of the whole machine, so that forked children may read them, too.
_PRESSURE = SystemFile("/proc/pressure/memory", 256)
_VMSTAT = SystemFile("/proc/vmstat", 1 << 14)
_STAT = SystemFile("/proc/stat", 256)
_SWAPPED_IN = b"\npswpin "


class Counters(NamedTuple):
    """All of them at one moment; times in seconds since some moment that does not change."""

    process_time: float
    children_time: float
    thread_time: float | None
    processor_wait: float | None
    machine_busy: float | None
    memory_stall: float | None
    swapped_in: float | None
    major_faults: float | None


def cores() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class WaitClock:
    """For how long a thread was ready to run, and no processor was free (Linux, sched-stats.rst)."""

    def __init__(self, task: int | str) -> None:
        self._file = SystemFile(f"/proc/self/task/{task}/schedstat", 64)

    def read(self) -> float:
        """Seconds so far; raises IndexError where it is not told."""
        return int(self._file.read().split()[1]) / 1e9

    def close(self) -> None:
        """Read no more."""
        self._file.close()


class ThreadClock:
    """The processor time of one thread, read from another: Unix but macOS; None where it is not told."""

    def __init__(self, thread: int) -> None:
        self._clock: int | None = None
        if sys.platform != "win32" and hasattr(real_time, "pthread_getcpuclockid"):
            try:
                self._clock = real_time.pthread_getcpuclockid(thread)
            except (OSError, OverflowError):  # the thread has gone
                self._clock = None

    def read(self) -> float | None:
        """Seconds so far."""
        if self._clock is None:
            return None
        try:
            return real_time.clock_gettime(self._clock)
        except OSError:
            return None


def read(clock: ThreadClock, waits: WaitClock) -> Counters:
    """All counters now; some 100 µs on Linux."""
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
    """For how long all threads of the process together were ready to run, and no processor was free."""
    try:
        tasks = os.listdir("/proc/self/task")
    except OSError:
        return None
    clocks = [WaitClock(task) for task in tasks]
    waits = [attempt(clock.read) for clock in clocks]
    for clock in clocks:
        clock.close()
    return sum(one for one in waits if one is not None)


def grown(last: float | None, first: float | None) -> float | None:
    """By how much a counter of seconds has grown; None where it is not known."""
    return None if last is None or first is None else max(0.0, last - first)


def more(last: float | None, first: float | None) -> int | None:
    """The same of a counter of things."""
    by = grown(last, first)
    return None if by is None else round(by)


def attempt(sample: Callable[[], float | int]) -> float | None:
    """What a reading gives; None where the system does not tell it."""
    try:
        return sample()
    except (OSError, ValueError, IndexError, ImportError):  # not Linux, or a kernel without it
        return None


def _major_faults() -> int:
    """How often a thread of this process waited for a page from a disk or the swap (getrusage(2); Unix)."""
    resource = import_module("resource")
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_majflt)


def _machine_busy() -> float:
    """Seconds that all processors worked, those of the machine's host taken away included (proc_stat(5))."""
    fields = [int(one) for one in _STAT.read().split(b"\n", 1)[0].split()[1:9]]
    user, nice, system, _idle, _waiting, interrupts, soft_interrupts, stolen = fields
    return (user + nice + system + interrupts + soft_interrupts + stolen) / os.sysconf("SC_CLK_TCK")


def _memory_stall() -> float:
    """Time in which some task waited for memory (Linux, psi.rst)."""
    line = _PRESSURE.read().split(b"\n", 1)[0]
    return int(line[line.index(b"total=") + 6 :]) / 1e6


def _swapped_in() -> int:
    text = _VMSTAT.read()
    start = text.index(_SWAPPED_IN) + len(_SWAPPED_IN)
    return int(text[start : text.index(b"\n", start)])


class SwappedIn:
    """Pages brought in from the swap: as read last, if nobody has waited for memory since.

    So the file, which is dear to read, is read in next to no cell.
    """

    def __init__(self, pages: Callable[[], int]) -> None:
        """`pages` reads them."""
        self._pages = pages
        self._last: tuple[float, float] | None = None

    def read(self, stalled: float | None) -> float | None:
        """How many by now, where somebody has waited `stalled` seconds so far; None: that is not known."""
        last = self._last
        if last is not None and last[0] == stalled:
            return last[1]
        now = attempt(self._pages)
        self._last = None if stalled is None or now is None else (stalled, now)
        return now


_swapped = SwappedIn(_swapped_in)
