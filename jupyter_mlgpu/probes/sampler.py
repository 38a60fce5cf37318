"""The package's only thread: looks at the process's memory while a cell runs.

Used where the operating system keeps no peak that can be reset (macOS). A peak between two looks goes
unseen; the reading tells how many looks there were.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from jupyter_mlgpu.record import Reading

INTERVAL = 0.05


class SampledPeak:
    """The largest resident set, in bytes, of those seen every `INTERVAL` seconds."""

    quantity = "peak_memory_process"
    source = f"psutil resident set, every {INTERVAL * 1000:.0f} ms"

    def start(self) -> Callable[[], Reading]:
        """See `Probe`."""
        looks = _Looks()
        thread = threading.Thread(target=looks.go_on, name="jupyter_mlgpu-sampler", daemon=True)
        thread.start()

        def stop() -> Reading:
            looks.done.set()
            thread.join()
            return Reading(self.quantity, looks.peak, "bytes", "process", self.source, looks.samples)

        return stop


class _Looks:
    def __init__(self) -> None:
        self.done = threading.Event()
        self.peak = 0
        self.samples = 0
        import psutil  # 20 ms, which a kernel that never looks should not pay when it loads us

        self._process = psutil.Process()

    def go_on(self) -> None:
        self._look()
        while not self.done.wait(INTERVAL):
            self._look()
        self._look()

    def _look(self) -> None:
        self.peak = max(self.peak, self._process.memory_info().rss)
        self.samples += 1
