"""The one timing loop: runs to warm up until a rule says that it is over, then runs that count.

A device works on while Python goes on. So a run is timed by waiting for the device, reading the clock,
running, waiting, and reading the clock again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf

from jupyter_mlgpu.explain.statistics import coefficient_of_variation, relative_range
from jupyter_mlgpu.record.clock import Clock, seconds_between


@dataclass(frozen=True, slots=True)
class WarmUp:
    """Runs until the last `window` of them are steady: their `spread` is at most `most`.

    It is over in any case after so many `runs`, or `seconds` of them. Runs that are shorter together than
    `shortest_s` go on for so long, or for `short_runs`.
    """

    spread: Callable[[Sequence[float]], float]
    most: float
    window: int
    seconds: float
    runs: float = inf
    shortest_s: float = 0.0
    short_runs: int = 1000

    def steady(self, times: Sequence[float]) -> bool:
        """Whether the last runs took about the same time; `times` are the seconds of all until now."""
        last = times[-self.window :]
        return len(last) == self.window and self.spread(last) <= self.most

    def over(self, times: Sequence[float]) -> bool:
        """Whether no further run is to warm up."""
        spent, runs = sum(times), len(times)
        if spent < self.shortest_s:
            return runs >= self.short_runs
        return spent >= self.seconds or runs >= self.runs or self.steady(times)


def steady_blocks(seconds: float) -> WarmUp:
    """For blocks of steps, each long beside what disturbs it; they get so many seconds.

    The rule, and the bound, for the steady state of A. Georges, D. Buytaert and L. Eeckhout, "Statistically
    rigorous Java performance evaluation", OOPSLA 2007, section 3.4, made for a compiler that works while the
    program runs; frameworks do that, and clocks of processors settle alike.
    """
    return WarmUp(coefficient_of_variation, most=0.02, window=5, seconds=seconds)


#: For single runs of any length. Threads, caches and clock rates settle with time: short runs need many.
STEADY_RUNS = WarmUp(relative_range, most=0.2, window=3, seconds=10.0, runs=10, shortest_s=0.05)


@dataclass(frozen=True, slots=True)
class Repeats:
    """So many runs that count; after `seconds` of them no further one begins once there are `fewest`."""

    count: int
    seconds: float = inf
    fewest: int = 1

    def over(self, times: Sequence[float]) -> bool:
        """Whether no further run is to count."""
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

    def warm_up(self, run: Callable[[], float], rule: WarmUp) -> None:
        """Run until the rule says that it is over; `run` returns its seconds."""
        times: list[float] = []
        while not rule.over(times):
            times.append(run())
            self.warmups, self.steady = len(times), rule.steady(times)

    def repeat(self, run: Callable[[], float], rule: Repeats, on_repeat: Callable[[int], None]) -> None:
        """Run until the rule says that it is over; `on_repeat` is told each run's number before it."""
        while not rule.over(self.samples):
            on_repeat(len(self.samples) + 1)
            self.samples.append(run())


def seconds_of(run: Callable[[], object], wait: Callable[[], None], clock: Clock) -> float:
    """How long one run takes, until the device is done; raises ClockError where the clock went back."""
    wait()
    begun = clock.monotonic_ns()
    value = run()
    wait()
    ended = clock.monotonic_ns()
    del value  # kept until here: JAX waits for what is still there
    return seconds_between(begun, ended)
