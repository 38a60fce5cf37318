"""Public fakes of counters and of the thread that looks at them, on a `FakeClock`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from jupyter_mlgpu.measure.probes.nvml import NvmlAnswer
from jupyter_mlgpu.record.sentence import Sentence
from jupyter_mlgpu.testing.clock import FakeClock


class FakeCounter:
    """A counter of energy that moves in steps of `refresh` seconds while a `FakeClock` advances."""

    def __init__(
        self, clock: FakeClock, *, watts: float = 100.0, refresh: float = 0.1, wraps_at: float | None = None
    ) -> None:
        self.refresh = refresh
        self.wraps_at = wraps_at
        #: A reason, for a counter that does not answer any more.
        self.gone: str | None = None
        self._clock = clock
        self._steps = [(self._now(), 0.0, watts)]

    def draw(self, watts: float) -> None:
        """What is drawn from now on."""
        self._steps.append((self._now(), self.used(self._now()), watts))

    def used(self, at: float) -> float:
        """The true joules at a moment, in seconds of the clock."""
        begun, joules, watts = next(
            step for step in reversed(self._steps) if step[0] <= at or step is self._steps[0]
        )
        return joules + watts * max(0.0, at - begun)

    def set(self, joules: float) -> None:
        """Let the counter go on from here, as a driver that starts anew."""
        self._steps = [(self._now(), joules, self._steps[-1][2])]

    def joules(self) -> NvmlAnswer[float]:
        """The counter's joules now."""
        if self.gone is not None:
            return NvmlAnswer(None, Sentence(self.gone))
        shown = self.used(self._now() // self.refresh * self.refresh)
        return NvmlAnswer(shown if self.wraps_at is None else shown % self.wraps_at)

    def watts(self) -> float | None:
        """The mean of the last second, as NVML's gauge has it."""
        now = self._now()
        return self.used(now) - self.used(now - 1)

    def _now(self) -> float:
        return self._clock.monotonic_ns() / 1e9


@dataclass(eq=False)
class _Job:
    sample: Callable[[], None]
    due: float
    every: float
    error: Exception | None = None


class FakeSampler:
    """Looks when its clock is advanced by `run`, on the caller's thread; one that raises is not repeated."""

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock
        self._jobs: list[_Job] = []

    @property
    def looking(self) -> int:
        """How many things are looked at."""
        return len(self._jobs)

    def add(
        self, sample: Callable[[], None], every: float, after: float = 0.0
    ) -> Callable[[], Exception | None]:
        """Have `sample` called until what is returned is called; looks are taken in `run`."""
        job = _Job(sample, self._now() + after, every)
        self._jobs.append(job)

        def stop() -> Exception | None:
            self._remove(job)
            return job.error

        return stop

    def run(self, seconds: float, step: float = 0.01) -> None:
        """Let time pass in steps, and look at what is due."""
        for _ in range(round(seconds / step)):
            for job in tuple(self._jobs):
                if job.due <= self._now() + 1e-6:  # sums of steps are not exact
                    job.due += job.every
                    self._sample(job)
            self._clock.advance(step)

    def _sample(self, job: _Job) -> None:
        try:
            job.sample()
        except Exception as error:
            job.error = error
            self._remove(job)

    def _remove(self, job: _Job) -> None:
        if job in self._jobs:
            self._jobs.remove(job)

    def _now(self) -> float:
        return self._clock.monotonic_ns() / 1e9
