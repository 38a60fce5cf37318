"""Detects Python code in native threads while the cell's thread waits, as in a data pipeline.

Such a thread has frames only while it runs a Python function, and releases the GIL when the function ends. A
sampler that waits for the GIL gets it a little later and finds no frame. The sign is the wait itself: while
the cell's thread waits, only such a thread can have kept the GIL. A CPU that is not free also delays the
sampler; the system reports that time (Linux), and it is subtracted.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from jupyter_mlgpu.measure.activity.states import KEPT
from jupyter_mlgpu.measure.probes.systemfile import SystemFile

_SCHEDSTAT = "/proc/thread-self/schedstat"


class NativeCallbackDetector:
    """Detects Python in native threads. All calls come from the sampler's thread."""

    def __init__(self, calls_back: Callable[[], bool]) -> None:
        """`calls_back` returns True if native threads of a framework may call Python."""
        self._calls_back = calls_back
        self._waits: SystemFile | None = None
        self._before: float | None = None
        self.called_back = False

    def ask(self) -> None:
        """Check for such threads; once there may be some, `ran_python` can detect them."""
        if not self.called_back and self._calls_back():
            self.called_back = True
            self._waits = SystemFile(_SCHEDSTAT, 64)
            self._before = self._waited()

    def ran_python(self, gil_wait: float) -> bool:
        """Return True if one kept the GIL in this sample's `gil_wait` seconds. Call it in each sample."""
        if self._waits is None:
            return False
        before, self._before = self._before, self._waited()
        if before is None or self._before is None:
            return False
        return gil_wait - (self._before - before) >= KEPT * sys.getswitchinterval()

    def close(self) -> None:
        """Close the file."""
        if self._waits is not None:
            self._waits.close()

    def _waited(self) -> float | None:
        """Return how long this thread has been ready to run without a CPU (sched-stats.rst)."""
        fields = self._waits.read().split() if self._waits is not None else []
        return int(fields[1]) / 1e9 if len(fields) > 1 else None
