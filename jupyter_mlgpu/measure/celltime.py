"""The time at which a cell's code ended. Time and work after that do not count for the cell."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from jupyter_mlgpu.measure import guarded
from jupyter_mlgpu.record.clock import Clock, seconds_between
from jupyter_mlgpu.record.errors import ClockError
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.sentence import Sentence

#: Waiting for idle devices takes microseconds. If the wait takes longer (ns), they were busy until its end.
STILL_AT_WORK_NS = 1_000_000


class Moment(Struct, frozen=True):
    """A reading of the clock and of this process's CPU time, in nanoseconds."""

    wall_ns: int
    processor_ns: int


def moment(clock: Clock) -> Moment:
    """Return the current moment."""
    return Moment(clock.monotonic_ns(), clock.processor_ns())


def wall_time(clock: Clock, started_ns: int, ended_ns: int) -> Reading:
    """Return the time between two readings of the clock, or a missing reading with the clock's error."""
    try:
        spent = seconds_between(started_ns, ended_ns)
    except ClockError as error:
        return guarded.failed("wall_time", error)
    return Reading("wall_time", spent, "s", "cell", "clock", 1, detail=Sentence(clock.source))


def without_cpu_time(readings: Iterable[Reading], processor_ns: int) -> list[Reading]:
    """Return the readings with `processor_ns` nanoseconds taken off the CPU time."""
    return [
        replace(reading, value=max(0.0, reading.value - processor_ns / 1e9))
        if reading.quantity == "cpu_time" and reading.value is not None
        else reading
        for reading in readings
    ]
