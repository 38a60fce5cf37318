"""Samples the stack of a cell's thread from the sampler's thread, 20 to 50 times a second.

The sampler must wait for the GIL like any thread. Python code releases it 5 ms after a request
(`sys.getswitchinterval()`). If a sample is taken more than three of these intervals after it was due, its
stack says nothing about the delay, and the delay counts as unsampled time.
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
from jupyter_mlgpu.measure.activity.sampling_interval import (
    FIRST_SAMPLE_AFTER,
    LONGEST_INTERVAL,
    SamplingInterval,
)
from jupyter_mlgpu.measure.activity.stack import read
from jupyter_mlgpu.measure.activity.states import (
    PAUSED_BY_SAMPLES,
    WITHOUT_GIL,
    WORKING,
    state_of_other_thread,
)
from jupyter_mlgpu.measure.activity.thread_state import is_traced, is_traced_in_all_threads
from jupyter_mlgpu.measure.frameworks.base import Compiled
from jupyter_mlgpu.measure.probes.sampler import Sampler
from jupyter_mlgpu.measure.uninterrupted import Uninterrupted
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.other_threads import FramesOfOtherThreads
from jupyter_mlgpu.record.strip import HostLane

#: A sample whose sampling delay exceeds both this many switch intervals and this many seconds does not
#: represent the time of that delay.
_DELAY_INTERVALS, _DELAY_S = 3, 0.015
#: A cell counts as Python alone if at most this share of its samples is in native code, idle, or in short
#: calls.
_OUTSIDE_PYTHON = 0.1
#: Seconds that the first sample may be taken early. If preparing the cell took no longer than this, the
#: sampler need not wait a second time.
_EARLY_S = 0.005
#: Seconds to wait for the lock, which is held during a sample.
_LOCK_TIMEOUT_S = 0.5


class _FirstSample(NamedTuple):
    """The first sample of a cell, to which the end of the cell is compared.

    Attributes:
        thread: the cell's thread, with its open clocks.
        at: the time from which the sampled time counts, in seconds of `perf_counter`.
        since: the same time in seconds since 1970.
        counters: the counters at that time.
        retries: how often the frameworks' allocators had retried; None if unknown.
        compiled: what the frameworks had compiled; None if unknown.
    """

    thread: SampledThread
    at: float
    since: float
    counters: Counters
    retries: int | None
    compiled: Compiled | None


class StackSampler:
    """Samples the thread in which it is created, from `starts` until `finish`.

    It is created a little before `starts`, because creating it wakes the sampler's thread. The folder's
    README.md shows what happens from then until `finish`, and which thread writes which attribute.
    """

    def __init__(
        self, sampler: Sampler, markers: Markers, gil_wait: GilWaitEstimator, readers: ExternalReaders
    ) -> None:
        self._thread_id, self._native_thread_id = threading.get_ident(), threading.get_native_id()
        self._markers = markers
        self._gil_wait = gil_wait
        self._readers = readers
        self._lock = threading.Lock()
        self._native_callbacks = NativeCallbackDetector(readers.called_back)
        self._traced = is_traced()
        self._all_cpu_waits: float | None = None
        self._gpu_users = GpuUsers(readers)
        self._other_threads = OtherThreads(self._thread_id, readers.of_user, markers)
        self._first_sample: _FirstSample | None = None
        self._has_started = False
        self._read_clocks()
        self._samples = CellSamples(self._last.now)
        # The time at which the sampler should wake up. A sample's delay is measured from it.
        self._due = self._last.now + FIRST_SAMPLE_AFTER
        self._interval = SamplingInterval()
        self._ended = False
        self._code_end: CodeEnd | None = None
        self._stop = sampler.add(self._sample_if_due, LONGEST_INTERVAL, FIRST_SAMPLE_AFTER)

    def starts(self) -> None:
        """Mark the beginning of the cell's code. Earlier work, such as first readings, is not the cell's."""
        with self._lock:
            self._read_clocks()
            self._samples.code_began = self._last.now
            self._has_started = True

    def _read_clocks(self) -> None:
        # If a cell keeps the GIL from its beginning, its sampled time counts from these clocks.
        self._last = ThreadMoment(real_time.perf_counter(), real_time.thread_time())
        self._last_process_time = real_time.process_time()

    def lane_so_far(self) -> HostLane | None:
        """Return the CPU's lane of the cell's strip up to now.

        Return None if there is no sample yet or if the cell is too short for a strip. Called on the sampler's
        thread.
        """
        if not self._has_started or not self._samples.sampled.count:
            return None
        return self._samples.lane(real_time.perf_counter())

    def code_may_end(self) -> None:
        """Keep a copy of the samples so far, because an exception is about to be shown.

        If the exception ends the code, `finish` uses the copy, and showing the exception does not count.
        """
        self._code_end = None
        with Uninterrupted():
            if self._lock.acquire(timeout=_LOCK_TIMEOUT_S):
                try:
                    self._code_end = self._snapshot(self._first_sample)
                finally:
                    self._lock.release()

    def finish(self, *, code_ended: bool = False) -> Activity | None:
        """Return the activity of the cell.

        Return None if the cell was too short for a sample, if sampling failed, or if a sample in progress did
        not end within half a second. If `code_ended` is true, the code ended at the last `code_may_end`, and
        the activity goes up to that time only.
        """
        self._traced = self._traced or is_traced()
        failed = self._stop()
        # After a Ctrl-C between acquire and release, the sampler's thread would wait for the lock forever.
        with Uninterrupted():
            if not self._lock.acquire(timeout=_LOCK_TIMEOUT_S):
                return None
            self._ended = True
            self._lock.release()
        first_sample, self._first_sample = self._first_sample, None
        try:
            if failed is not None:
                return None
            end = self._code_end if code_ended else None
            return self._result(first_sample, end or self._snapshot(first_sample))
        finally:
            if first_sample is not None:
                first_sample.thread.close()
                self._native_callbacks.close()

    def _snapshot(self, first_sample: _FirstSample | None) -> CodeEnd:
        """Return the samples and counters up to now. Called on the cell's own thread."""
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

    def _result(self, first_sample: _FirstSample | None, end: CodeEnd) -> Activity | None:
        """Return the activity up to `end`; without samples, from the clocks if the cell kept the GIL."""
        if first_sample is not None and end.counters is not None:
            return self._sampled_activity(first_sample, end, end.counters) if end.has_samples else None
        delay = end.at.now - end.last.now - FIRST_SAMPLE_AFTER
        return activity_of_unsampled_cell(end, traced=self._traced) if _is_too_late(delay) else None

    def _sample_if_due(self) -> float | None:
        """Take a sample on the sampler's thread and return the seconds until the next one.

        After a slow preparation of the cell, the first sample is not due yet; nothing is sampled then.
        """
        with self._lock:
            if self._ended:
                return None
            if self._first_sample is None:
                now = real_time.perf_counter()
                wait = FIRST_SAMPLE_AFTER
                if self._has_started:
                    wait += self._last.now - now
                if wait > _EARLY_S:
                    self._due = now + wait
                    return wait
                self._first_sample = self._take_first_sample()
            else:
                before = real_time.thread_time()
                state = self._take_sample(self._first_sample.thread)
                self._interval.charge(real_time.thread_time() - before, stopped=state in PAUSED_BY_SAMPLES)
                # Asking the driver releases the GIL. If the cell ran Python code, the sampler would have to
                # wait for the GIL again.
                if state in WITHOUT_GIL:
                    elapsed = real_time.perf_counter() - self._first_sample.at
                    self._gpu_users.ask(elapsed, self._first_sample.since)
            now = real_time.perf_counter()
            wait = self._interval.wait(now - self._first_sample.at)
            self._due = now + wait
            return wait

    def _take_first_sample(self) -> _FirstSample:
        """Take the first sample. Its cost is not charged, because it occurs only once in a cell."""
        began, thread = self._last, SampledThread(self._thread_id, self._native_thread_id)
        self._markers.refresh()
        self._native_callbacks.ask()
        if _is_too_late(thread.began.now - self._due):
            # The cell has kept the GIL since its beginning.
            at = began.now
            with FramesOfOtherThreads() as frames:
                stack = read(frames.get(self._thread_id), self._readers.of_user, self._markers)
            self._samples.add_unsampled(
                stack, thread.began.now - at, busy=_was_working(part(began, thread.began))
            )
            first_counters = counters.read(thread.clock, thread.waits)._replace(
                thread_time=began.cpu_time, process_time=self._last_process_time
            )
            self._last, self._last_process_time = thread.moment(), real_time.process_time()
        else:
            self._take_sample(thread, thread.began)
            at, first_counters = thread.began.now, counters.read(thread.clock, thread.waits)
        since = real_time.time() - (real_time.perf_counter() - at)
        return _FirstSample(
            thread, at, since, first_counters, self._readers.retries(), self._readers.compiled()
        )

    def _take_sample(self, thread: SampledThread, moment: ThreadMoment | None = None) -> State:
        """Take a sample that began at `moment`, by default now. Return the state of the cell's thread."""
        with FramesOfOtherThreads() as frames:
            state = self._read_and_count(frames, thread, moment or thread.moment())
        if state == "idle beside others":
            self._native_callbacks.ask()
            # This takes some milliseconds, so it is read once in a cell, while the cell's thread is idle.
            if self._all_cpu_waits is None:
                before = real_time.thread_time()
                self._all_cpu_waits = counters.processor_waits()
                self._interval.refund(real_time.thread_time() - before)
        return state

    def _read_and_count(
        self, frames: Mapping[int, FrameType], sampled_thread: SampledThread, moment: ThreadMoment
    ) -> State:
        """Read the stack and the state of the cell's thread, count the sample, and return the state.

        This keeps the GIL throughout, so that no frame ends while it is read.
        """
        stack = read(frames.get(self._thread_id), self._readers.of_user, self._markers)
        seconds, delay = moment.now - self._last.now, max(0.0, moment.now - self._due)
        self._traced = self._traced or is_traced_in_all_threads()
        gil_wait = self._gil_wait.estimate(delay)
        kept_by_native = self._native_callbacks.ran_python(gil_wait)
        cpu_share, process_time = part(self._last, moment), real_time.process_time()
        others_cpu_share = (process_time - self._last_process_time) / seconds - (cpu_share or 0.0)
        self._last, self._last_process_time = moment, process_time
        gil_wait_intervals = gil_wait / sys.getswitchinterval()
        state = sampled_thread.state(moment, cpu_share, gil_wait_intervals, others_cpu_share)
        until = moment.now
        if _is_too_late(delay):
            self._samples.add_unsampled(stack, delay, busy=_was_working(cpu_share))
            seconds -= delay
            if seconds <= 0:
                return state
            until -= delay
        if state == "idle" and others_cpu_share >= WORKING:
            state = "idle beside others"
        # While the cell's thread is idle, the sample counts for another thread if one works for the cell.
        counted_state, is_other_thread = state, False
        if state in ("idle", "idle beside others"):
            other_stack = self._other_threads.at_work_for_the_cell(frames)
            if other_stack is not None:
                stack, is_other_thread = other_stack, True
                counted_state = state_of_other_thread(stack, others_cpu_share, gil_wait_intervals, state)
            elif kept_by_native and state == "idle beside others":
                counted_state = "idle beside Python"
        waited = sampled_thread.waited(counted_state, seconds, cpu_share)
        self._samples.add(stack, counted_state, seconds, delay, until, thread=is_other_thread, waited=waited)
        return state

    def _may_have_used_a_gpu(self) -> bool:
        """Return False if the cell ran Python code alone.

        Then the driver need not be asked, which takes milliseconds.
        """
        return self._samples.sampled.share({*WITHOUT_GIL, "short calls"}) > _OUTSIDE_PYTHON

    def _sampled_activity(self, first_sample: _FirstSample, end: CodeEnd, last: Counters) -> Activity:
        first = first_sample.counters
        process_time = last.process_time - first.process_time
        machine_busy = growth(last.machine_busy, first.machine_busy)
        use = self._gpu_users.at_the_end(first_sample.since, used=self._may_have_used_a_gpu())
        compiled = _compiled_since(first_sample.compiled, self._readers.compiled())
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
            processor_waits=None
            if self._all_cpu_waits is None
            else growth(counters.processor_waits(), self._all_cpu_waits),
            others_time=None if machine_busy is None else max(0.0, machine_busy - process_time),
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


def _is_too_late(delay: float) -> bool:
    """Return True if a sample with this sampling delay, in seconds, does not represent the delay."""
    return delay > max(_DELAY_INTERVALS * sys.getswitchinterval(), _DELAY_S)


def _was_working(cpu_share: float | None) -> bool:
    """Return True if a thread that was on a CPU for this share of a time was working; None is unknown."""
    return cpu_share is not None and cpu_share >= WORKING


def _compiled_since(first: Compiled | None, last: Compiled | None) -> Compiled | None:
    """Return what was compiled between two readings.

    The first one is None if no framework was imported; then the counts began at zero.
    """
    return None if last is None else last.since(first or Compiled(0.0, 0))
