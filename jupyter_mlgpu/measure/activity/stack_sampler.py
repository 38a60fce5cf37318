"""Looking at a cell from the sampler's thread, at the `pace` of 20 to 50 looks a second.

Who looks must wait for the interpreter's lock like any thread. Python code gives it up 5 ms after it was
asked to (`sys.getswitchinterval()`); so a look that came later than a few of these saw nothing of what
happened meanwhile, and that time counts as not seen.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from types import FrameType
from typing import NamedTuple

from jupyter_mlgpu.measure.activity import counters, tracing
from jupyter_mlgpu.measure.activity.activity import Activity, State
from jupyter_mlgpu.measure.activity.cell_samples import CellSamples
from jupyter_mlgpu.measure.activity.code_end import CodeEnd, never_seen
from jupyter_mlgpu.measure.activity.counters import Counters, grown, more
from jupyter_mlgpu.measure.activity.external_readers import ExternalReaders
from jupyter_mlgpu.measure.activity.gil_wait import GilWaitEstimator
from jupyter_mlgpu.measure.activity.gpu_users import GpuUsers
from jupyter_mlgpu.measure.activity.markers import Markers
from jupyter_mlgpu.measure.activity.native_callbacks import NativeCallbackDetector
from jupyter_mlgpu.measure.activity.other_threads import OtherThreads
from jupyter_mlgpu.measure.activity.sampling_interval import AFTER, LONGEST, SamplingInterval
from jupyter_mlgpu.measure.activity.stack import FramesOfOtherThreads, read
from jupyter_mlgpu.measure.activity.states import AT_WORK, ELSEWHERE, STOPPED, of_other_thread
from jupyter_mlgpu.measure.activity.watched_thread import ThreadMoment, WatchedThread, part
from jupyter_mlgpu.measure.frameworks.base import Compiled
from jupyter_mlgpu.measure.probes.sampler import Sampler
from jupyter_mlgpu.measure.uninterrupted import Uninterrupted
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.strip import HostLane

#: Switch intervals, and seconds, that a look may come late, and still has seen what there was.
_LATE, _LEAST_LATE = 3, 0.015
#: The part of its looks that may see a cell of Python alone in a short call, or without a processor.
_IN_PYTHON = 0.1
#: Seconds that the first look may come early: readings that take no longer cost no look more.
_EARLY = 0.005
#: Seconds to wait, at the cell's end, for a look that is under way.
_PATIENCE = 0.5


class _Begun(NamedTuple):
    """What is open while a cell is looked at, and the counters when that began, in seconds since 1970."""

    thread: WatchedThread
    at: float
    since: float
    counters: Counters
    retries: int | None
    compiled: Compiled | None


class StackSampler:
    """A watch over the thread that makes it, from `starts` until `finish`.

    It is made a little earlier, for that wakes the sampler's thread up. The folder's README.md shows what
    happens in between, and which thread writes which attribute.
    """

    def __init__(
        self, sampler: Sampler, markers: Markers, gil_wait: GilWaitEstimator, readers: ExternalReaders
    ) -> None:
        self._thread, self._task = threading.get_ident(), threading.get_native_id()
        self._markers = markers
        self._gil_wait = gil_wait
        self._readers = readers
        self._lock = threading.Lock()
        self._native_callbacks = NativeCallbackDetector(readers.called_back)
        self._traced = tracing.is_on()
        self._waits: float | None = None
        self._gpu_users = GpuUsers(readers)
        self._others = OtherThreads(self._thread, readers.of_user, markers)
        self._begun: _Begun | None = None
        self._has_started = False
        self._stamp()
        self._samples = CellSamples(self._last.now)
        # When the sampler is to wake up: a look's lateness is measured from there.
        self._due = self._last.now + AFTER
        self._interval = SamplingInterval()
        self._ended = False
        self._code_end: CodeEnd | None = None
        self._stop = sampler.add(self._sample, LONGEST, AFTER)

    def starts(self) -> None:
        """The code begins now: what was done before, such as taking first readings, is no part of it."""
        with self._lock:
            self._stamp()
            self._samples.code_began = self._last.now
            self._has_started = True

    def _stamp(self) -> None:
        # What a cell did that keeps the lock from its first moment on is known from here.
        self._last = ThreadMoment(real_time.perf_counter(), real_time.thread_time())
        self._last_of_all = real_time.process_time()

    def lane_so_far(self) -> HostLane | None:
        """The CPU's lane of the strip until now, for the sampler's thread; None in a cell's first moments."""
        if not self._has_started or not self._samples.seen.count:
            return None
        return self._samples.lane(real_time.perf_counter())

    def code_may_end(self) -> None:
        """Keep what was seen until now: an exception that may end the code is about to be shown."""
        self._code_end = None
        with Uninterrupted():
            if self._lock.acquire(timeout=_PATIENCE):
                try:
                    self._code_end = self._now(self._begun)
                finally:
                    self._lock.release()

    def finish(self, *, code_ended: bool = False) -> Activity | None:
        """What was seen; None where the cell was too short to be looked at, or looking failed.

        `code_ended`: the code ended at the last `code_may_end`, and what came later is not the cell's.
        """
        self._traced = self._traced or tracing.is_on()
        failed = self._stop()
        with Uninterrupted():  # else the lock might stay taken, and the sampler's thread would stand still
            if not self._lock.acquire(timeout=_PATIENCE):
                return None
            self._ended = True
            self._lock.release()
        begun, self._begun = self._begun, None
        try:
            if failed is not None:
                return None
            end = self._code_end if code_ended else None
            return self._until(begun, end or self._now(begun))
        finally:
            if begun is not None:
                begun.thread.close()
                self._native_callbacks.close()

    def _now(self, begun: _Begun | None) -> CodeEnd:
        """What was seen until now; for the cell's own thread."""
        at = ThreadMoment(real_time.perf_counter(), real_time.thread_time())
        return CodeEnd(
            at,
            real_time.process_time(),
            self._last,
            self._last_of_all,
            None if begun is None else counters.read(begun.thread.clock, begun.thread.waits),
            self._samples.seen.copy(),
            self._samples.unseen.copy(),
            self._samples.unseen_busy,
            self._samples.lane(at.now),
            self._samples.lines(at.now),
        )

    def _until(self, begun: _Begun | None, end: CodeEnd) -> Activity | None:
        if begun is not None and end.counters is not None:
            return self._activity(begun, end, end.counters) if end.has_samples else None
        late = end.at.now - end.last.now - AFTER
        return never_seen(end, traced=self._traced) if self._too_late(late) else None

    def _sample(self) -> float | None:
        with self._lock:
            if self._ended:
                return None
            if self._begun is None:
                now = real_time.perf_counter()
                too_early = self._last.now + AFTER - now if self._has_started else AFTER
                if too_early > _EARLY:
                    self._due = now + too_early
                    return too_early
                self._begun = self._begin()
            else:
                before = real_time.thread_time()
                state = self._see(self._begun.thread)
                self._interval.charge(real_time.thread_time() - before, stopped=state in STOPPED)
                if state in ELSEWHERE:  # asked for in Python code, the lock would have to be waited for again
                    self._gpu_users.ask(real_time.perf_counter() - self._begun.at, self._begun.since)
            now = real_time.perf_counter()
            wait = self._interval.wait(now - self._begun.at)
            self._due = now + wait
            return wait

    def _begin(self) -> _Begun:
        """The first look: what it costs does not grow with the cell."""
        began, thread = self._last, WatchedThread(self._thread, self._task)
        self._markers.refresh()
        self._native_callbacks.ask()
        if self._too_late(thread.began.now - self._due):
            # The lock was not to be had from the cell's first moment on.
            at = began.now
            with FramesOfOtherThreads() as frames:
                stack = read(frames.get(self._thread), self._readers.of_user, self._markers)
            self._samples.add_unseen(stack, thread.began.now - at, busy=_busy(part(began, thread.began)))
            found = counters.read(thread.clock, thread.waits)._replace(
                thread_time=began.own, process_time=self._last_of_all
            )
            self._last, self._last_of_all = thread.moment(), real_time.process_time()
        else:
            self._see(thread, thread.began)
            at, found = thread.began.now, counters.read(thread.clock, thread.waits)
        since = real_time.time() - (real_time.perf_counter() - at)
        return _Begun(thread, at, since, found, self._readers.retries(), self._readers.compiled())

    def _see(self, thread: WatchedThread, now: ThreadMoment | None = None) -> State:
        with FramesOfOtherThreads() as frames:
            state = self._see_in(frames, thread, now or thread.moment())
        if state == "idle beside others":
            self._native_callbacks.ask()
            if self._waits is None:  # once a cell, some milliseconds, in which the lock is free
                before = real_time.thread_time()
                self._waits = counters.processor_waits()
                self._interval.refund(real_time.thread_time() - before)
        return state

    def _see_in(self, frames: Mapping[int, FrameType], watched: WatchedThread, now: ThreadMoment) -> State:
        """A look that keeps the interpreter's lock, so no frame ends meanwhile: how the thread worked."""
        stack = read(frames.get(self._thread), self._readers.of_user, self._markers)
        seconds, late = now.now - self._last.now, max(0.0, now.now - self._due)
        self._traced = self._traced or tracing.is_on_in_all()
        readers = self._gil_wait.estimate(late)
        kept_by_native = self._native_callbacks.ran_python(readers)
        own, whole = part(self._last, now), real_time.process_time()
        others = (whole - self._last_of_all) / seconds - (own or 0.0)
        self._last, self._last_of_all = now, whole
        state = watched.state(now, own, readers / sys.getswitchinterval(), others)
        if self._too_late(late):
            self._samples.add_unseen(stack, late, busy=_busy(own))
            seconds -= late
            if seconds <= 0:
                return state
        thread, seen = False, state
        if state == "idle":
            if others >= AT_WORK:
                state = "idle beside others"
            seen = state
            found = self._others.at_work_for_the_cell(frames)
            if found is not None:
                stack, thread = found, True
                seen = of_other_thread(stack, others, readers / sys.getswitchinterval(), state)
            elif kept_by_native and state == "idle beside others":
                seen = "idle beside Python"
        until = now.now - (late if self._too_late(late) else 0.0)
        waited = watched.waited(seen, seconds, own)
        self._samples.add(stack, seen, seconds, late, until, thread=thread, waited=waited)
        return state

    def _too_late(self, late: float) -> bool:
        return late > max(_LATE * sys.getswitchinterval(), _LEAST_LATE)

    def _may_have_used_a_gpu(self) -> bool:
        """Whether the thread was seen elsewhere than in Python's own work: the driver takes milliseconds."""
        return self._samples.seen.share({*ELSEWHERE, "short calls"}) > _IN_PYTHON

    def _activity(self, begun: _Begun, end: CodeEnd, last: Counters) -> Activity:
        first = begun.counters
        whole = last.process_time - first.process_time
        busy = grown(last.machine_busy, first.machine_busy)
        use = self._gpu_users.at_the_end(begun.since, used=self._may_have_used_a_gpu())
        compiled = _since(begun.compiled, self._readers.compiled())
        return Activity(
            seconds=end.at.now - begun.at,
            samples=end.seen.count,
            parts=end.seen.parts(),
            unseen=end.unseen.seconds,
            unseen_busy=end.unseen_busy,
            unseen_in=end.unseen.parts(),
            thread_time=grown(last.thread_time, first.thread_time),
            process_time=whole,
            children_time=last.children_time - first.children_time,
            processor_wait=grown(last.processor_wait, first.processor_wait),
            processor_waits=None if self._waits is None else grown(counters.processor_waits(), self._waits),
            others_time=None if busy is None else max(0.0, busy - whole),
            cores=counters.cores(),
            memory_stall=grown(last.memory_stall, first.memory_stall),
            swapped=more(last.swapped_in, first.swapped_in),
            major_faults=more(last.major_faults, first.major_faults),
            gpus=use.gpus,
            gpu_others=use.others,
            gpu_neighbours=use.neighbours,
            allocator_retries=more(self._readers.retries(), begun.retries),
            compile_time=None if compiled is None else compiled.seconds,
            compiled=None if compiled is None else compiled.programs,
            first_runs=0.0 if compiled is None else compiled.first_runs,
            called_back=self._native_callbacks.called_back,
            traced=self._traced,
            lane=end.lane,
            lane_lines=end.lane_lines,
        )


def _busy(own: float | None) -> bool:
    """Whether a thread worked that had a processor for this part of a time; None: not known."""
    return own is not None and own >= AT_WORK


def _since(first: Compiled | None, last: Compiled | None) -> Compiled | None:
    """What was compiled meanwhile; a framework that came meanwhile has begun at nothing."""
    return None if last is None else last.since(first or Compiled(0.0, 0))
