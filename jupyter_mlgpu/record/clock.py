"""Clocks, and the interface that lets tests replace them with a fake.

A user's cell may freeze the time: with `time.perf_counter_ns = lambda: 0`, or with freezegun, which replaces
the functions of `time` in that module and in every module that holds them as attributes. The package
therefore reads the clocks from its own copy of the module `time`, which is not in `sys.modules`.
"""

from __future__ import annotations

from importlib.machinery import BuiltinImporter
from importlib.util import module_from_spec
from typing import TYPE_CHECKING, Any, Protocol

from jupyter_mlgpu.record.errors import ClockError
from jupyter_mlgpu.record.sentence import say

if TYPE_CHECKING:
    import time

    real_time = time
else:

    def _own_copy(name: str) -> Any:
        spec = BuiltinImporter.find_spec(name)
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    #: A private copy of the module `time`, which changes made by the user's code do not reach.
    real_time = _own_copy("time")


class Clock(Protocol):
    """The clock functions that a recorder needs."""

    source: str

    def monotonic_ns(self) -> int:
        """Return nanoseconds of a clock that never goes backwards. Only differences are meaningful."""
        ...

    def processor_ns(self) -> int:
        """Return the CPU time of this process in nanoseconds, summed over all its threads."""
        ...

    def utc(self) -> str:
        """Return the current time in UTC: ISO 8601 with microseconds and a final Z."""
        ...


class SystemClock:
    """The machine's clocks."""

    source = "time.perf_counter_ns"

    def monotonic_ns(self) -> int:
        """Return monotonic nanoseconds at the highest resolution that the platform offers."""
        return real_time.perf_counter_ns()

    def processor_ns(self) -> int:
        """Return the CPU time of this process in nanoseconds."""
        return real_time.process_time_ns()

    def utc(self) -> str:
        """Return the current time in UTC."""
        return utc(real_time.time_ns())


def seconds_between(begun_ns: int, ended_ns: int) -> float:
    """Return the seconds between two readings of one clock. Raises ClockError if the clock went backwards."""
    if ended_ns < begun_ns:
        back = (begun_ns - ended_ns) / 1e9
        raise ClockError(
            say("The clock went back by {seconds} s: something has changed it.", seconds=f"{back:,.6g}")
        )
    return (ended_ns - begun_ns) / 1e9


def utc(moment_ns: int) -> str:
    """Return a time, given in nanoseconds since 1970, in the format of `Clock.utc`."""
    seconds, rest = divmod(moment_ns, 10**9)
    return f"{real_time.strftime('%Y-%m-%dT%H:%M:%S', real_time.gmtime(seconds))}.{rest // 1000:06d}Z"
