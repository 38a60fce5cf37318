"""The only thread that looks at counters: from time to time, each with a period of its own.

It lives as long as something is to be looked at, while a cell runs or somebody watches. It ends by itself a
little later: a cell that comes at once should not wait for a thread to start.
What is dear is looked at less often: all looks of one kind take at most `SHARE` of a core. Processor time
counts there, not waiting: a look also waits for the cell's Python.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

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
        self._changed = threading.Condition()
        self._jobs: list[_Job] = []
        self._thread: threading.Thread | None = None

    def add(self, look: Look, every: float, after: float = 0.0) -> Stop:
        """Call `look` on the thread, `after` seconds from now and then every `every` seconds.

        A look that returns a number is called again after so many seconds instead. What is returned here ends
        that. A look that raises is not repeated.
        """
        job = _Job(look, every, after)
        with self._changed:
            self._jobs.append(job)
            if self._thread is None:
                self._thread = threading.Thread(target=self._go_on, name=NAME, daemon=True)
                self._thread.start()
            else:
                self._changed.notify()

        def stop() -> Exception | None:
            with self._changed:
                self._remove(job)
                if not self._jobs:
                    self._changed.notify()  # the thread has nothing to wait for but its own end
            return job.error

        return stop

    def close(self) -> None:
        """End the thread now, if there is nothing to look at; waits for it, but not for a look that hangs."""
        with self._changed:
            self._linger = 0.0
            thread = self._thread
            self._changed.notify()
        if thread is not None and not self._jobs:
            thread.join(1.0)

    def _remove(self, job: _Job) -> None:
        if job in self._jobs:
            self._jobs.remove(job)

    def _go_on(self) -> None:
        while (job := self._next()) is not None:
            begun, worked = real_time.perf_counter(), real_time.thread_time()
            wait = None
            try:
                wait = job.look()
            except Exception as error:
                job.error = error
                with self._changed:
                    self._remove(job)
            worked = real_time.thread_time() - worked
            now = real_time.perf_counter()
            # A look that says when it wants to come again keeps to a share of its own.
            job.due = (
                now + wait if wait is not None else max(job.due + job.every, now, begun + worked / SHARE)
            )

    def _next(self) -> _Job | None:
        """Wait until a job is due; None when there have been none for a while."""
        with self._changed:
            while True:
                job = min(self._jobs, key=lambda one: one.due, default=None)
                if job is None:
                    if not self._changed.wait(self._linger) and not self._jobs:
                        self._thread = None  # the next job starts another
                        return None
                    continue
                wait = job.due - real_time.perf_counter()
                if wait <= 0:
                    return job
                self._changed.wait(wait)


class _Job:
    def __init__(self, look: Look, every: float, after: float) -> None:
        self.look = look
        self.every = every
        self.due = real_time.perf_counter() + after
        self.error: Exception | None = None


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
        looks = _Looks()
        end = self._sampler.add(looks.look, INTERVAL)

        def stop() -> Reading:
            end()
            looks.look()
            return Reading(
                self.quantity,
                looks.peak,
                "bytes",
                "process",
                OPERATING_SYSTEM,
                looks.samples,
                detail=self.detail,
            )

        looks.look()
        return stop


class _Looks:
    def __init__(self) -> None:
        self.peak = 0
        self.samples = 0
        import psutil  # 20 ms, which a kernel that never looks should not pay when it loads us

        self._process = psutil.Process()

    def look(self) -> None:
        self.peak = max(self.peak, self._process.memory_info().rss)
        self.samples += 1
