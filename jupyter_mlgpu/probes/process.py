"""CPU time of this process while a cell runs, its peak memory, and its memory when the cell has ended.

Linux keeps the peak of the resident set and resets it on request: writing 5 to /proc/self/clear_refs
makes VmHWM of /proc/self/status start again (proc(5)). The program's own getrusage(2) peak starts
again with it. Elsewhere `sampler.SampledPeak` looks at the resident set from time to time.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from jupyter_mlgpu.probes.base import Probe
from jupyter_mlgpu.probes.sampler import SampledPeak
from jupyter_mlgpu.record import Reading

_STATUS = "/proc/self/status"
_CLEAR_REFS = "/proc/self/clear_refs"
_STATM = "/proc/self/statm"


class CpuTime:
    """Seconds of processor time, user and system, of all threads of this process; not of its children."""

    quantity = "cpu_time"

    def start(self) -> Callable[[], Reading]:
        """See `Probe`."""
        before = time.process_time_ns()

        def stop() -> Reading:
            seconds = (time.process_time_ns() - before) / 1e9
            return Reading(self.quantity, seconds, "s", "process", "time.process_time_ns", 1)

        return stop


class MemoryInUse:
    """The resident set, in bytes, when the cell has ended; what it was before is an earlier cell's figure."""

    quantity = "memory_process"

    def start(self) -> Callable[[], Reading]:
        """See `Probe`."""
        return self._stop

    def _stop(self) -> Reading:
        value, source = resident_set()
        return Reading(self.quantity, value, "bytes", "process", source, 1)


def resident_set() -> tuple[int, str]:
    """Memory of this process that is in the machine's RAM now, in bytes, and where the figure is from.

    On Linux the second number of /proc/self/statm, in pages (proc(5)), which the kernel counts in batches:
    a few hundred kB may not be in it yet.
    """
    try:
        with open(_STATM, "rb", buffering=0) as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE"), _STATM
    except OSError:  # not Linux
        import psutil

        return int(psutil.Process().memory_info().rss), "psutil resident set"


def peak_memory_probe() -> Probe:
    """The kernel's own peak where it can be reset, else the sampler."""
    try:
        _reset()
        _high_water_mark()
    except (OSError, ValueError):
        return SampledPeak()
    return ResettablePeak()


class ResettablePeak:
    """Peak of the resident set in bytes, from the Linux kernel; exact but for pages counted in batches."""

    quantity = "peak_memory_process"
    source = "VmHWM of /proc/self/status, reset at the start"

    def __init__(self) -> None:
        # One reset serves all open measurements; what each had seen before is kept here.
        self._open: dict[object, int] = {}

    def start(self) -> Callable[[], Reading]:
        """See `Probe`."""
        if self._open:
            seen = _high_water_mark()
            for measurement, peak in self._open.items():
                self._open[measurement] = max(peak, seen)
        _reset()
        me = object()
        self._open[me] = 0

        def stop() -> Reading:
            peak = max(self._open.pop(me), _high_water_mark())
            return Reading(self.quantity, peak, "bytes", "process", self.source, 1)

        return stop


def _reset() -> None:
    with open(_CLEAR_REFS, "wb", buffering=0) as file:
        file.write(b"5")


def _high_water_mark() -> int:
    with open(_STATUS, "rb", buffering=0) as file:
        status = file.read()
    start = status.index(b"VmHWM:") + len(b"VmHWM:")
    return int(status[start : status.index(b"kB", start)]) * 1024
