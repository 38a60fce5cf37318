"""The thread that runs a cell, observed from the sampler's thread: its clocks and its state."""

from __future__ import annotations

from typing import NamedTuple

from jupyter_mlgpu.measure.activity import counters
from jupyter_mlgpu.measure.activity.activity import State
from jupyter_mlgpu.measure.activity.counters import ThreadClock, WaitClock
from jupyter_mlgpu.measure.activity.states import MIN_PROGRESS, must_have_kept_gil, state_of
from jupyter_mlgpu.measure.activity.thread_state import thread_state_reader
from jupyter_mlgpu.record.clock import real_time


class ThreadMoment(NamedTuple):
    """A time and the thread's CPU time until then, in seconds."""

    now: float
    cpu_time: float | None


class SampledThread:
    """One thread, from now until `close`. Call its methods while holding the GIL.

    Attributes:
        began: the moment at which it was made.
        clock: its CPU time.
        waits: the time that it waited for a CPU.
    """

    def __init__(self, thread: int, task: int) -> None:
        """`thread` is Python's id of the thread, and `task` the system's."""
        self.clock = ThreadClock(thread)
        self.began = self.moment()
        self.waits = WaitClock(task)
        self._state = thread_state_reader(task)
        self._waited = counters.attempt(self.waits.read)

    def moment(self) -> ThreadMoment:
        """Return the current moment."""
        return ThreadMoment(real_time.perf_counter(), self.clock.read())

    def state(self, moment: ThreadMoment, cpu_share: float | None, gil_wait: float, others: float) -> State:
        """Return how the thread worked before a sample that began at `moment`.

        `cpu_share` is the part of the time since the last sample that it was on a CPU, `others` the same for
        the process's other threads. `gil_wait` is how many switch intervals the sample waited for the GIL.
        """
        progress = part(moment, self.moment())
        if must_have_kept_gil(cpu_share, gil_wait, others, progress):
            return state_of(cpu_share, gil_wait, running=False, progress=progress)
        # The sampler holds the GIL. A thread that runs now needs none, or waits for a CPU, such as this one.
        running = self._state.running()
        progress = part(moment, self.moment())
        if running and (progress is None or progress <= MIN_PROGRESS):
            before_yield = self.moment()
            self._state.yield_processor()
            running = self._state.running()
            progress = part(before_yield, self.moment())
        return state_of(cpu_share, gil_wait, running=bool(running), progress=progress)

    def waited(self, state: State, seconds: float, cpu_share: float | None) -> float:
        """Return for how many of the last seconds it was ready to run without a CPU.

        `state` is how it worked, and `cpu_share` the part of the time on a CPU. The system is asked only
        about native code, which a sample does not hold up. If the system has no answer, the state decides.
        """
        if state not in ("native", "no processor"):
            return 0.0
        most = seconds * (1 - min(cpu_share or 0.0, 1.0))
        before, self._waited = self._waited, counters.attempt(self.waits.read)
        waited = counters.growth(self._waited, before)
        if waited is None:
            return most if state == "no processor" else 0.0
        return min(waited, most)

    def close(self) -> None:
        """Close the files."""
        self._state.close()
        self.waits.close()


def part(first: ThreadMoment, last: ThreadMoment) -> float | None:
    """Return the part of the time between two moments that the thread was on a CPU, None if unknown."""
    if first.cpu_time is None or last.cpu_time is None or last.now <= first.now:
        return None
    return (last.cpu_time - first.cpu_time) / (last.now - first.now)
