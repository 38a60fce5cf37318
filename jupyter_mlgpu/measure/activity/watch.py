"""Looking at a cell from the sampler's thread: 20 to 50 times a second, from 50 ms after its start on.

Looks come at irregular moments, so that no loop keeps step with them. Who looks must wait for the interpreter's
lock like any thread. Python code gives it up when it has been asked for `sys.getswitchinterval()`, 5 ms; so a look
that came later than a few of these saw nothing of what happened meanwhile, and that time counts as not seen.
All looks of a cell take at most `SHARE` of it.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping
from types import FrameType
from typing import NamedTuple

from jupyter_mlgpu.measure.activity import counters, thread_state
from jupyter_mlgpu.measure.activity.activity import Activity, Call, Line, Part, State
from jupyter_mlgpu.measure.activity.calls import call_at
from jupyter_mlgpu.measure.activity.counters import Counters, ThreadClock
from jupyter_mlgpu.measure.activity.markers import Markers
from jupyter_mlgpu.measure.activity.stack import OfUser, Place, Stack, read
from jupyter_mlgpu.measure.probes.sampler import Sampler
from jupyter_mlgpu.record.clock import real_time

#: Seconds from a cell's start to the first look: a shorter cell is never looked at.
AFTER = 0.05
#: Seconds from one look to the next, from and to.
SHORTEST, LONGEST = 0.02, 0.05
#: The part of a cell's time that looking at it may take, at most.
SHARE = 0.002
#: Switch intervals that a look may wait for the lock, and still has seen what there was.
_LATE = 3
_LEAST_LATE = 0.015
#: A thread that asks for the lock has it after one interval from code that does not give it up by itself.
_ASKED = 0.8
#: From here on a thread counts as at work: the part of the time for which it had a processor.
_AT_WORK = 0.5
#: The fractional part of the golden ratio: multiples of it spread evenly (Weyl's sequence).
_GOLDEN = 0.6180339887498949

#: By a GPU's label: the part of the time since a moment (seconds since 1970) in which it worked, and the samples.
GpusBusy = Callable[[float], Mapping[str, tuple[float, int]]]


class _Key(NamedTuple):
    state: State
    doing: str | None
    inner: tuple[int, int] | None
    users: tuple[int, int] | None
    thread: bool


class _Seen:
    """Looks that saw the same."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.seconds = 0.0
        self.looks = 0

    def add(self, seconds: float) -> None:
        self.seconds += seconds
        self.looks += 1


class ActivityWatch:
    """A watch over one thread, from now until `finish`."""

    def __init__(
        self,
        sampler: Sampler,
        markers: Markers,
        of_user: OfUser,
        gpus: GpusBusy,
        thread: int | None = None,
    ) -> None:
        self._thread = threading.get_ident() if thread is None else thread
        self._markers = markers
        self._of_user = of_user
        self._gpus = gpus
        self._lock = threading.Lock()
        self._looks = 0
        self._seen: dict[_Key, _Seen] = {}
        self._unseen = self._unseen_busy = 0.0
        self._unseen_in: dict[_Key, _Seen] = {}
        self._first: tuple[float, float, Counters] | None = None
        # What a cell did that kept the lock from its first moment on is known from here.
        self._created = self._last = real_time.perf_counter()
        self._due = self._created + AFTER
        self._worked: tuple[float | None, float] = (
            real_time.thread_time() if thread is None else None,
            real_time.process_time(),
        )
        self._ended = False
        self._own = 0.0
        self._called = 0
        self._stop = sampler.add(self._look, LONGEST, AFTER)

    def finish(self) -> Activity | None:
        """What was seen; None where the cell was too short for two looks, or looking failed."""
        failed = self._stop()
        with self._lock:  # a look that is under way comes to its end
            self._ended = True
        if self._first is None:
            return self._never_seen()
        try:
            if failed is not None or not (self._looks or self._unseen):
                return None
            return self._activity()
        finally:
            self._close()
            self._seen.clear()
            self._unseen_in.clear()

    def _look(self) -> float | None:
        with self._lock:
            if self._ended:
                return None
            if self._first is None:
                self._begin()
            else:
                begun = real_time.thread_time()
                self._see()
                self._own += real_time.thread_time() - begun
            self._called += 1
            wait = SHORTEST + (LONGEST - SHORTEST) * (self._called * _GOLDEN % 1)
            now = real_time.perf_counter()
            assert self._first is not None
            wait = max(wait, self._own / SHARE - (now - self._first[0]))
            self._due = now + wait
            return wait

    def _begin(self) -> None:
        self._markers.refresh()
        self._clock = ThreadClock(self._thread)
        self._task = counters.native_id(self._thread)
        self._running, self._close = thread_state.watching(self._task)
        at = real_time.perf_counter()
        began = self._created if self._too_late(at - self._due) else at
        stack = read(sys._current_frames().get(self._thread), self._of_user, self._markers)
        now = counters.read(self._clock, self._task)
        if began < at:
            own = None if now.thread_time is None or self._worked[0] is None else now.thread_time - self._worked[0]
            self._add_unseen(stack, at - began, own is not None and own >= _AT_WORK * (at - began))
            now = now._replace(thread_time=self._worked[0], process_time=self._worked[1])
        self._first = (began, real_time.time() - (at - began), now)
        self._last = real_time.perf_counter()
        self._worked = (self._clock.read(), real_time.process_time())

    def _never_seen(self) -> Activity | None:
        """A cell that kept the interpreter's lock until its end, so that nobody could look."""
        now = real_time.perf_counter()
        seconds = now - self._created
        if not self._too_late(now - self._due) or self._worked[0] is None:
            return None
        own = real_time.thread_time() - self._worked[0]
        return Activity(
            seconds=seconds,
            looks=0,
            parts=(),
            unseen=seconds,
            unseen_busy=seconds if own >= _AT_WORK * seconds else 0.0,
            thread_time=own,
            process_time=real_time.process_time() - self._worked[1],
            cores=counters.cores(),
        )

    def _too_late(self, late: float) -> bool:
        return late > max(_LATE * sys.getswitchinterval(), _LEAST_LATE)

    def _add_unseen(self, stack: Stack, seconds: float, busy: bool) -> None:
        self._unseen += seconds
        self._unseen_busy += seconds if busy else 0.0
        self._add(self._unseen_in, stack, "interpreter" if busy else "idle", seconds, False)

    def _see(self) -> None:
        now = real_time.perf_counter()
        before = self._clock.read()
        frames = sys._current_frames()
        stack = read(frames.get(self._thread), self._of_user, self._markers)
        seconds, late = now - self._last, max(0.0, now - self._due)
        own = None
        if before is not None and self._worked[0] is not None:
            own = (before - self._worked[0]) / seconds
        state = self._state(own, late, before, now)
        whole = real_time.process_time()
        others = (whole - self._worked[1]) / seconds - (own or 0.0)
        self._last, self._worked = now, (before, whole)
        if state == "idle" and others >= _AT_WORK:
            state = "idle beside others"
        if self._too_late(late):
            self._add_unseen(stack, late, own is not None and own >= _AT_WORK)
            seconds -= late
            if seconds <= 0:
                return
        thread = False
        if state.startswith("idle") and (found := self._elsewhere(frames)) is not None:
            stack, thread = found, True
            if stack.doing is None and others >= _AT_WORK:
                state = "interpreter" if late >= _ASKED * sys.getswitchinterval() else "short calls"
            elif stack.doing is None:
                state = "idle"
        self._looks += 1
        self._add(self._seen, stack, state, seconds, thread)

    def _state(self, own: float | None, late: float, before: float | None, now: float) -> State:
        """How the thread worked since the last look: `own` is the part of the time that it had a processor."""
        if own is not None and own >= _AT_WORK and late >= _ASKED * sys.getswitchinterval():
            return "interpreter"
        if self._running():
            # We hold the lock. Its clock goes on as well, or it only waits for a processor.
            after = self._clock.read()
            went_on = before is not None and after is not None and after - before > 0.3 * (real_time.perf_counter() - now)
            return "native" if went_on else "no processor"
        return "idle" if own is not None and own < _AT_WORK else "short calls"

    def _elsewhere(self, frames: Mapping[int, FrameType]) -> Stack | None:
        """Another thread that gets data ready, or runs code of the user's, while the cell's own one waits."""
        me = threading.get_ident()
        for thread, frame in frames.items():
            # Most threads wait for work; one look at where they do is enough.
            waits = self._markers.doing(frame.f_code.co_filename, frame.f_code.co_name) == "waiting"
            if waits or thread in (me, self._thread):
                continue
            stack = read(frame, self._of_user, self._markers)
            if stack.doing == "input" or (stack.users is not None and stack.doing is None):
                return stack
        return None

    def _add(self, seen: dict[_Key, _Seen], stack: Stack, state: State, seconds: float, thread: bool) -> None:
        key = _Key(state, stack.doing, _of(stack.inner), _of(stack.users), thread)
        if key not in seen:
            seen[key] = _Seen(stack)
        seen[key].add(seconds)

    def _activity(self) -> Activity:
        assert self._first is not None
        began, since, first = self._first
        last = counters.read(self._clock, self._task)
        ended = real_time.perf_counter()
        calls: dict[tuple[int, int], Call | None] = {}

        def called(place: Place | None) -> Call | None:
            key = _of(place)
            if place is None or key is None:
                return None
            if key not in calls:
                calls[key] = call_at(place)
            return calls[key]

        def parts(seen: Mapping[_Key, _Seen]) -> tuple[Part, ...]:
            return tuple(
                Part(
                    state=key.state,
                    seconds=one.seconds,
                    looks=one.looks,
                    doing=one.stack.doing,
                    call=called(one.stack.inner),
                    line=_line(one.stack),
                    line_call=called(one.stack.users),
                    thread=key.thread,
                )
                for key, one in seen.items()
            )

        busy = _difference(last.machine_busy, first.machine_busy)
        whole = last.process_time - first.process_time
        return Activity(
            seconds=ended - began,
            looks=self._looks,
            parts=parts(self._seen),
            unseen=self._unseen,
            unseen_busy=self._unseen_busy,
            unseen_in=parts(self._unseen_in),
            thread_time=_difference(last.thread_time, first.thread_time),
            process_time=whole,
            processor_wait=_difference(last.processor_wait, first.processor_wait),
            others_time=None if busy is None else max(0.0, busy - whole),
            cores=counters.cores(),
            memory_stall=_difference(last.memory_stall, first.memory_stall),
            swapped=None
            if last.swapped_in is None or first.swapped_in is None
            else last.swapped_in - first.swapped_in,
            gpus=self._gpus(since),
        )


def _of(place: Place | None) -> tuple[int, int] | None:
    return None if place is None else (id(place.code), place.instruction)


def _line(stack: Stack) -> Line | None:
    if stack.users is None or stack.users.line < 1:
        return None
    return Line(stack.users.line, stack.cell or None)


def _difference(last: float | None, first: float | None) -> float | None:
    return None if last is None or first is None else max(0.0, last - first)
