"""The sampler: the only thread that reads counters periodically. Each job has its own sampling interval.

The thread runs as long as there is something to sample: while a cell runs or live counters are shown. It ends
a few seconds later, so most cells need not wait for a thread to start.
Expensive samples are taken less often: the samples of one job take at most `SHARE` of a core. A job whose
samples return the time of the next one is exempt, and limits its cost itself. Only CPU time counts, not
waiting, because a sample also waits until the cell's Python code releases the GIL.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from operator import attrgetter

from jupyter_mlgpu.measure.uninterrupted import Uninterrupted
from jupyter_mlgpu.measure.wake_event import WakeEvent
from jupyter_mlgpu.record.clock import real_time

#: Seconds between two samples of peak memory.
INTERVAL = 0.05
#: The largest part of one core that the samples of one job may take, unless they return their own intervals.
SHARE = 0.02
#: The name of the sampler's thread.
NAME = "jupyter_mlgpu-sampler"
#: Seconds that the thread stays alive with nothing to sample.
LINGER = 5.0

#: Ends the sampling. A sample in progress may still finish. Returns the error of a sample, if any.
Stop = Callable[[], Exception | None]


#: Takes a sample. Returns the seconds until the next one, or None for the job's usual interval.
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

        If `sample` returns a number, that is the number of seconds until the next sample. If the thread is
        awake for another job, it takes a sample up to `early` seconds before it is due, because waking up is
        the most expensive part. The returned function ends the sampling. If `sample` raises an error, it is
        not called again.
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
                    self._changed.set()  # wakes the thread, which then waits `linger` seconds for another job
            return job.error

        return stop

    def close(self) -> None:
        """End the thread now if there is nothing to sample, else as soon as there is nothing any more.

        In the first case, wait for its end, but at most for a second: a sample may hang.
        """
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
            began, cpu_time = real_time.perf_counter(), real_time.thread_time()
            wait = None
            try:
                wait = job.sample()
            except Exception as error:
                job.error = error
                with self._lock:
                    self._remove(job)
            cpu_time = real_time.thread_time() - cpu_time
            now = real_time.perf_counter()
            # A job that returns the time of its next sample limits its cost itself.
            job.due = (
                now + wait if wait is not None else max(job.due + job.every, now, began + cpu_time / SHARE)
            )

    def _next(self) -> _Job | None:
        """Wait until a job is due and return it. Return None after `linger` seconds without a job."""
        has_lingered = has_slept = False
        while True:
            with self._lock:
                job = min(self._jobs, key=_DUE, default=None)
                if job is None and has_lingered:
                    self._thread = None  # the next job starts another
                    return None
                now = real_time.perf_counter()
                # A job is sampled early only if no job is due. Otherwise, a job whose samples take longer
                # than its interval could use up all the time.
                if not has_slept and job is not None and job.due > now:
                    job = next((other for other in self._jobs if other.due - other.early <= now), job)
            wait = self._linger if job is None else job.due - now
            if job is not None and wait <= (0.0 if has_slept else job.early):
                return job
            changed = self._changed.wait(wait)
            # If no job was added or removed while the thread slept, the job that it waited for is due.
            # Searching for it again would be slow right after waking up.
            if job is not None and not changed and not job.removed:
                return job
            has_lingered, has_slept = job is None and not changed, True


class _Job:
    def __init__(self, sample: Sample, every: float, after: float, early: float) -> None:
        self.sample = sample
        self.every = every
        self.early = early
        self.due = real_time.perf_counter() + after
        self.error: Exception | None = None
        self.removed = False


_DUE = attrgetter("due")
