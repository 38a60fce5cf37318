"""The sampler: the only thread that reads counters periodically, each with an interval of its own.

It lives as long as there is something to sample: while a cell runs or live counters are shown. It ends a few
seconds later, so that the next cell mostly need not wait for a thread to start.
What is expensive is sampled less often: all samples of one kind take at most `SHARE` of a core. This counts
CPU time and not waiting, because a sample also waits for the cell's Python.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from operator import attrgetter

from jupyter_mlgpu.measure.uninterrupted import Uninterrupted
from jupyter_mlgpu.measure.wake_event import WakeEvent
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.reading import OPERATING_SYSTEM, Reading
from jupyter_mlgpu.record.sentence import say

INTERVAL = 0.05
#: The largest part of one core that sampling one thing may take.
SHARE = 0.02
NAME = "jupyter_mlgpu-sampler"
#: Seconds that the thread stays alive with nothing to sample.
LINGER = 5.0

#: Ends the sampling. A sample in progress may still finish. Returns the error of a sample, if any.
Stop = Callable[[], Exception | None]


#: Takes a sample and returns the seconds until the next one; None: the usual interval.
Sample = Callable[[], float | None]


class Sampler:
    """One thread for everything that is sampled."""

    def __init__(self, linger: float = LINGER) -> None:
        self._linger = linger
        self._lock = threading.Lock()
        self._changed = WakeEvent()
        self._jobs: list[_Job] = []
        self._thread: threading.Thread | None = None

    def add(self, sample: Sample, every: float, after: float = 0.0, early: float = 0.0) -> Stop:
        """Call `sample` on the thread, `after` seconds from now and then every `every` seconds.

        If a sample returns a number, the next one comes after so many seconds instead. It comes up to `early`
        seconds earlier if the thread is awake for another sample: waking up is the most expensive part. The
        returned function ends the sampling. A sample that raises is not repeated.
        """
        job = _Job(sample, every, after, early)
        with Uninterrupted(), self._lock:  # a Ctrl-C at the start of a thread could keep it from running
            self._jobs.append(job)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=NAME, daemon=True)
                self._thread.start()
            else:
                self._changed.set()

        def stop() -> Exception | None:
            with self._lock:
                self._remove(job)
                if not self._jobs:
                    self._changed.set()  # the thread must wake up to begin its last wait
            return job.error

        return stop

    def close(self) -> None:
        """End the thread now if there is nothing to sample. Waits for it, but not for a sample that hangs."""
        with self._lock:
            self._linger = 0.0
            thread = self._thread
            self._changed.set()
        if thread is not None and not self._jobs:
            thread.join(1.0)

    def _remove(self, job: _Job) -> None:
        job.removed = True
        if job in self._jobs:
            self._jobs.remove(job)

    def _run(self) -> None:
        while (job := self._next()) is not None:
            begun, worked = real_time.perf_counter(), real_time.thread_time()
            wait = None
            try:
                wait = job.sample()
            except Exception as error:
                job.error = error
                with self._lock:
                    self._remove(job)
            worked = real_time.thread_time() - worked
            now = real_time.perf_counter()
            # A sample that returns its next interval keeps to a share of its own.
            job.due = (
                now + wait if wait is not None else max(job.due + job.every, now, begun + worked / SHARE)
            )

    def _next(self) -> _Job | None:
        """Wait until a job is due and return it; None if there have been none for a while."""
        lingered = slept = False
        while True:
            with self._lock:
                job = min(self._jobs, key=_DUE, default=None)
                if job is None and lingered:
                    self._thread = None  # the next job starts another
                    return None
                now = real_time.perf_counter()
                # Due jobs come first, or samples that take longer than their interval would be the only ones.
                if not slept and job is not None and job.due > now:
                    job = next((other for other in self._jobs if other.due - other.early <= now), job)
            wait = self._linger if job is None else job.due - now
            if job is not None and wait <= (0.0 if slept else job.early):
                return job
            changed = self._changed.wait(wait)
            # Nothing has changed, so that job is due. Searching again would be slow right after waking up.
            if job is not None and not changed and not job.removed:
                return job
            lingered, slept = job is None and not changed, True


class _Job:
    def __init__(self, sample: Sample, every: float, after: float, early: float) -> None:
        self.sample = sample
        self.every = every
        self.early = early
        self.due = real_time.perf_counter() + after
        self.error: Exception | None = None
        self.removed = False


_DUE = attrgetter("due")


class SampledPeak:
    """The largest resident set, in bytes, of samples every `INTERVAL` seconds.

    Used if the operating system has no peak that can be reset (macOS). A peak between two samples is missed;
    the reading has the number of samples.
    """

    quantity = "peak_memory_process"
    detail = say("psutil resident set, every {interval} ms", interval=f"{INTERVAL * 1000:.0f}")

    def __init__(self, sampler: Sampler) -> None:
        self._sampler = sampler

    def start(self) -> Callable[[], Reading]:
        """Begin. Returns a function that ends the measurement and returns the reading."""
        samples = _PeakSamples()
        end = self._sampler.add(samples.sample, INTERVAL)

        def stop() -> Reading:
            end()
            samples.sample()
            return Reading(
                self.quantity,
                samples.peak,
                "bytes",
                "process",
                OPERATING_SYSTEM,
                samples.samples,
                detail=self.detail,
            )

        samples.sample()
        return stop


class _PeakSamples:
    def __init__(self) -> None:
        self.peak = 0
        self.samples = 0
        import psutil  # takes 20 ms, so a kernel that never samples does not import it

        self._process = psutil.Process()

    def sample(self) -> None:
        self.peak = max(self.peak, self._process.memory_info().rss)
        self.samples += 1
