"""The thread that a cell runs in, as another one sees it: what its clocks say, and whether it goes on now."""

from __future__ import annotations

from typing import NamedTuple

from jupyter_mlgpu.measure.activity import counters, thread_state
from jupyter_mlgpu.measure.activity.activity import State
from jupyter_mlgpu.measure.activity.counters import ThreadClock, WaitClock
from jupyter_mlgpu.measure.activity.states import WENT_ON, nobody_else_kept_it, state_of
from jupyter_mlgpu.record.clock import real_time


class ThreadMoment(NamedTuple):
    """The time, and the processor time of the thread until then; in seconds."""

    now: float
    own: float | None


class WatchedThread:
    """One thread, from now until `close`; to be asked while the interpreter's lock is ours.

    Attributes:
        began: the moment at which it was made.
        clock: its processor time.
        waits: for how long it had no processor.
    """

    def __init__(self, thread: int, task: int) -> None:
        """`thread` is Python's number of it, and `task` the system's."""
        self.clock = ThreadClock(thread)
        self.began = self.moment()
        self.waits = WaitClock(task)
        self._state = thread_state.watching(task)
        self._waited = counters.attempt(self.waits.read)

    def moment(self) -> ThreadMoment:
        """Now."""
        return ThreadMoment(real_time.perf_counter(), self.clock.read())

    def state(self, sample: ThreadMoment, own: float | None, asked: float, others: float) -> State:
        """How it worked before a look that began then.

        `own` is the part of the time since the last look that it had a processor, `others` the same of the
        process's other threads, and `asked` for how many switch intervals the look waited for the lock.
        """
        went_on = part(sample, self.moment())
        if nobody_else_kept_it(own, asked, others, went_on):
            return state_of(own, asked, running=False, went_on=went_on)
        # We have the lock. A thread that runs now needs none, or it only waits for a processor, such as ours.
        running = self._state.running()
        went_on = part(sample, self.moment())
        if running and (went_on is None or went_on <= WENT_ON):
            rested = self.moment()
            self._state.yield_processor()
            running = self._state.running()
            went_on = part(rested, self.moment())
        return state_of(own, asked, running=bool(running), went_on=went_on)

    def waited(self, state: State, seconds: float, own: float | None) -> float:
        """For how many of the last seconds it had no processor, though it would have gone on.

        `state` is how it worked, and `own` the part of the time for which it had a processor. The system is
        asked of native code alone, which a look does not hold up; where it does not tell, what the thread
        was seen in counts.
        """
        if state not in ("native", "no processor"):
            return 0.0
        most = seconds * (1 - min(own or 0.0, 1.0))
        before, self._waited = self._waited, counters.attempt(self.waits.read)
        waited = counters.grown(self._waited, before)
        if waited is None:
            return most if state == "no processor" else 0.0
        return min(waited, most)

    def close(self) -> None:
        """Ask no more."""
        self._state.close()
        self.waits.close()


def part(first: ThreadMoment, last: ThreadMoment) -> float | None:
    """The part of the time between two moments for which the thread had a processor; None: not known."""
    if first.own is None or last.own is None or last.now <= first.now:
        return None
    return (last.own - first.own) / (last.now - first.now)
