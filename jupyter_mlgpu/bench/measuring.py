"""The driver: one case on one device, from its need of memory to its result.

Warm-up goes on until the last `WINDOW` blocks of steps vary little: their coefficient of variation (standard
deviation over mean) is at most `STEADY`. This is the rule, and the bound, for the steady state of A. Georges,
D. Buytaert and L. Eeckhout, "Statistically rigorous Java performance evaluation", OOPSLA 2007, section 3.4,
made for a compiler that works while the program runs; ours do that, and clocks of processors settle alike. If
the time for warm-up is over first, the result says that it was not steady.

A block is as many steps as take `Budget.sample_s` together, so that reading the clock and waiting for the
device weigh little. Repeats are blocks of the same number of steps, timed one by one: wait, clock, steps,
wait, clock. While they run nothing is watched but the counter of energy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from statistics import fmean, pstdev

from jupyter_mlgpu.bench import judging
from jupyter_mlgpu.bench.around import Around
from jupyter_mlgpu.bench.budget import Budget
from jupyter_mlgpu.bench.case import Case
from jupyter_mlgpu.bench.result import Result, Status
from jupyter_mlgpu.bench.underway import UnderWay
from jupyter_mlgpu.clock import Clock, seconds_between
from jupyter_mlgpu.errors import BenchError
from jupyter_mlgpu.frameworks.base import Backend, Device
from jupyter_mlgpu.frameworks.benchmarks import Runner

WINDOW = 5
STEADY = 0.02
#: A block never has more steps: one step may be shorter than the clock tells.
MOST_STEPS = 1 << 20


@dataclass(frozen=True, slots=True)
class Step:
    """How far a case is: `doing` is preparing, warming up or measuring; `number` of `repeats` then."""

    case: Case
    doing: str
    number: int = 0
    repeats: int = 0


OnStep = Callable[[Step], None]


def measure(
    case: Case,
    device: Device,
    *,
    backend: Backend,
    around: Around,
    clock: Clock,
    budget: Budget,
    on_step: OnStep = lambda step: None,
) -> tuple[Result, BaseException | None]:
    """Run a case; returns what was measured and, if the user interrupted it, the interrupt to be raised on.

    What goes wrong in a case costs that case alone: the result says what happened.
    """
    under_way = UnderWay(case, device, _hardware(backend, device))
    why = judging.why_not(case, device, around)
    if why is not None:
        return under_way.finish("skipped", why), None
    begun = clock.monotonic_ns()
    try:
        _Driver(case, device, backend, around, clock, budget, on_step, under_way).run()
        ended: tuple[Status, str | None, BaseException | None] = ("ok", None, None)
    except KeyboardInterrupt as error:
        ended = ("interrupted", "It was interrupted; what was measured until then is kept.", error)
    except BenchError as error:
        ended = ("skipped", str(error), None)
    except Exception as error:  # of any framework: a case that fails must not cost the others
        ended = ("failed", judging.failure(error), None)
    status, said, stop = ended
    under_way.measured_s = (clock.monotonic_ns() - begun) / 1e9
    return under_way.finish(status, said), stop


class _Driver:
    """The course of one case."""

    def __init__(
        self,
        case: Case,
        device: Device,
        backend: Backend,
        around: Around,
        clock: Clock,
        budget: Budget,
        on_step: OnStep,
        under_way: UnderWay,
    ) -> None:
        self._case = case
        self._device = device
        self._backend = backend
        self._around = around
        self._clock = clock
        self._budget = budget
        self._on_step = on_step
        self._made = under_way

    def run(self) -> None:
        self._on_step(Step(self._case, "preparing"))
        runner = self._case.prepare(self._device)
        try:
            self._made.ready(runner)
            self._on_step(Step(self._case, "warming up"))
            steps = self._block(runner)
            self._warm_up(runner, steps)
            self._watched(runner)
            self._repeat(runner, steps)
        finally:
            # An error in closing must not hide the one that came before.
            with suppress(Exception):
                runner.close()

    def _block(self, runner: Runner) -> int:
        """How many steps take `sample_s` together; the first of all, which may compile, does not count."""
        self._time(runner, 1)
        steps, seconds = 1, self._time(runner, 1)
        if seconds > self._budget.longest_step_s:
            raise BenchError(judging.too_long(seconds, self._budget.longest_step_s))
        spent = seconds
        while seconds < self._budget.sample_s and steps < MOST_STEPS and spent < self._budget.warm_up_s:
            # At most eight times as many at once: the first ones are slower, and tell little.
            aim = self._budget.sample_s / max(seconds / steps, 1e-9)
            steps = min(MOST_STEPS, 8 * steps, max(steps + 1, math.ceil(1.05 * aim)))
            seconds = self._time(runner, steps)
            spent += seconds
        return steps

    def _warm_up(self, runner: Runner, steps: int) -> None:
        times: list[float] = []
        spent = 0.0
        while not self._made.steady and spent < self._budget.warm_up_s:
            times.append(self._time(runner, steps))
            spent += times[-1]
            self._made.warmups, self._made.steady = len(times), steady(times)

    def _watched(self, runner: Runner) -> None:
        """One step that is watched and does not count: where it ran, and the peak of memory."""
        peak = self._around.peak_memory(self._device)
        observation = self._backend.observe()
        try:
            self._time(runner, 1)
        finally:
            self._made.saw(self._device, observation.finish(), peak())
            self._backend.rest()

    def _repeat(self, runner: Runner, steps: int) -> None:
        self._made.steps = steps
        spent = 0.0
        others = self._around.others(self._device)
        joules, whole = self._around.energy(self._device), False
        try:
            for number in range(1, self._budget.repeats + 1):
                self._on_step(Step(self._case, "measuring", number, self._budget.repeats))
                seconds = self._time(runner, steps)
                self._made.samples.append(seconds / steps)
                spent += seconds
                if spent >= self._budget.seconds and number >= self._budget.fewest:
                    break
            whole = True
        finally:
            counted = joules()
            self._made.others = others()
            if whole:  # else it has the energy of a sample in it that is not there
                self._made.took(counted, spent)

    def _time(self, runner: Runner, steps: int) -> float:
        runner.wait()
        begun = self._clock.monotonic_ns()
        runner.run(steps)
        runner.wait()
        return seconds_between(begun, self._clock.monotonic_ns())


def steady(times: Sequence[float]) -> bool:
    """Whether the last blocks of a warm-up vary little (see the module's text)."""
    last = times[-WINDOW:]
    return len(last) == WINDOW and pstdev(last) <= STEADY * fmean(last)


def _hardware(backend: Backend, device: Device) -> str | None:
    try:
        return backend.details(device).hardware
    except Exception:  # a name that is not known is left out
        return None
