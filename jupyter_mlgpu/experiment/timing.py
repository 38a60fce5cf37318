"""The common timing loop: warm-up runs until a rule ends them, then runs that count.

Python continues while a device works. So a run is timed by waiting for the device, reading the clock,
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
    """A rule for warm-up: run until the last `window` runs are steady, with a `spread` of at most `most`.

    It ends in any case after so many `runs`, or `seconds` of them. Runs that take less than `shortest_s`
    together continue for that long, or for `short_runs`.
    """

    spread: Callable[[Sequence[float]], float]
    most: float
    window: int
    seconds: float
    runs: float = inf
    shortest_s: float = 0.0
    short_runs: int = 1000

    def is_steady(self, times: Sequence[float]) -> bool:
        """Return True if the last runs took about the same time; `times` are the seconds of all until now."""
        last = times[-self.window :]
        return len(last) == self.window and self.spread(last) <= self.most

    def is_over(self, times: Sequence[float]) -> bool:
        """Return True if warm-up has ended."""
        spent, runs = sum(times), len(times)
        if spent < self.shortest_s:
            return runs >= self.short_runs
        return spent >= self.seconds or runs >= self.runs or self.is_steady(times)


def steady_blocks(seconds: float) -> WarmUp:
    """Return the rule for blocks of steps, each long compared with disturbances; they get so many seconds.

    The rule and the bound are those for the steady state of A. Georges, D. Buytaert and L. Eeckhout,
    "Statistically rigorous Java performance evaluation", OOPSLA 2007, section 3.4. They are made for a
    compiler that works while the program runs; frameworks do this, too, and processor clock rates settle
    similarly.
    """
    return WarmUp(coefficient_of_variation, most=0.02, window=5, seconds=seconds)


#: The rule for single runs of any length. Threads, caches and clock rates settle with time: short runs need
#: many.
STEADY_RUNS = WarmUp(relative_range, most=0.2, window=3, seconds=10.0, runs=10, shortest_s=0.05)


@dataclass(frozen=True, slots=True)
class Repeats:
    """A rule for the runs that count: `count`, or fewer (at least `fewest`) once they take `seconds`."""

    count: int
    seconds: float = inf
    fewest: int = 1

    def is_over(self, times: Sequence[float]) -> bool:
        """Return True if no further run is needed."""
        return len(times) >= self.count or (len(times) >= self.fewest and sum(times) >= self.seconds)


@dataclass
class Timings:
    """The measurements of the loop so far, in seconds per run. They remain if the loop is interrupted.

    `samples` are the runs that count, in order. `steady` is true if the last of the `warmups` took about the
    same time.
    """

    samples: list[float] = field(default_factory=list)
    warmups: int = 0
    steady: bool = False

    def warm_up(self, run: Callable[[], float], rule: WarmUp) -> None:
        """Run until the rule ends it; `run` returns its seconds."""
        times: list[float] = []
        while not rule.is_over(times):
            times.append(run())
            self.warmups, self.steady = len(times), rule.is_steady(times)

    def repeat(self, run: Callable[[], float], rule: Repeats, on_repeat: Callable[[int], None]) -> None:
        """Run until the rule ends it; `on_repeat` gets each run's number before it."""
        while not rule.is_over(self.samples):
            on_repeat(len(self.samples) + 1)
            self.samples.append(run())


def seconds_of(run: Callable[[], object], wait: Callable[[], None], clock: Clock) -> float:
    """Return the seconds of one run, until the device is done. Raises ClockError if the clock went back."""
    wait()
    begun = clock.monotonic_ns()
    value = run()
    wait()
    ended = clock.monotonic_ns()
    del value  # kept until here, because JAX only waits for arrays that still exist
    return seconds_between(begun, ended)
