"""Looking at a cell from the sampler's thread, 20 to 50 times a second, from 50 ms after its start on.

Looks come at irregular moments, so that no loop keeps step with them. Who looks must wait for the
interpreter's lock like any thread. Python code gives it up 5 ms after it was asked to
(`sys.getswitchinterval()`); so a look that came later than a few of these saw nothing of what happened
meanwhile, and that time counts as not seen. All looks of a cell take at most `SHARE` of it, and `_CREDIT`.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping
from types import FrameType
from typing import NamedTuple

from jupyter_mlgpu.measure.activity import counters, thread_state
from jupyter_mlgpu.measure.activity.activity import Activity, State
from jupyter_mlgpu.measure.activity.counters import Counters, ThreadClock
from jupyter_mlgpu.measure.activity.looks import Looks
from jupyter_mlgpu.measure.activity.markers import Markers
from jupyter_mlgpu.measure.activity.stack import OfUser, Stack, read
from jupyter_mlgpu.measure.probes.sampler import Sampler
from jupyter_mlgpu.record.clock import real_time

#: Seconds from a cell's start to the first look: a shorter cell is never looked at.
AFTER = 0.05
#: Seconds from one look to the next, from and to.
SHORTEST, LONGEST = 0.02, 0.05
#: The part of a cell's time that looking at it may take, at most.
SHARE = 0.002
#: Seconds that it may take in any cell: the first looks are the dearest.
_CREDIT = 0.0003
#: Switch intervals, and seconds, that a look may come late, and still has seen what there was.
_LATE, _LEAST_LATE = 3, 0.015
#: Switch intervals after which a thread has the lock that asked for it, from code that works in Python, and
#: from which on a look that came late tells that the lock was kept: it comes 0.2 ms late by itself.
_ASKED, _KEPT = 0.8, 0.06
#: The part of the time for which a thread had a processor, from which on it was at work.
_AT_WORK = 0.5
#: The part of a look in which a thread's clock must go on for the thread to have gone on.
_WENT_ON = 0.3
#: The golden ratio's fractional part: its multiples spread evenly over what they are taken modulo (Weyl).
_GOLDEN = 0.6180339887498949
#: Seconds to wait, at the cell's end, for a look that is under way.
_PATIENCE = 0.5


class Asked(NamedTuple):
    """What a watch asks others about.

    Attributes:
        of_user: of a file, whether it holds code of the user's.
        gpus: since a moment (seconds since 1970), by a GPU's label: its busy share, and the samples.
        gpu_others: since a moment, the part of the GPUs' work that was for other processes.
        retries: how often the frameworks' allocators have tried again so far.
        called_back: whether native threads of a framework may call Python.
    """

    of_user: OfUser
    gpus: Callable[[float], Mapping[str, tuple[float, int]]]
    gpu_others: Callable[[float], float | None]
    retries: Callable[[], int | None]
    called_back: Callable[[], bool]


class _Clocks(NamedTuple):
    """The time, and the processor time of the thread and of the process until then; in seconds."""

    now: float
    thread: float | None
    process: float


class _Begun(NamedTuple):
    """What is open while a cell is looked at, and the counters when that began, in seconds since 1970."""

    clock: ThreadClock
    task: int | None
    state: thread_state.ThreadState
    at: float
    since: float
    counters: Counters
    retries: int | None


class ActivityWatch:
    """A watch over the thread that makes it, from now until `finish`."""

    def __init__(self, sampler: Sampler, markers: Markers, asked: Asked) -> None:
        self._thread = threading.get_ident()
        self._markers = markers
        self._asked = asked
        self._lock = threading.Lock()
        self._seen, self._unseen = Looks(), Looks()
        self._unseen_busy = 0.0
        self._called_back = False
        self._waits: float | None = None
        # Threads that do nothing for the cell, and where they stood.
        self._of_no_use: dict[int, tuple[int, int]] = {}
        self._begun: _Begun | None = None
        # What a cell did that keeps the lock from its first moment on is known from here.
        self._last = _Clocks(real_time.perf_counter(), real_time.thread_time(), real_time.process_time())
        self._due = self._last.now + AFTER
        self._called = 0
        self._cost = 0.0
        self._ended = False
        self._stop = sampler.add(self._look, LONGEST, AFTER)

    def finish(self) -> Activity | None:
        """What was seen; None where the cell was too short to be looked at, or looking failed."""
        failed = self._stop()
        if not self._lock.acquire(timeout=_PATIENCE):
            return None
        try:
            self._ended = True
        finally:
            self._lock.release()
        begun, self._begun = self._begun, None
        if begun is None:
            return self._never_seen() if failed is None else None
        try:
            return (
                self._activity(begun) if failed is None and (self._seen.count or self._unseen.count) else None
            )
        finally:
            begun.state.close()

    def _look(self) -> float | None:
        with self._lock:
            if self._ended:
                return None
            if self._begun is None:
                self._begun = self._begin()
            else:
                before = real_time.thread_time()
                self._see(self._begun)
                self._cost += real_time.thread_time() - before
            self._called += 1
            wait = SHORTEST + (LONGEST - SHORTEST) * (self._called * _GOLDEN % 1)
            now = real_time.perf_counter()
            wait = max(wait, (self._cost - _CREDIT) / SHARE - (now - self._begun.at))
            self._due = now + wait
            return wait

    def _begin(self) -> _Begun:
        """The first look: what it costs does not grow with the cell."""
        self._markers.refresh()
        task = counters.native_id(self._thread)
        clock = ThreadClock(self._thread)
        state = thread_state.watching(task)
        at = now = real_time.perf_counter()
        found = counters.read(clock, task)
        if self._too_late(now - self._due):  # the lock was not to be had from the first moment on
            at = self._last.now
            stack = read(sys._current_frames().get(self._thread), self._asked.of_user, self._markers)
            self._add_unseen(stack, now - at, _part(found.thread_time, self._last.thread, now - at))
            found = found._replace(thread_time=self._last.thread, process_time=self._last.process)
        self._last = _Clocks(real_time.perf_counter(), clock.read(), real_time.process_time())
        return _Begun(clock, task, state, at, real_time.time() - (now - at), found, self._asked.retries())

    def _see(self, begun: _Begun) -> None:
        frames = sys._current_frames()
        # Our own frame holds this table: with it, the table would keep all frames and their values alive.
        del frames[threading.get_ident()]
        try:
            state = self._see_in(begun, frames)
        finally:
            frames.clear()
        if state == "idle beside others":
            self._called_back = self._called_back or self._asked.called_back()
            if self._waits is None:  # once a cell, some milliseconds, in which the lock is free
                before = real_time.thread_time()
                self._waits = counters.processor_waits()
                self._cost -= real_time.thread_time() - before

    def _see_in(self, begun: _Begun, frames: Mapping[int, FrameType]) -> State:
        """A look that keeps the interpreter's lock, so no frame ends meanwhile: how the thread worked."""
        now, own_time = real_time.perf_counter(), begun.clock.read()
        stack = read(frames.get(self._thread), self._asked.of_user, self._markers)
        seconds, late = now - self._last.now, max(0.0, now - self._due)
        own = _part(own_time, self._last.thread, seconds)
        state = self._state(begun, own, late, _Clocks(now, own_time, 0.0))
        whole = real_time.process_time()
        others = (whole - self._last.process) / seconds - (own or 0.0)
        self._last = _Clocks(now, own_time, whole)
        if self._too_late(late):
            self._add_unseen(stack, late, own)
            seconds -= late
            if seconds <= 0:
                return state
        thread, seen = False, state
        if state == "idle":
            if others >= _AT_WORK:
                state = "idle beside others"
            seen = state
            found = self._elsewhere(frames)
            if found is not None:
                stack, thread = found, True
                seen = _of_other_thread(stack, others, late, state)
        self._seen.add(stack, seen, seconds, late, thread=thread)
        return state

    def _state(self, begun: _Begun, own: float | None, late: float, before: _Clocks) -> State:
        """How it worked: `own` is the part of the time since the last look that it had a processor."""
        # We have the lock. A thread that runs now needs none, or it only waits for a processor, such as ours.
        running = begun.state.running()
        went_on = _part(begun.clock.read(), before.thread, real_time.perf_counter() - before.now)
        if running and (went_on is None or went_on <= _WENT_ON):
            rested, worked = real_time.perf_counter(), begun.clock.read()
            begun.state.rest()
            running = begun.state.running()
            went_on = _part(begun.clock.read(), worked, real_time.perf_counter() - rested)
        return state_of(own, late / sys.getswitchinterval(), running=bool(running), went_on=went_on)

    def _elsewhere(self, frames: Mapping[int, FrameType]) -> Stack | None:
        """Another thread that gets data ready, or runs code of the user's, while the cell's own one waits."""
        for thread, frame in frames.items():
            # Most threads wait for work, and stand where they stood.
            at = (id(frame.f_code), frame.f_lasti)
            if thread == self._thread or self._of_no_use.get(thread) == at:
                continue
            stack = read(frame, self._asked.of_user, self._markers)
            if stack.doing == "input" or (stack.users is not None and stack.doing is None):
                return stack
            self._of_no_use[thread] = at
        return None

    def _too_late(self, late: float) -> bool:
        return late > max(_LATE * sys.getswitchinterval(), _LEAST_LATE)

    def _add_unseen(self, stack: Stack, seconds: float, own: float | None) -> None:
        busy = own is not None and own >= _AT_WORK
        self._unseen_busy += seconds if busy else 0.0
        self._unseen.add(stack, "interpreter" if busy else "idle", seconds, seconds)

    def _never_seen(self) -> Activity | None:
        """A cell that kept the interpreter's lock until its end, so that nobody could look."""
        now, began = real_time.perf_counter(), self._last
        seconds = now - began.now
        if not self._too_late(now - self._due) or began.thread is None:
            return None
        own = real_time.thread_time() - began.thread
        return Activity(
            seconds=seconds,
            looks=0,
            parts=(),
            unseen=seconds,
            unseen_busy=seconds if own >= _AT_WORK * seconds else 0.0,
            thread_time=own,
            process_time=real_time.process_time() - began.process,
            cores=counters.cores(),
        )

    def _activity(self, begun: _Begun) -> Activity:
        first, last = begun.counters, counters.read(begun.clock, begun.task)
        whole = last.process_time - first.process_time
        busy = _grown(last.machine_busy, first.machine_busy)
        retries = _grown(self._asked.retries(), begun.retries)
        swapped = _grown(last.swapped_in, first.swapped_in)
        return Activity(
            seconds=real_time.perf_counter() - begun.at,
            looks=self._seen.count,
            parts=self._seen.parts(),
            unseen=self._unseen.seconds,
            unseen_busy=self._unseen_busy,
            unseen_in=self._unseen.parts(),
            thread_time=_grown(last.thread_time, first.thread_time),
            process_time=whole,
            children_time=last.children_time - first.children_time,
            processor_wait=_grown(last.processor_wait, first.processor_wait),
            processor_waits=None if self._waits is None else _grown(counters.processor_waits(), self._waits),
            others_time=None if busy is None else max(0.0, busy - whole),
            cores=counters.cores(),
            memory_stall=_grown(last.memory_stall, first.memory_stall),
            swapped=None if swapped is None else round(swapped),
            gpus=self._asked.gpus(begun.since),
            gpu_others=self._asked.gpu_others(begun.since),
            allocator_retries=None if retries is None else round(retries),
            called_back=self._called_back,
        )


def state_of(own: float | None, asked: float, *, running: bool, went_on: float | None) -> State:
    """How a thread worked.

    `own` is the part of the time since the last look for which it had a processor, `asked` how many switch
    intervals late the look came; `running`: it ran on while the lock was ours, and `went_on` is the part of
    that moment for which it had a processor. None: not known.
    """
    if running:
        return "native" if went_on is not None and went_on > _WENT_ON else "no processor"
    if own is not None and own < _AT_WORK:
        return "idle"
    if own is None or asked < _KEPT:
        return "short calls"
    return "interpreter" if asked >= _ASKED else "kept lock"


def _of_other_thread(stack: Stack, others: float, late: float, idle: State) -> State:
    """How a thread worked whose own clock was not read: by the time of all but the cell's."""
    if stack.doing is not None:
        return idle
    if others < _AT_WORK:
        return "idle"
    return "interpreter" if late >= _ASKED * sys.getswitchinterval() else "short calls"


def _part(after: float | None, before: float | None, seconds: float) -> float | None:
    """The part of some seconds that a clock went on; None where that is not known."""
    return None if after is None or before is None or seconds <= 0 else (after - before) / seconds


def _grown(last: float | None, first: float | None) -> float | None:
    return None if last is None or first is None else max(0.0, last - first)
