"""The only thread that looks at counters: from time to time, each with a period of its own.

It lives as long as something is to be looked at, while a cell runs or somebody watches. It ends by itself a
little later: a cell that comes at once should not wait for a thread to start.
What is dear is looked at less often: all looks of one kind take at most `SHARE` of a core. Processor time
counts there, not waiting: a look also waits for the cell's Python.
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
#: The part of one core that looking at one thing may take, at most.
SHARE = 0.02
NAME = "jupyter_mlgpu-sampler"
#: Seconds that the thread stays with nothing to look at.
LINGER = 5.0

#: Ends the looking. A look that is under way may still come to its end; what it raised is returned.
Stop = Callable[[], Exception | None]


#: Looks, and says after how many seconds again; None: after the usual ones.
Look = Callable[[], float | None]


class Sampler:
    """One thread for everything that is looked at repeatedly."""

    def __init__(self, linger: float = LINGER) -> None:
        self._linger = linger
        self._lock = threading.Lock()
        self._changed = WakeEvent()
        self._jobs: list[_Job] = []
        self._thread: threading.Thread | None = None

    def add(self, sample: Look, every: float, after: float = 0.0, early: float = 0.0) -> Stop:
        """Call `sample` on the thread, `after` seconds from now and then every `every` seconds.

        A look that returns a number is called again after so many seconds instead. It comes up to `early`
        seconds before its time where the thread is awake for another one: waking up is the dearest part.
        What is returned here ends that. A look that raises is not repeated.
        """
        job = _Job(sample, every, after, early)
        with Uninterrupted(), self._lock:  # a Ctrl-C while a thread starts could keep it from running
            self._jobs.append(job)
            if self._thread is None:
                self._thread = threading.Thread(target=self._go_on, name=NAME, daemon=True)
                self._thread.start()
            else:
                self._changed.set()

        def stop() -> Exception | None:
            with self._lock:
                self._remove(job)
                if not self._jobs:
                    self._changed.set()  # the thread has nothing to wait for but its own end
            return job.error

        return stop

    def close(self) -> None:
        """End the thread now, if there is nothing to look at; waits for it, but not for a look that hangs."""
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

    def _go_on(self) -> None:
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
            # A look that says when it wants to come again keeps to a share of its own.
            job.due = (
                now + wait if wait is not None else max(job.due + job.every, now, begun + worked / SHARE)
            )

    def _next(self) -> _Job | None:
        """Wait until a job is due; None when there have been none for a while."""
        lingered = slept = False
        while True:
            with self._lock:
                job = min(self._jobs, key=_DUE, default=None)
                if job is None and lingered:
                    self._thread = None  # the next job starts another
                    return None
                now = real_time.perf_counter()
                # What is due comes first, or looks that take longer than their period would be the only ones.
                if not slept and job is not None and job.due > now:
                    job = next((one for one in self._jobs if one.due - one.early <= now), job)
            wait = self._linger if job is None else job.due - now
            if job is not None and wait <= (0.0 if slept else job.early):
                return job
            rang = self._changed.wait(wait)
            # Nothing has changed, so that job is due; to find it again would be slow after a rest.
            if job is not None and not rang and not job.removed:
                return job
            lingered, slept = job is None and not rang, True


class _Job:
    def __init__(self, sample: Look, every: float, after: float, early: float) -> None:
        self.sample = sample
        self.every = every
        self.early = early
        self.due = real_time.perf_counter() + after
        self.error: Exception | None = None
        self.removed = False


_DUE = attrgetter("due")


class SampledPeak:
    """The largest resident set, in bytes, of those seen every `INTERVAL` seconds.

    Used where the operating system keeps no peak that can be reset (macOS). A peak between two looks goes
    unseen; the reading tells how many looks there were.
    """

    quantity = "peak_memory_process"
    detail = say("psutil resident set, every {interval} ms", interval=f"{INTERVAL * 1000:.0f}")

    def __init__(self, sampler: Sampler) -> None:
        self._sampler = sampler

    def start(self) -> Callable[[], Reading]:
        """Begin; what is returned gives the reading when it is called."""
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
        import psutil  # 20 ms, which a kernel that never looks should not pay when it loads us

        self._process = psutil.Process()

    def sample(self) -> None:
        self.peak = max(self.peak, self._process.memory_info().rss)
        self.samples += 1
