"""How fast data went between the host and its GPUs, from counters that are read twice within a moment.

The driver counts bytes modulo 2^32, which a fast link reaches in 0.07 s. So a window between two readings is
shorter than that, and there are some of them, a quarter of a second apart and more, while the cell's thread
waits or is in native code. On an H100 a reading takes 0.3 ms.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping

from jupyter_mlgpu.record.clock import real_time

#: By a GPU's label, bytes sent and received so far.
Bytes = Mapping[str, tuple[int, int]]

_WRAP = 1 << 32
#: The longest window, in seconds: 16 lanes of PCIe 5 carry 63 GB/s.
LONGEST = 0.065
#: Seconds after which a window should be closed, and from one window's end to the next one.
_SOON, _APART = 0.04, 0.25
#: The part of a cell's time that reading may take, and the seconds that it may take in any cell.
_SHARE, _CREDIT = 0.001, 0.0015


class HostLink:
    """The windows of one cell."""

    def __init__(self, read: Callable[[], Bytes]) -> None:
        self._read = read
        self._has_counters = True
        self._begun = real_time.perf_counter()
        self._cost = 0.0
        self._before: tuple[float, Bytes] | None = None
        self._again = self._begun
        self._bytes: dict[str, int] = defaultdict(int)
        self._seconds: dict[str, float] = defaultdict(float)
        self._windows: dict[str, int] = defaultdict(int)

    def look(self) -> float | None:
        """Read the counters, where that is not too dear; the seconds after which to look again, if any."""
        before, self._before = self._before, None
        at, begun = real_time.perf_counter(), real_time.thread_time()
        spent = self._cost - _CREDIT - _SHARE * (at - self._begun)
        if not self._has_counters or (before is None and (spent > 0 or at < self._again)):
            return None
        if before is not None and at - before[0] > LONGEST:
            before = None  # it may have begun again from 0
        now = self._read()
        self._cost += real_time.thread_time() - begun
        self._has_counters = bool(now)
        if before is None:
            self._before = (at, now)
            return _SOON
        self._again = at + _APART
        for label in now.keys() & before[1].keys():
            pairs = zip(now[label], before[1][label], strict=True)
            self._bytes[label] += sum((after - earlier) % _WRAP for after, earlier in pairs)
            self._seconds[label] += at - before[0]
            self._windows[label] += 1
        return None

    def rates(self) -> dict[str, tuple[float, int]]:
        """By label, bytes a second in both directions together, and the windows that this rests on."""
        return {
            label: (self._bytes[label] / self._seconds[label], windows)
            for label, windows in self._windows.items()
        }
