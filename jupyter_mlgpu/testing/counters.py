"""Fakes of counters and of the sampler, on a `FakeClock`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from jupyter_mlgpu.measure.probes.nvml import NvmlAnswer
from jupyter_mlgpu.record.sentence import Sentence
from jupyter_mlgpu.testing.clock import FakeClock


class FakeCounter:
    """An energy counter that moves in steps of `refresh` seconds while a `FakeClock` advances."""

    def __init__(
        self, clock: FakeClock, *, watts: float = 100.0, refresh: float = 0.1, wraps_at: float | None = None
    ) -> None:
        self.refresh = refresh
        self.wraps_at = wraps_at
        #: A reason, if the counter no longer answers.
        self.gone: str | None = None
        self._clock = clock
        self._steps = [(self._now(), 0.0, watts)]

    def draw(self, watts: float) -> None:
        """Set the power from now on, in watts."""
        self._steps.append((self._now(), self.used(self._now()), watts))

    def used(self, at: float) -> float:
        """Return the true joules at a time, in seconds of the clock."""
        begun, joules, watts = next(
            step for step in reversed(self._steps) if step[0] <= at or step is self._steps[0]
        )
        return joules + watts * max(0.0, at - begun)

    def set(self, joules: float) -> None:
        """Set the counter, as a driver that restarts does."""
        self._steps = [(self._now(), joules, self._steps[-1][2])]

    def joules(self) -> NvmlAnswer[float]:
        """Return the counter's value in joules."""
        if self.gone is not None:
            return NvmlAnswer(None, Sentence(self.gone))
        shown = self.used(self._now() // self.refresh * self.refresh)
        return NvmlAnswer(shown if self.wraps_at is None else shown % self.wraps_at)

    def watts(self) -> float | None:
        """Return the mean power of the last second, like NVML's gauge."""
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
    """Takes samples on the caller's thread while `run` advances time. One that raises is not repeated."""

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock
        self._jobs: list[_Job] = []

    @property
    def job_count(self) -> int:
        """The number of things that are sampled."""
        return len(self._jobs)

    def add(
        self, sample: Callable[[], None], every: float, after: float = 0.0
    ) -> Callable[[], Exception | None]:
        """Have `run` call `sample`. Returns a function that ends that."""
        job = _Job(sample, self._now() + after, every)
        self._jobs.append(job)

        def stop() -> Exception | None:
            self._remove(job)
            return job.error

        return stop

    def run(self, seconds: float, step: float = 0.01) -> None:
        """Let time pass in steps and take the samples that are due."""
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
