"""When a cell's code ended, and the times that follow from it: what comes after it is not the cell's."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from jupyter_mlgpu.measure import guarded
from jupyter_mlgpu.record.clock import Clock, seconds_between
from jupyter_mlgpu.record.errors import ClockError
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.sentence import Sentence

#: Waiting for idle devices takes microseconds. Where it takes longer, they were at work until then.
STILL_AT_WORK_NS = 1_000_000


class Moment(Struct, frozen=True):
    """The clock, and the processor time of this process, in nanoseconds."""

    wall_ns: int
    processor_ns: int


def moment(clock: Clock) -> Moment:
    """Now."""
    return Moment(clock.monotonic_ns(), clock.processor_ns())


def wall_time(clock: Clock, started_ns: int, ended_ns: int) -> Reading:
    """The time between two readings of the clock, or why it is not known."""
    try:
        spent = seconds_between(started_ns, ended_ns)
    except ClockError as error:
        return guarded.failed("wall_time", error)
    return Reading("wall_time", spent, "s", "cell", "clock", 1, detail=Sentence(clock.source))


def without(readings: Iterable[Reading], processor_ns: int) -> list[Reading]:
    """The readings, that of processor time without so much of it."""
    return [
        replace(one, value=max(0.0, one.value - processor_ns / 1e9))
        if one.quantity == "cpu_time" and one.value is not None
        else one
        for one in readings
    ]
