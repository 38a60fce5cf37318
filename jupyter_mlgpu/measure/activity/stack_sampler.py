"""Samples the stack of a cell's thread from the sampler's thread, 20 to 50 times a second.

The sampler must wait for the GIL like any thread. Python code releases it 5 ms after a request
(`sys.getswitchinterval()`). A sample that came later than a few of these intervals says nothing about the
time before it, and that time counts as unsampled.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from types import FrameType
from typing import NamedTuple

from jupyter_mlgpu.measure.activity import counters
from jupyter_mlgpu.measure.activity.activity import Activity, State
from jupyter_mlgpu.measure.activity.cell_samples import CellSamples
from jupyter_mlgpu.measure.activity.code_end import CodeEnd, activity_of_unsampled_cell
from jupyter_mlgpu.measure.activity.counters import Counters, count_growth, growth
from jupyter_mlgpu.measure.activity.external_readers import ExternalReaders
from jupyter_mlgpu.measure.activity.gil_wait import GilWaitEstimator
from jupyter_mlgpu.measure.activity.gpu_users import GpuUsers
from jupyter_mlgpu.measure.activity.markers import Markers
from jupyter_mlgpu.measure.activity.native_callbacks import NativeCallbackDetector
from jupyter_mlgpu.measure.activity.other_threads import OtherThreads
from jupyter_mlgpu.measure.activity.sampled_thread import SampledThread, ThreadMoment, part
from jupyter_mlgpu.measure.activity.sampling_interval import AFTER, LONGEST, SamplingInterval
from jupyter_mlgpu.measure.activity.stack import FramesOfOtherThreads, read
from jupyter_mlgpu.measure.activity.states import AT_WORK, ELSEWHERE, STOPPED, state_of_other_thread
from jupyter_mlgpu.measure.activity.thread_state import is_traced, is_traced_in_all_threads
from jupyter_mlgpu.measure.frameworks.base import Compiled
from jupyter_mlgpu.measure.probes.sampler import Sampler
from jupyter_mlgpu.measure.uninterrupted import Uninterrupted
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.strip import HostLane

#: Switch intervals, and seconds at least, that a sample may be late and still stand for the time before it.
_LATE, _LEAST_LATE = 3, 0.015
#: A cell of Python alone may have this part of its samples in short calls or without a CPU.
_IN_PYTHON = 0.1
#: Seconds that the first sample may come early: shorter preparations then delay no sample.
_EARLY = 0.005
#: Seconds to wait, at the cell's end, for a sample in progress.
_PATIENCE = 0.5


class _FirstSample(NamedTuple):
    """The first sample: the open clocks of the thread, its time (`since`: in s, Unix), and the counters."""

    thread: SampledThread
    at: float
    since: float
    counters: Counters
    retries: int | None
    compiled: Compiled | None


class StackSampler:
    """Samples the thread that makes it, from `starts` until `finish`.

    It is made a little earlier, because that wakes the sampler's thread. The folder's README.md shows what
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
        self._traced = is_traced()
        self._waits: float | None = None
        self._gpu_users = GpuUsers(readers)
        self._others = OtherThreads(self._thread, readers.of_user, markers)
        self._first_sample: _FirstSample | None = None
        self._has_started = False
        self._stamp()
        self._samples = CellSamples(self._last.now)
        # The time at which the sampler should wake up. A sample's delay is measured from it.
        self._due = self._last.now + AFTER
        self._interval = SamplingInterval()
        self._ended = False
        self._code_end: CodeEnd | None = None
        self._stop = sampler.add(self._sample, LONGEST, AFTER)

    def starts(self) -> None:
        """Note that the code begins now: work before that, such as first readings, is not the cell's."""
        with self._lock:
            self._stamp()
            self._samples.code_began = self._last.now
            self._has_started = True

    def _stamp(self) -> None:
        # If a cell keeps the GIL from its beginning, its time counts from here.
        self._last = ThreadMoment(real_time.perf_counter(), real_time.thread_time())
        self._last_process_time = real_time.process_time()

    def lane_so_far(self) -> HostLane | None:
        """Return the CPU's lane of the strip until now, None at a cell's beginning.

        Called on the sampler's thread.
        """
        if not self._has_started or not self._samples.sampled.count:
            return None
        return self._samples.lane(real_time.perf_counter())

    def code_may_end(self) -> None:
        """Keep a copy of the samples until now: an exception that may end the code is about to be shown."""
        self._code_end = None
        with Uninterrupted():
            if self._lock.acquire(timeout=_PATIENCE):
                try:
                    self._code_end = self._now(self._first_sample)
                finally:
                    self._lock.release()

    def finish(self, *, code_ended: bool = False) -> Activity | None:
        """Return the activity, None if the cell was too short for a sample or if sampling failed.

        `code_ended`: the code ended at the last `code_may_end`, and what came later is not the cell's.
        """
        self._traced = self._traced or is_traced()
        failed = self._stop()
        with Uninterrupted():  # else the lock might stay locked, and the sampler's thread would hang
            if not self._lock.acquire(timeout=_PATIENCE):
                return None
            self._ended = True
            self._lock.release()
        first_sample, self._first_sample = self._first_sample, None
        try:
            if failed is not None:
                return None
            end = self._code_end if code_ended else None
            return self._until(first_sample, end or self._now(first_sample))
        finally:
            if first_sample is not None:
                first_sample.thread.close()
                self._native_callbacks.close()

    def _now(self, first_sample: _FirstSample | None) -> CodeEnd:
        """Return the samples and counters until now. Called on the cell's own thread."""
        at = ThreadMoment(real_time.perf_counter(), real_time.thread_time())
        return CodeEnd(
            at,
            real_time.process_time(),
            self._last,
            self._last_process_time,
            None
            if first_sample is None
            else counters.read(first_sample.thread.clock, first_sample.thread.waits),
            self._samples.sampled.copy(),
            self._samples.unsampled.copy(),
            self._samples.unsampled_busy,
            self._samples.lane(at.now),
            self._samples.lines(at.now),
        )

    def _until(self, first_sample: _FirstSample | None, end: CodeEnd) -> Activity | None:
        if first_sample is not None and end.counters is not None:
            return self._activity(first_sample, end, end.counters) if end.has_samples else None
        late = end.at.now - end.last.now - AFTER
        return activity_of_unsampled_cell(end, traced=self._traced) if self._too_late(late) else None

    def _sample(self) -> float | None:
        with self._lock:
            if self._ended:
                return None
            if self._first_sample is None:
                now = real_time.perf_counter()
                too_early = self._last.now + AFTER - now if self._has_started else AFTER
                if too_early > _EARLY:
                    self._due = now + too_early
                    return too_early
                self._first_sample = self._begin()
            else:
                before = real_time.thread_time()
                state = self._sample_thread(self._first_sample.thread)
                self._interval.charge(real_time.thread_time() - before, stopped=state in STOPPED)
                if state in ELSEWHERE:  # amid Python code, the sampler would have to wait for the GIL again
                    elapsed = real_time.perf_counter() - self._first_sample.at
                    self._gpu_users.ask(elapsed, self._first_sample.since)
            now = real_time.perf_counter()
            wait = self._interval.wait(now - self._first_sample.at)
            self._due = now + wait
            return wait

    def _begin(self) -> _FirstSample:
        """Take the first sample. Its cost does not grow with the cell."""
        began, thread = self._last, SampledThread(self._thread, self._task)
        self._markers.refresh()
        self._native_callbacks.ask()
        if self._too_late(thread.began.now - self._due):
            # The cell has kept the GIL from its first moment on.
            at = began.now
            with FramesOfOtherThreads() as frames:
                stack = read(frames.get(self._thread), self._readers.of_user, self._markers)
            self._samples.add_unsampled(stack, thread.began.now - at, busy=_busy(part(began, thread.began)))
            first_counters = counters.read(thread.clock, thread.waits)._replace(
                thread_time=began.cpu_time, process_time=self._last_process_time
            )
            self._last, self._last_process_time = thread.moment(), real_time.process_time()
        else:
            self._sample_thread(thread, thread.began)
            at, first_counters = thread.began.now, counters.read(thread.clock, thread.waits)
        since = real_time.time() - (real_time.perf_counter() - at)
        return _FirstSample(
            thread, at, since, first_counters, self._readers.retries(), self._readers.compiled()
        )

    def _sample_thread(self, thread: SampledThread, now: ThreadMoment | None = None) -> State:
        with FramesOfOtherThreads() as frames:
            state = self._sample_with_gil(frames, thread, now or thread.moment())
        if state == "idle beside others":
            self._native_callbacks.ask()
            if self._waits is None:  # once a cell: it takes some milliseconds, in which the GIL is free
                before = real_time.thread_time()
                self._waits = counters.processor_waits()
                self._interval.refund(real_time.thread_time() - before)
        return state

    def _sample_with_gil(
        self, frames: Mapping[int, FrameType], sampled_thread: SampledThread, now: ThreadMoment
    ) -> State:
        """Take a sample without releasing the GIL: no frame ends meanwhile. Returns the thread's state."""
        stack = read(frames.get(self._thread), self._readers.of_user, self._markers)
        seconds, late = now.now - self._last.now, max(0.0, now.now - self._due)
        self._traced = self._traced or is_traced_in_all_threads()
        gil_wait = self._gil_wait.estimate(late)
        kept_by_native = self._native_callbacks.ran_python(gil_wait)
        cpu_share, process_time = part(self._last, now), real_time.process_time()
        others = (process_time - self._last_process_time) / seconds - (cpu_share or 0.0)
        self._last, self._last_process_time = now, process_time
        state = sampled_thread.state(now, cpu_share, gil_wait / sys.getswitchinterval(), others)
        if self._too_late(late):
            self._samples.add_unsampled(stack, late, busy=_busy(cpu_share))
            seconds -= late
            if seconds <= 0:
                return state
        thread, final_state = False, state
        if state == "idle":
            if others >= AT_WORK:
                state = "idle beside others"
            final_state = state
            found = self._others.at_work_for_the_cell(frames)
            if found is not None:
                stack, thread = found, True
                final_state = state_of_other_thread(stack, others, gil_wait / sys.getswitchinterval(), state)
            elif kept_by_native and state == "idle beside others":
                final_state = "idle beside Python"
        until = now.now - (late if self._too_late(late) else 0.0)
        waited = sampled_thread.waited(final_state, seconds, cpu_share)
        self._samples.add(stack, final_state, seconds, late, until, thread=thread, waited=waited)
        return state

    def _too_late(self, late: float) -> bool:
        return late > max(_LATE * sys.getswitchinterval(), _LEAST_LATE)

    def _may_have_used_a_gpu(self) -> bool:
        """Return False for a cell of Python alone, to save the driver's milliseconds."""
        return self._samples.sampled.share({*ELSEWHERE, "short calls"}) > _IN_PYTHON

    def _activity(self, first_sample: _FirstSample, end: CodeEnd, last: Counters) -> Activity:
        first = first_sample.counters
        process_time = last.process_time - first.process_time
        busy = growth(last.machine_busy, first.machine_busy)
        use = self._gpu_users.at_the_end(first_sample.since, used=self._may_have_used_a_gpu())
        compiled = _since(first_sample.compiled, self._readers.compiled())
        return Activity(
            seconds=end.at.now - first_sample.at,
            samples=end.sampled.count,
            parts=end.sampled.parts(),
            unsampled=end.unsampled.seconds,
            unsampled_busy=end.unsampled_busy,
            unsampled_in=end.unsampled.parts(),
            thread_time=growth(last.thread_time, first.thread_time),
            process_time=process_time,
            children_time=last.children_time - first.children_time,
            processor_wait=growth(last.processor_wait, first.processor_wait),
            processor_waits=None if self._waits is None else growth(counters.processor_waits(), self._waits),
            others_time=None if busy is None else max(0.0, busy - process_time),
            cores=counters.cores(),
            memory_stall=growth(last.memory_stall, first.memory_stall),
            swapped=count_growth(last.swapped_in, first.swapped_in),
            major_faults=count_growth(last.major_faults, first.major_faults),
            gpus=use.gpus,
            gpu_others=use.others,
            gpu_neighbours=use.neighbours,
            allocator_retries=count_growth(self._readers.retries(), first_sample.retries),
            compile_time=None if compiled is None else compiled.seconds,
            compiled=None if compiled is None else compiled.programs,
            first_runs=0.0 if compiled is None else compiled.first_runs,
            called_back=self._native_callbacks.called_back,
            traced=self._traced,
            lane=end.lane,
            lane_lines=end.lane_lines,
        )


def _busy(cpu_share: float | None) -> bool:
    """Return True if a thread worked that used this part of a time on a CPU; None is unknown."""
    return cpu_share is not None and cpu_share >= AT_WORK


def _since(first: Compiled | None, last: Compiled | None) -> Compiled | None:
    """Return what was compiled meanwhile. A framework imported meanwhile started at zero."""
    return None if last is None else last.since(first or Compiled(0.0, 0))
