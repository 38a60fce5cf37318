"""CPU time of this process while a cell runs."""

from __future__ import annotations

from collections.abc import Callable

from jupyter_mlgpu.measure.probes.base import Probe, ProbeInstruments
from jupyter_mlgpu.record.clock import Clock, SystemClock, seconds_between
from jupyter_mlgpu.record.reading import Reading, new_reading
from jupyter_mlgpu.record.sentence import Sentence


def probe(_: ProbeInstruments) -> Probe:
    """Return the probe of a cell's CPU time."""
    return CpuTime()


class CpuTime:
    """Seconds of CPU time, user and system, of all threads of this process; without its children."""

    quantity = "cpu_time"

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()

    def start(self) -> Callable[[], Reading]:
        """Begin. Returns a function that ends the measurement and returns the reading."""
        before = self._clock.processor_ns()

        def stop() -> Reading:
            worked = seconds_between(before, self._clock.processor_ns())
            return new_reading(
                self.quantity, worked, "process", "clock", 1, detail=Sentence("time.process_time_ns")
            )

        return stop
