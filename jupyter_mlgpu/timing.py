"""The one timing loop: runs to warm up until a rule says that it is over, then runs that count.

A device works on while Python goes on. So a run is timed by waiting for the device, reading the clock,
running, waiting, and reading the clock again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from jupyter_mlgpu.clock import Clock, seconds_between
from jupyter_mlgpu.statistics import coefficient_of_variation


class WarmUpRule(Protocol):
    """When warm-up is over, from its runs' times in seconds, in their order."""

    def steady(self, times: Sequence[float]) -> bool:
        """Whether the last runs took about the same time."""
        ...

    def over(self, times: Sequence[float]) -> bool:
        """Whether no further run is to warm up: they are steady, or the rule's bounds are reached."""
        ...


class RepeatRule(Protocol):
    """When enough runs have counted, from their times in seconds."""

    def over(self, times: Sequence[float]) -> bool:
        """Whether no further run is to count."""
        ...


@dataclass(frozen=True, slots=True)
class SteadyVariation:
    """Until the last `window` runs' standard deviation is at most `most` of their mean, or for `seconds`.

    This is the rule, and the bound, for the steady state of A. Georges, D. Buytaert and L. Eeckhout,
    "Statistically rigorous Java performance evaluation", OOPSLA 2007, section 3.4, made for a compiler that
    works while the program runs; frameworks do that, and clocks of processors settle alike. It asks for
    blocks of steps that take long beside what disturbs them.
    """

    seconds: float
    window: int = 5
    most: float = 0.02

    def steady(self, times: Sequence[float]) -> bool:
        """See `WarmUpRule`."""
        last = times[-self.window :]
        return len(last) == self.window and coefficient_of_variation(last) <= self.most

    def over(self, times: Sequence[float]) -> bool:
        """See `WarmUpRule`."""
        return self.steady(times) or sum(times) >= self.seconds


@dataclass(frozen=True, slots=True)
class SteadyRange:
    """Until the last `window` runs differ by no more than the part `most` of the longest, or so many `runs`.

    For single runs of any length, minutes too. Runs that are shorter together than `shortest_s` go on for so
    long, or for `short_runs`: threads, caches and clock rates settle with time, not with runs. After
    `seconds` it is over in any case.
    """

    window: int = 3
    most: float = 0.2
    runs: int = 10
    seconds: float = 10.0
    shortest_s: float = 0.05
    short_runs: int = 1000

    def steady(self, times: Sequence[float]) -> bool:
        """See `WarmUpRule`."""
        last = times[-self.window :]
        return len(last) == self.window and max(last) - min(last) <= self.most * max(last)

    def over(self, times: Sequence[float]) -> bool:
        """See `WarmUpRule`."""
        spent, runs = sum(times), len(times)
        if spent < self.shortest_s:
            return runs >= self.short_runs
        return spent >= self.seconds or runs >= self.runs or self.steady(times)


@dataclass(frozen=True, slots=True)
class FixedCount:
    """So many runs, however long they take."""

    count: int

    def over(self, times: Sequence[float]) -> bool:
        """See `RepeatRule`."""
        return len(times) >= self.count


@dataclass(frozen=True, slots=True)
class CountWithinTime:
    """So many runs, but no further one after `seconds` of them, once there are `fewest`."""

    count: int
    seconds: float
    fewest: int

    def over(self, times: Sequence[float]) -> bool:
        """See `RepeatRule`."""
        return len(times) >= self.count or (len(times) >= self.fewest and sum(times) >= self.seconds)


@dataclass
class Timings:
    """What the loop has measured so far, in seconds a run: whatever ends it, this stays.

    `samples` are the runs that count, in their order. `steady` tells whether the last of the `warmups` took
    about the same time.
    """

    samples: list[float] = field(default_factory=list)
    warmups: int = 0
    steady: bool = False

    def warm_up(self, run: Callable[[], float], rule: WarmUpRule) -> None:
        """Run until the rule says that it is over; `run` returns its seconds."""
        times: list[float] = []
        while not rule.over(times):
            times.append(run())
            self.warmups, self.steady = len(times), rule.steady(times)

    def repeat(self, run: Callable[[], float], rule: RepeatRule, on_repeat: Callable[[int], None]) -> None:
        """Run until the rule says that it is over, and keep the times.

        `on_repeat` is called before each run, with its number from 1 on.
        """
        while not rule.over(self.samples):
            on_repeat(len(self.samples) + 1)
            self.samples.append(run())


def seconds_of(run: Callable[[], object], wait: Callable[[], None], clock: Clock) -> float:
    """How long one run takes, until the device is done with it; `wait` waits for the device.

    Raises ClockError where the clock went back, and whatever `run` and `wait` raise.
    """
    wait()
    begun = clock.monotonic_ns()
    value = run()
    wait()
    ended = clock.monotonic_ns()
    del value  # kept until here: JAX waits for what is still there
    return seconds_between(begun, ended)
