"""Reading the time: one small contract, so that tests can turn the clock by hand, and the clocks themselves.

A user's cell may freeze the time: `time.perf_counter_ns = lambda: 0`, or freezegun, which puts functions of
its own in place of the real ones in `time` and wherever a module has one of them as an attribute. So the
package reads the clocks of a copy of the module `time` that is its own, and stands in no list of modules.
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

    #: The module `time` as Python has it, whatever the user's code has made of its own.
    real_time = _own_copy("time")


class Clock(Protocol):
    """What a recorder needs to know of time."""

    source: str

    def monotonic_ns(self) -> int:
        """Nanoseconds of a clock that never goes backwards; only differences mean something."""
        ...

    def processor_ns(self) -> int:
        """Nanoseconds that the processors have worked for this process, in all of its threads."""
        ...

    def utc(self) -> str:
        """The present moment in UTC, ISO 8601 with microseconds and a final Z."""
        ...


class SystemClock:
    """The machine's clocks."""

    source = "time.perf_counter_ns"

    def monotonic_ns(self) -> int:
        """Nanoseconds that only grow; the highest resolution the platform offers."""
        return real_time.perf_counter_ns()

    def processor_ns(self) -> int:
        """Nanoseconds of processor time that this process has had."""
        return real_time.process_time_ns()

    def utc(self) -> str:
        """The time of day, in UTC."""
        return utc(real_time.time_ns())


def seconds_between(begun_ns: int, ended_ns: int) -> float:
    """Seconds between two readings of one clock; raises ClockError where it went backwards."""
    if ended_ns < begun_ns:
        back = (begun_ns - ended_ns) / 1e9
        raise ClockError(
            say("The clock went back by {seconds} s: something has changed it.", seconds=f"{back:,.6g}")
        )
    return (ended_ns - begun_ns) / 1e9


def utc(moment_ns: int) -> str:
    """A moment, in nanoseconds since 1970, as `Clock.utc` writes it."""
    seconds, rest = divmod(moment_ns, 10**9)
    return f"{real_time.strftime('%Y-%m-%dT%H:%M:%S', real_time.gmtime(seconds))}.{rest // 1000:06d}Z"
