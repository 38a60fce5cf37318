"""Peak memory of this process while a cell runs, and how far that is above its memory at the start.

Linux keeps the peak of the resident set and resets it on request: writing 5 to /proc/self/clear_refs resets
VmHWM of /proc/self/status (proc(5)), and with it the peak that getrusage(2) returns to the program.
Elsewhere `SampledPeak` samples the memory of the process.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from jupyter_mlgpu.measure.probes import resets
from jupyter_mlgpu.measure.probes.base import Probe, ProbeInstruments
from jupyter_mlgpu.measure.probes.footprint import footprint
from jupyter_mlgpu.measure.probes.process_memory import process_memory
from jupyter_mlgpu.measure.probes.resets import ResetDetector
from jupyter_mlgpu.measure.probes.sampled_peak import PEAK, SampledPeak, peak_readings
from jupyter_mlgpu.measure.probes.systemfile import read_once, write_once
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.sentence import say

_STATUS = "/proc/self/status"


def probe(instruments: ProbeInstruments) -> Probe:
    """Return the probe of Linux's own peak if it can be reset, else the sampled peak."""
    try:
        _reset()
        _high_water_mark()
    except (OSError, ValueError):
        return SampledPeak(instruments.sampler, footprint())
    return ResettablePeak()


class ResettablePeak:
    """Peak of the resident set in bytes, from the Linux kernel; exact except for pages counted in batches."""

    quantity = PEAK
    detail = say("VmHWM of /proc/self/status, reset at the start")

    def start(self) -> Callable[[], Sequence[Reading]]:
        """Begin. Returns a function that ends the measurement and returns the readings."""
        peaks = _peaks()
        me = peaks.begin()
        at_start, _ = process_memory()

        def stop() -> Sequence[Reading]:
            return peak_readings(peaks.end(me), at_start, 1, self.detail)

        return stop

    @staticmethod
    def close() -> None:
        """Close all files; a later measurement opens them again."""
        global _open_peaks
        if _open_peaks is not None and _open_peaks.process == os.getpid():
            _open_peaks.reset_detector.close()
            _open_peaks = None


class _Peaks:
    """The peaks of all open measurements of this process, which share one counter."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.reset_detector = ResetDetector()
        # The peak of each measurement so far; None after a reset by others.
        self._open: dict[object, int | None] = {}

    def begin(self) -> object:
        if self._open:
            self._note()
        _reset()
        self.reset_detector.was_reset()  # forgets our own reset
        me = object()
        self._open[me] = 0
        return me

    def end(self, me: object) -> int | None:
        self._note()
        return self._open.pop(me)

    def _note(self) -> None:
        lost, now = self.reset_detector.was_reset(), _high_water_mark()
        for measurement, peak in self._open.items():
            self._open[measurement] = None if lost or peak is None else max(peak, now)


_open_peaks: _Peaks | None = None


def _peaks() -> _Peaks:
    global _open_peaks
    if _open_peaks is None or _open_peaks.process != os.getpid():  # a parent's, copied by fork
        _open_peaks = _Peaks()
    return _open_peaks


def _reset() -> None:
    write_once(resets.FILE, b"5")


def _high_water_mark() -> int:
    status = read_once(_STATUS, 4_096)
    start = status.index(b"VmHWM:") + len(b"VmHWM:")
    return int(status[start : status.index(b"kB", start)]) * 1024
