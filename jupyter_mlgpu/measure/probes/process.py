"""CPU time of this process while a cell runs, its peak memory, and its memory when the cell has ended.

Linux keeps the peak of the resident set and resets it on request: writing 5 to /proc/self/clear_refs
makes VmHWM of /proc/self/status start again (proc(5)). The program's own getrusage(2) peak starts
again with it. Elsewhere `sampler.SampledPeak` looks at the resident set from time to time.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from jupyter_mlgpu.measure.probes import resets
from jupyter_mlgpu.measure.probes.base import Probe
from jupyter_mlgpu.measure.probes.resets import Resets
from jupyter_mlgpu.measure.probes.sampler import SampledPeak, Sampler
from jupyter_mlgpu.record.clock import Clock, SystemClock, seconds_between
from jupyter_mlgpu.record.reading import OPERATING_SYSTEM, Reading, missing
from jupyter_mlgpu.record.sentence import Sentence, say

_STATUS = "/proc/self/status"
STATM = "/proc/self/statm"

RESET = say(
    "This cell's code reset the peak (it wrote to /proc/self/clear_refs), so the peak before "
    "that is not known."
)


class CpuTime:
    """Seconds of processor time, user and system, of all threads of this process; not of its children."""

    quantity = "cpu_time"

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()

    def start(self) -> Callable[[], Reading]:
        """Begin; what is returned gives the reading when it is called."""
        before = self._clock.processor_ns()

        def stop() -> Reading:
            worked = seconds_between(before, self._clock.processor_ns())
            return Reading(
                self.quantity, worked, "s", "process", "clock", 1, detail=Sentence("time.process_time_ns")
            )

        return stop


class MemoryInUse:
    """The resident set, in bytes, when the cell has ended; what it was before is an earlier cell's figure."""

    quantity = "memory_process"

    def start(self) -> Callable[[], Reading]:
        """Begin; what is returned gives the reading when it is called."""
        return self._stop

    def _stop(self) -> Reading:
        value, detail = resident_set()
        return Reading(self.quantity, value, "bytes", "process", OPERATING_SYSTEM, 1, detail=detail)


def resident_set() -> tuple[int, Sentence]:
    """Memory of this process that is in the machine's RAM now, in bytes, and where the figure is from.

    On Linux the second number of /proc/self/statm, in pages (proc(5)), which the kernel counts in batches:
    a few hundred kB may not be in it yet.
    """
    try:
        with open(STATM, "rb", buffering=0) as file:
            return resident_in(file.read()), Sentence(STATM)
    except OSError:  # not Linux
        import psutil

        return int(psutil.Process().memory_info().rss), say("psutil resident set")


def resident_in(statm: bytes) -> int:
    """The resident set in bytes, of the text of /proc/self/statm; raises IndexError where it is none."""
    return int(statm.split()[1]) * os.sysconf("SC_PAGE_SIZE")


def peak_memory_probe(sampler: Sampler) -> Probe:
    """The kernel's own peak where it can be reset, else the sampler."""
    try:
        _reset()
        _high_water_mark()
    except (OSError, ValueError):
        return SampledPeak(sampler)
    return ResettablePeak()


class ResettablePeak:
    """Peak of the resident set in bytes, from the Linux kernel; exact but for pages counted in batches."""

    quantity = "peak_memory_process"
    detail = say("VmHWM of /proc/self/status, reset at the start")

    def start(self) -> Callable[[], Reading]:
        """Begin; what is returned gives the reading when it is called."""
        peaks = _peaks()
        me = peaks.begin()

        def stop() -> Reading:
            peak = peaks.end(me)
            if peak is None:
                return missing(
                    self.quantity, RESET, scope="process", source=OPERATING_SYSTEM, detail=self.detail
                )
            return Reading(self.quantity, peak, "bytes", "process", OPERATING_SYSTEM, 1, detail=self.detail)

        return stop

    @staticmethod
    def close() -> None:
        """Leave no open file behind; who measures later opens it again."""
        global _open_peaks
        if _open_peaks is not None and _open_peaks.process == os.getpid():
            _open_peaks.resets.close()
            _open_peaks = None


class _Peaks:
    """The peaks of all open measurements of this process: there is one counter for all of them."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.resets = Resets()
        # What each has seen so far; None where somebody else has begun the counter afresh.
        self._open: dict[object, int | None] = {}

    def begin(self) -> object:
        if self._open:
            self._note()
        _reset()
        self.resets.seen()  # this was our own
        me = object()
        self._open[me] = 0
        return me

    def end(self, me: object) -> int | None:
        self._note()
        return self._open.pop(me)

    def _note(self) -> None:
        lost, now = self.resets.seen(), _high_water_mark()
        for measurement, peak in self._open.items():
            self._open[measurement] = None if lost or peak is None else max(peak, now)


_open_peaks: _Peaks | None = None


def _peaks() -> _Peaks:
    global _open_peaks
    if _open_peaks is None or _open_peaks.process != os.getpid():  # a parent's, copied by fork
        _open_peaks = _Peaks()
    return _open_peaks


def _reset() -> None:
    with open(resets.FILE, "wb", buffering=0) as file:
        file.write(b"5")


def _high_water_mark() -> int:
    with open(_STATUS, "rb", buffering=0) as file:
        status = file.read()
    start = status.index(b"VmHWM:") + len(b"VmHWM:")
    return int(status[start : status.index(b"kB", start)]) * 1024
